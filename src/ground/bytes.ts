import type { DecipherGCM } from 'node:crypto';

/**
 * Overwrites secrets with zeros once they are no longer needed. It reaches every copy only for bytes outside of the
 * garbage-collected heap, such as those of `Buffer.from` and `Buffer.allocUnsafe`: the collector moves arrays of up to
 * 64 bytes created by `new Uint8Array`, `Uint8Array.from` or `Buffer.alloc`, and leaves copies in their old places.
 */
export function wipe(...secrets: (Uint8Array | undefined)[]): void {
  for (const secret of secrets) secret?.fill(0);
}

/** Uses a secret, and then overwrites it: nothing may use it later, so `use` is not asynchronous. */
export function wiping<S extends Uint8Array, T>(secret: S, use: (secret: S) => T): T {
  try {
    return use(secret);
  } finally {
    wipe(secret);
  }
}

/**
 * Tag length of every AEAD, in bytes. It is always passed to `node:crypto`: a decipher without it would accept shorter
 * tags, which can be forged.
 */
export const TAG_BYTES = 16;

/**
 * Decrypts bytes that end with their tag.
 * @returns the plaintext, which the caller should wipe; undefined if the bytes are not authentic
 */
export function authenticated(decipher: DecipherGCM, sealed: Uint8Array): Buffer | undefined {
  const end = sealed.length - TAG_BYTES;
  if (end < 0) return undefined;
  decipher.setAuthTag(sealed.subarray(end));
  const plaintext = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
    return plaintext;
  } catch {
    wipe(plaintext);
    return undefined;
  }
}

/** Returns the UTF-8 bytes of a text. */
export const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');

/**
 * Concatenates fields so that different lists always yield different bytes: each is preceded by its length (32-bit
 * big-endian). Used wherever several values are authenticated together.
 */
export function lengthPrefixed(...fields: (string | Uint8Array)[]): Buffer {
  let size = 0;
  for (const field of fields) size += LENGTH_BYTES + byteLength(field);
  const joined = Buffer.allocUnsafe(size);
  let at = 0;
  for (const field of fields) {
    const length = byteLength(field);
    at = joined.writeUInt32BE(length, at);
    if (typeof field === 'string') joined.write(field, at, 'utf8');
    else joined.set(field, at);
    at += length;
  }
  return joined;
}

const LENGTH_BYTES = 4;
const byteLength = (field: string | Uint8Array): number =>
  typeof field === 'string' ? Buffer.byteLength(field, 'utf8') : field.length;
