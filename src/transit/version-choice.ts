import { type CofferError, conflict, invalid, ownWords } from '../ground/errors.ts';
import type { NamedKeyDocument } from './key-document.ts';
import type { KeyVersion, NamedKey } from './named-key.ts';

/** Number that stands for the latest version. */
export const LATEST = 0;

/**
 * Chooses the version to encrypt or sign with. `minEncryptionVersion` 0 sets no limit: every usable version may be
 * requested.
 * @throws `invalid`
 */
export function versionToWriteWith(
  key: NamedKey,
  requested: number,
  purpose: 'encryption' | 'signing',
): KeyVersion {
  const { latestVersion, minEncryptionVersion } = key.document;
  if (requested < 0)
    throw refusal(`requested version for ${purpose} is negative`, 'use 0, or no version, for the latest one');
  if (requested > latestVersion) {
    throw refusal(
      `requested version for ${purpose} is higher than the latest key version`,
      `the latest is ${latestVersion}`,
    );
  }
  if (requested !== LATEST && requested < minEncryptionVersion) {
    throw refusal(
      `requested version for ${purpose} is less than the minimum encryption key version`,
      limitHint(key.document, requested, 'encryption'),
    );
  }
  return requireVersion(key, requested === LATEST ? latestVersion : requested);
}

/**
 * Chooses the version for an HMAC; the latest is always allowed.
 * @throws `invalid`
 */
export function versionForHmac(key: NamedKey, requested: number): KeyVersion {
  const { latestVersion, minEncryptionVersion } = key.document;
  if (requested === LATEST || requested === latestVersion) return requireVersion(key, latestVersion);
  if (minEncryptionVersion > 0 && requested < minEncryptionVersion) {
    throw refusal(
      ownWords('cannot generate HMAC: version is too old (disallowed by policy)'),
      limitHint(key.document, requested, 'encryption'),
    );
  }
  return requireExistingVersion(key, requested);
}

/**
 * Finds an existing version.
 * @throws `invalid` if the key does not have it
 */
export function requireExistingVersion(key: NamedKey, number: number): KeyVersion {
  const { latestVersion } = key.document;
  if (number < 0) {
    throw refusal(
      ownWords('key version does not exist (cannot be negative)'),
      'use 0, or no version, for the latest one',
    );
  }
  if (number > latestVersion) {
    throw refusal(
      `key version does not exist; latest key version is ${latestVersion}`,
      'use an older version, or omit the version for the latest one',
    );
  }
  return requireVersion(key, number);
}

/**
 * Finds a usable version.
 * @throws `invalid` if the version was trimmed or lost, or is below the minimum; `conflict` if it is revoked
 */
export function requireVersion(key: NamedKey, number: number): KeyVersion {
  const version = key.version(number);
  if (version !== undefined) return version;
  const { minDecryptionVersion, latestVersion } = key.document;
  const missing = ownWords('no such key version');
  if (number > latestVersion) throw refusal(missing, `the latest is ${latestVersion}`);
  if (number >= minDecryptionVersion) throw absentVersion(key, number, missing, 'key_version');
  throw refusal(missing, limitHint(key.document, number, 'decryption'));
}

/**
 * Creates the error for an absent version: it was revoked, or was missing in the backup that the key was restored from.
 * @param refusal Vault's message for a missing version
 * @see docs/decisions/0130
 * @see docs/decisions/0300
 */
export function absentVersion(
  { document }: NamedKey,
  number: number,
  refusal: string,
  field: string,
): CofferError {
  const revoked = document.revokedVersions?.[String(number)];
  if (revoked === undefined) {
    return invalid(`${refusal}: version ${number} was not in the backup that this key was restored from`, {
      field,
      hint: 'restore a backup that has this version, under another name',
    });
  }
  return revoked === null
    ? conflict(`version ${number} of this key was destroyed`, {
        field,
        hint: 'its key material was deleted; only a backup from before that has it, which can be restored under another name',
      })
    : conflict(`version ${number} of this key is revoked`, {
        field,
        hint: `to use it again, run "coffer transit keys reinstate ${document.name} ${number}"`,
      });
}

const refusal = (message: string, hint: string): CofferError =>
  invalid(message, { field: 'key_version', hint });

/** Members of a key that decide which of its versions may be used. */
type VersionLimits = Pick<
  NamedKeyDocument,
  'name' | 'minAvailableVersion' | 'minEncryptionVersion' | 'minDecryptionVersion' | 'keepVersions'
>;

/**
 * Returns the setting of a key that does not allow a version, and what allows it again.
 * @param version below the minimum
 */
export function limitHint(key: VersionLimits, version: number, by: 'encryption' | 'decryption'): string {
  const { name, minAvailableVersion, minEncryptionVersion, minDecryptionVersion, keepVersions } = key;
  const minimum = by === 'encryption' ? minEncryptionVersion : minDecryptionVersion;
  const limit = `min_${by}_version of this key is ${minimum}`;
  if (version < 1) return limit;
  if (version < minAvailableVersion) return `${limit}, and version ${version} was deleted`;
  if (keepVersions !== undefined && version < minDecryptionVersion)
    return `${limit}: the key keeps its latest ${keepVersions === 1 ? 'version' : `${keepVersions} versions`} usable`;
  const settings = [
    ...(version < minDecryptionVersion ? ['decryption'] : []),
    ...(by === 'encryption' ? ['encryption'] : []),
  ].map((setting) => ` --min-${setting}-version ${version}`);
  return `${limit}; to allow version ${version} again, run "coffer transit keys config ${name}${settings.join('')}"`;
}

/** Maximum number of versions to name. */
const MOST_NAMED = 10;

/**
 * Warns about versions that are missing because the backup did not contain them.
 * @param from first version of interest
 * @returns zero or one warning
 * @see docs/decisions/0130
 */
export function lostVersionsWarning(key: NamedKeyDocument, from = 1): readonly string[] {
  const lost: number[] = [];
  for (let number = Math.max(from, key.minAvailableVersion); number <= key.latestVersion; number++) {
    const name = String(number);
    if (key.versions[name] === undefined && key.revokedVersions?.[name] === undefined) lost.push(number);
  }
  if (lost.length === 0) return [];
  const more = lost.length - MOST_NAMED;
  const named = lost.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const which = lost.length === 1 ? `version ${named}, which was` : `versions ${named}, which were`;
  return [`key "${key.name}" lacks ${which} not in its backup`];
}
