import { createCipheriv, createDecipheriv } from 'node:crypto';
import { utf8 } from '../ground/bytes.ts';
import type { Random } from '../ground/random.ts';

/** Values under a version of a key: AES-256-GCM, bound to the name of their place. */

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** @returns base64 of nonce, ciphertext and tag. */
export function sealValue(material: Uint8Array, name: string, text: string, random: Random): string {
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, material, nonce, OPTIONS);
  cipher.setAAD(utf8(name));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'base64',
  );
}

/** The bytes of a value; undefined when it is not under this material, or not of this name. */
export function openValue(material: Uint8Array, name: string, payload: string): Buffer | undefined {
  const bytes = Buffer.from(payload, 'base64');
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64') !== payload) return undefined;
  const decipher = createDecipheriv(ALGORITHM, material, bytes.subarray(0, NONCE_BYTES), OPTIONS);
  decipher.setAAD(utf8(name)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
