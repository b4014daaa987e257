import type { NamedKeyDocument } from './key-document.ts';
import { trimmed } from './trim.ts';

/**
 * Updates a key that keeps its last versions: `min_decryption_version` follows the latest one at that distance, and
 * never exceeds `min_encryption_version`, because versions that may encrypt must be able to decrypt. It never
 * decreases.
 * @see docs/decisions/0301
 */
export function followingLatest(key: NamedKeyDocument): NamedKeyDocument {
  const oldest = oldestKept(key);
  return oldest <= key.minDecryptionVersion ? key : { ...key, minDecryptionVersion: oldest };
}

/**
 * Updates a key after a version was added: deletes versions that are not usable any more, if the key has automatic
 * trimming.
 */
export function withoutOldVersions(key: NamedKeyDocument): NamedKeyDocument {
  const following = followingLatest(key);
  const { autoTrim, minAvailableVersion, minDecryptionVersion } = following;
  if (!autoTrim || minDecryptionVersion <= minAvailableVersion) return following;
  return trimmed(following, minDecryptionVersion);
}

/** Returns the oldest version that the key keeps, from 1. */
export function oldestKept({ keepVersions, latestVersion, minEncryptionVersion }: NamedKeyDocument): number {
  if (keepVersions === undefined) return 1;
  const oldest = Math.max(1, latestVersion - keepVersions + 1);
  return minEncryptionVersion === 0 ? oldest : Math.min(oldest, minEncryptionVersion);
}
