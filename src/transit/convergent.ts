import { createHmac, type KeyObject } from 'node:crypto';
import { corrupt } from '../ground/errors.ts';
import type { NamedKeyDocument, VersionDocument } from './key-document.ts';

/**
 * How a convergent key finds the nonce of a plaintext:
 * - 0: it is not convergent; nonces are random
 * - 1: the caller gives it, and it is not part of the ciphertext
 * - 2: HMAC-SHA256 of the plaintext under the context itself
 * - 3: HMAC-SHA256 of the plaintext under a key that is derived together with the cipher key
 *
 * 1 and 2 are met in restored keys only (Vault before 0.10.2). The nonce does not depend on associated data.
 */
export type ConvergentVersion = 0 | 1 | 2 | 3;

/** Bytes of the nonce that the caller gives in version 1: what ciphers of its time took. */
export const CALLER_NONCE_BYTES = 12;

/** What new versions of a key get; keys of Vault 0.6.1 keep theirs. */
export const CONVERGENT_TODAY = 3;
/** In the document of a new convergent key: its versions say. */
export const VERSIONS_SAY = -1;
/** Length of the key that makes nonces. */
export const NONCE_KEY_BYTES = 32;

/** That of one version: its own value, or else that of the key, where 0 (from before it was recorded) means 1. */
export function convergentVersionOf(key: NamedKeyDocument, version: VersionDocument): ConvergentVersion {
  if (!key.convergentEncryption) return 0;
  const recorded = version.convergentVersion === 0 ? key.convergentVersion || 1 : version.convergentVersion;
  if (recorded === 1 || recorded === 2 || recorded === 3) return recorded;
  throw corrupt(`key "${key.name}" has the unknown convergent version ${recorded}`, {
    hint: 'it was written by a newer release; update this one',
  });
}

/** What a version added to the key records. */
export function convergentVersionToRecord(
  key: Pick<NamedKeyDocument, 'convergentEncryption' | 'convergentVersion'>,
): number {
  const modern = key.convergentVersion === VERSIONS_SAY || key.convergentVersion > 1;
  return key.convergentEncryption && modern ? CONVERGENT_TODAY : 0;
}

/** The nonce of versions 2 (keyed by the context) and 3 (keyed by a derived key). */
export const nonceOf = (
  nonceKey: KeyObject | Uint8Array,
  plaintext: Uint8Array,
  nonceBytes: number,
): Buffer => createHmac('sha256', nonceKey).update(plaintext).digest().subarray(0, nonceBytes);
