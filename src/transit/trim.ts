import { type CofferError, invalid, ownWords } from '../ground/errors.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument } from './key-document.ts';
import { changeKey, type NamedKey } from './named-key.ts';

/**
 * Permanently deletes all versions below `oldest`.
 * @param oldest at least 1, at most the lower of the two minimum versions; undefined if not given
 * @throws `not-found`; `invalid` if a minimum version is unset or lower than `oldest` (the key is not changed)
 */
export function trimKey(engine: Engine, name: string, oldest: number | undefined): Promise<NamedKey> {
  return changeKey(engine, name, 'invalid key name', ({ document }) => {
    if (oldest === undefined) {
      throw refusal(ownWords('missing min_available_version'), 'give the oldest version to keep');
    }
    requireTrimmable(document, oldest);
    return oldest === document.minAvailableVersion ? document : trimmed(document, oldest);
  });
}

/** Removes all versions below `oldest`, without checking any rule. */
export const trimmed = (key: NamedKeyDocument, oldest: number): NamedKeyDocument => ({
  ...key,
  minAvailableVersion: oldest,
  versions: notBelow(oldest, key.versions),
  revokedVersions: key.revokedVersions && notBelow(oldest, key.revokedVersions),
});

const notBelow = <T>(oldest: number, versions: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(versions).filter(([version]) => Number(version) >= oldest));

/** Members of a key that decide which versions can be deleted. */
type VersionLimits = Pick<
  NamedKeyDocument,
  'name' | 'latestVersion' | 'minAvailableVersion' | 'minEncryptionVersion' | 'minDecryptionVersion'
>;

/**
 * Returns the hint with all that comes before versions are deleted.
 * @param reason what precedes the command, if there is one
 */
function bothFirst(key: VersionLimits, oldest: number, reason = ''): string {
  const { name, latestVersion, minEncryptionVersion, minDecryptionVersion } = key;
  if (oldest > latestVersion) return `the latest version of this key is ${latestVersion}`;
  const decryption = Math.max(oldest, 1);
  // Versions that may encrypt must be able to decrypt.
  const encryption = Math.max(decryption, minDecryptionVersion);
  const settings = [
    minDecryptionVersion < decryption ? ` --min-decryption-version ${decryption}` : '',
    minEncryptionVersion < encryption ? ` --min-encryption-version ${encryption}` : '',
  ];
  return `${reason}run "coffer transit keys config ${name}${settings.join('')}" first`;
}

/**
 * Checks the rules in Vault's order, with its messages (including their spelling).
 * @throws `invalid` if versions below `oldest` cannot be deleted
 */
export function requireTrimmable(key: VersionLimits, oldest: number): void {
  const { minAvailableVersion, minEncryptionVersion, minDecryptionVersion } = key;
  if (oldest < minAvailableVersion) {
    throw refusal(
      ownWords('minimum available version cannot be decremented'),
      `versions below ${minAvailableVersion} were already deleted`,
    );
  }
  if (minEncryptionVersion === 0) {
    throw refusal(
      ownWords('minimum available version cannot be set when minimum encryption version is not set'),
      bothFirst(key, oldest),
    );
  }
  if (minDecryptionVersion === 0) {
    throw refusal(
      ownWords('minimum available version cannot be set when minimum decryption version is not set'),
      bothFirst(key, oldest),
    );
  }
  if (oldest > minEncryptionVersion) {
    throw refusal(
      ownWords('minimum available version cannot be greater than minmum encryption version'),
      bothFirst(key, oldest, `min_encryption_version of this key is ${minEncryptionVersion}; to raise it, `),
    );
  }
  if (oldest > minDecryptionVersion) {
    throw refusal(
      ownWords('minimum available version cannot be greater than minimum decryption version'),
      bothFirst(key, oldest, `min_decryption_version of this key is ${minDecryptionVersion}; to raise it, `),
    );
  }
  if (oldest < 0)
    throw refusal(ownWords('minimum available version cannot be negative'), 'versions start at 1');
  if (oldest === 0)
    throw refusal(ownWords('minimum available version should be positive'), 'versions start at 1');
}

const refusal = (message: string, hint: string): CofferError =>
  invalid(message, { field: 'min_available_version', hint });

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
