import { createHmac, type KeyObject } from 'node:crypto';
import { corrupt } from '../ground/errors.ts';
import type { NamedKeyDocument, VersionDocument } from './key-document.ts';

/**
 * Version of convergent encryption, which determines the nonce of a plaintext:
 * - 0: not convergent; nonces are random
 * - 1: given by the caller, and not part of the ciphertext
 * - 2: HMAC-SHA256 of the plaintext under the context itself
 * - 3: HMAC-SHA256 of the plaintext under a key that is derived together with the cipher key
 *
 * 1 and 2 exist only in restored keys (Vault before 0.10.2). The nonce does not depend on associated data.
 */
export type ConvergentVersion = 0 | 1 | 2 | 3;

/** Length of a caller's nonce in version 1, in bytes: that of the ciphers of its time. */
export const CALLER_NONCE_BYTES = 12;

/** Version of new key versions; keys of Vault 0.6.1 keep their own. */
const CONVERGENT_TODAY = 3;
/** Value in the document of a new convergent key: each version has its own. */
export const VERSIONS_SAY = -1;
/** Length of the nonce key, in bytes. */
export const NONCE_KEY_BYTES = 32;

/**
 * Returns the convergent version of a key version: its own value, or else that of the key, where 0 (from before it was
 * recorded) means 1.
 */
export function convergentVersionOf(key: NamedKeyDocument, version: VersionDocument): ConvergentVersion {
  if (!key.convergentEncryption) return 0;
  const recorded = version.convergentVersion === 0 ? key.convergentVersion || 1 : version.convergentVersion;
  if (recorded === 1 || recorded === 2 || recorded === 3) return recorded;
  throw corrupt(`key "${key.name}" has the unknown convergent version ${recorded}`, {
    hint: 'the key was written by a newer Coffer: install a newer one',
  });
}

/** Returns the value that a new version of the key records. */
export function convergentVersionToRecord(
  key: Pick<NamedKeyDocument, 'convergentEncryption' | 'convergentVersion'>,
): number {
  const modern = key.convergentVersion === VERSIONS_SAY || key.convergentVersion > 1;
  return key.convergentEncryption && modern ? CONVERGENT_TODAY : 0;
}

/** Computes the nonce of versions 2 (keyed by the context) and 3 (keyed by a derived key). */
export const nonceOf = (
  nonceKey: KeyObject | Uint8Array,
  plaintext: Uint8Array,
  nonceBytes: number,
): Buffer => createHmac('sha256', nonceKey).update(plaintext).digest().subarray(0, nonceBytes);
