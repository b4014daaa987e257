import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject } from 'node:crypto';
import { wipe } from '../bytes.ts';

/**
 * The one way in which this store encrypts: AES-256-GCM under a key *and* nonce that HKDF-SHA256 (RFC 5869) derives
 * from a secret and a salt. The salt is fresh for every seal, so each key seals one message, and the limit of 2^32
 * random nonces under one key (NIST SP 800-38D §8.3) is never approached, however long a root key lives.
 */
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

export interface SealContext {
  readonly secret: KeyObject | Uint8Array;
  /** Never used before with the same secret and purpose. */
  readonly salt: Uint8Array;
  /** HKDF's `info`: keeps the purposes of one secret apart. */
  readonly purpose: string;
  /** Authenticated with the message, not stored with it. */
  readonly associatedData: Uint8Array;
}

/** @returns the ciphertext, as long as the plaintext, and the 16-byte tag. */
export function sealOnce(context: SealContext, plaintext: Uint8Array): Buffer {
  const derived = derive(context);
  const cipher = createCipheriv(ALGORITHM, derived.key, derived.nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(context.associatedData);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  wipe(derived.key);
  return Buffer.concat([ciphertext, cipher.getAuthTag()]);
}

/** The plaintext, which the caller should wipe; undefined when key, context or bytes are not those of the seal. */
export function openOnce(context: SealContext, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < TAG_BYTES) return undefined;
  const derived = derive(context);
  const decipher = createDecipheriv(ALGORITHM, derived.key, derived.nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(context.associatedData);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const plaintext = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES));
  wipe(derived.key);
  try {
    decipher.final();
    return plaintext;
  } catch {
    wipe(plaintext);
    return undefined;
  }
}

function derive({ secret, salt, purpose }: SealContext): { key: Uint8Array; nonce: Uint8Array } {
  const bytes = new Uint8Array(hkdfSync('sha256', secret, salt, purpose, KEY_BYTES + NONCE_BYTES));
  return { key: bytes.subarray(0, KEY_BYTES), nonce: bytes.subarray(KEY_BYTES) };
}
