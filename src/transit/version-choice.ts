import { type CofferError, conflict, invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import type { KeyVersion, NamedKey } from './named-key.ts';

/** The number that stands for the latest version. */
export const LATEST = 0;

/**
 * The version to encrypt or sign with. `minEncryptionVersion` 0 sets no limit: every version that may still be used may
 * be asked for.
 * @throws `invalid`
 */
export function versionToWriteWith(
  key: NamedKey,
  requested: number,
  purpose: 'encryption' | 'signing',
): KeyVersion {
  const { latestVersion, minEncryptionVersion } = key.document;
  if (requested < 0)
    throw refusal(`requested version for ${purpose} is negative`, '0 or nothing means the latest');
  if (requested > latestVersion) {
    throw refusal(
      `requested version for ${purpose} is higher than the latest key version`,
      `the latest is ${latestVersion}`,
    );
  }
  if (requested !== LATEST && requested < minEncryptionVersion) {
    throw refusal(
      `requested version for ${purpose} is less than the minimum encryption key version`,
      `min_encryption_version of this key is ${minEncryptionVersion}`,
    );
  }
  return requireVersion(key, requested === LATEST ? latestVersion : requested);
}

/** The version to make an HMAC with; the latest is always allowed. @throws `invalid` */
export function versionForHmac(key: NamedKey, requested: number): KeyVersion {
  const { latestVersion, minEncryptionVersion } = key.document;
  if (requested === LATEST || requested === latestVersion) return requireVersion(key, latestVersion);
  if (minEncryptionVersion > 0 && requested < minEncryptionVersion) {
    throw refusal(
      ownWords('cannot generate HMAC: version is too old (disallowed by policy)'),
      `min_encryption_version of this key is ${minEncryptionVersion}`,
    );
  }
  return requireExistingVersion(key, requested);
}

/** @throws `invalid` when a number is none of the key's versions. */
export function requireExistingVersion(key: NamedKey, number: number): KeyVersion {
  const { latestVersion } = key.document;
  if (number < 0) {
    throw refusal(
      ownWords('key version does not exist (cannot be negative)'),
      '0 or nothing means the latest',
    );
  }
  if (number > latestVersion) {
    throw refusal(
      `key version does not exist; latest key version is ${latestVersion}`,
      'give an older version, or none',
    );
  }
  return requireVersion(key, number);
}

/** @throws `invalid` when the version was trimmed or lost, or may not be used any more; `conflict` for a revoked one. */
export function requireVersion(key: NamedKey, number: number): KeyVersion {
  const version = key.version(number);
  if (version !== undefined) return version;
  const { minDecryptionVersion, latestVersion } = key.document;
  const missing = ownWords('no such key version');
  if (number > latestVersion) throw refusal(missing, `the latest is ${latestVersion}`);
  if (number >= minDecryptionVersion) throw absentVersion(key, number, missing, 'key_version');
  throw refusal(missing, `min_decryption_version of this key is ${minDecryptionVersion}`);
}

/**
 * A version that should be there and is not: it was revoked, or missing in the backup that the key was restored from.
 * @param refusal what peers say where there is no such version.
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
      hint: 'restore a backup that has it under another name',
    });
  }
  return revoked === null
    ? conflict(`version ${number} of this key was destroyed`, { field, hint: 'nothing brings it back' })
    : conflict(`version ${number} of this key is revoked`, {
        field,
        hint: 'if it may be used again, keys reinstate takes that back',
      });
}

const refusal = (message: string, hint: string): CofferError =>
  invalid(message, { field: 'key_version', hint });
