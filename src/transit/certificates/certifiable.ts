import { CofferError, expected, failingAs, ownWords, unsupported } from '../../ground/errors.ts';
import type { Engine } from '../engine.ts';
import type { Certification } from '../key-types/key-type.ts';
import { type KeyVersion, type NamedKey, requireKey, requireNotSoftDeleted } from '../named-key.ts';
import { requireSigning } from '../signing.ts';
import { requireVersion } from '../version-choice.ts';

/** Shared code of certificate requests and chains. Error messages are Vault-compatible. */

/** Maximum length of PEM text, in characters: enough for hundreds of names, or dozens of certificates. */
const MOST_CHARACTERS = 256 * 1024;

/**
 * Limits the length before parsing.
 * @throws `too-large`
 */
export function requireReasonableLength(pem: string, field: string): void {
  if (pem.length > MOST_CHARACTERS) {
    throw new CofferError('too-large', `${field} must have at most ${MOST_CHARACTERS} characters`, { field });
  }
}

export const missingKey = (name: string): string => `key with provided name '${name}' not found`;

/**
 * Finds a key that can be certified.
 * @throws `not-found`, `unsupported`, `conflict`
 */
export async function requireCertifiableKey(
  engine: Engine,
  name: string,
): Promise<{ readonly key: NamedKey; readonly certification: Certification<unknown> }> {
  const key = await requireKey(engine, name, missingKey(name));
  return { key, certification: certificationOf(key) };
}

/**
 * Returns the certification functions of a key.
 * @throws `unsupported` if the key cannot be certified; `conflict` if it is soft-deleted
 */
export function certificationOf(key: NamedKey): Certification<unknown> {
  const { certification } = requireSigning(key, 'certification');
  if (key.document.derived) {
    throw unsupported(ownWords('operation not supported for keys with derivation enabled'), {
      field: 'name',
      hint: 'a derived key has another key for each context: use a key that is not derived',
    });
  }
  requireNotSoftDeleted(key);
  return certification;
}

/**
 * Finds a version.
 * @param number undefined for the latest; 0 does not exist
 * @throws `invalid`
 */
export const namedVersion = (key: NamedKey, number: number | undefined): KeyVersion =>
  requireVersion(key, number ?? key.document.latestVersion);

/**
 * Runs `work`, and prefixes its errors with the attempted action.
 * @throws as `work`
 */
export const attempting = <T>(attempt: string, field: string, work: () => T): T =>
  failingAs((error) => {
    const { kind, message, hint } = expected(error);
    return new CofferError(kind, `${attempt}: ${message}`, { field, hint });
  }, work);
