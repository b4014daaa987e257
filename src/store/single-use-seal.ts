import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { authenticated, TAG_BYTES, wiping } from '../ground/bytes.ts';

/**
 * The store's only encryption: AES-256-GCM under a key *and* nonce that HKDF-SHA256 (RFC 5869) derives from a secret
 * and a salt. The salt is fresh for every seal, so each key seals one message, and the limit of 2^32 random nonces
 * under one key (NIST SP 800-38D §8.3) is never approached, however long a root key lives.
 * @see docs/decisions/0002
 */
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;

export interface SealContext {
  readonly secret: KeyObject | Uint8Array;
  /** Salt, never used before with the same secret and purpose. */
  readonly salt: Uint8Array;
  /** HKDF `info`; separates the purposes of one secret. */
  readonly purpose: string;
  /** Associated data: authenticated with the message, not stored with it. */
  readonly associatedData: Uint8Array;
}

/**
 * Encrypts a message.
 * @returns `head`, the ciphertext (as long as the plaintext), and the 16-byte tag
 */
export function sealOnce(context: SealContext, plaintext: Uint8Array, ...head: Uint8Array[]): Buffer {
  const { key, nonce } = derive(context);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(context.associatedData);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([...head, ciphertext, cipher.getAuthTag()]);
}

/**
 * Decrypts a message.
 * @returns the plaintext, which the caller should wipe; undefined if key, context or bytes do not match
 */
export function openOnce(context: SealContext, sealed: Uint8Array): Buffer | undefined {
  const { key, nonce } = derive(context);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(context.associatedData);
  return authenticated(decipher, sealed);
}

/**
 * Derives key and nonce. The key is a KeyObject, because `node:crypto` takes several times as long to start with bytes.
 */
function derive({ secret, salt, purpose }: SealContext): { key: KeyObject; nonce: Uint8Array } {
  const bytes = new Uint8Array(hkdfSync('sha256', secret, salt, purpose, KEY_BYTES + NONCE_BYTES));
  return { key: wiping(bytes.subarray(0, KEY_BYTES), createSecretKey), nonce: bytes.subarray(KEY_BYTES) };
}
