import { createSecretKey } from 'node:crypto';
import { utf8 } from '../ground/bytes.ts';
import { unlessRefused } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { AeadCipher } from '../transit/key-types/key-type.ts';
import { nodeAead } from '../transit/key-types/node-aead.ts';

/** Encrypts values under a version of a key: AES-256-GCM, bound to the value's name. */

const NONCE_BYTES = 12;

const cipherUnder = (material: Uint8Array): AeadCipher =>
  nodeAead('aes-256-gcm', createSecretKey(material), 'not authentic');

/**
 * Encrypts a value.
 * @returns base64 of nonce, ciphertext and tag
 */
export function sealValue(material: Uint8Array, name: string, text: string, random: Random): string {
  const nonce = random.bytes(NONCE_BYTES);
  const sealed = cipherUnder(material).encrypt(nonce, utf8(text), utf8(name));
  return Buffer.concat([nonce, ...sealed]).toString('base64');
}

/** Decrypts a value; undefined if it is not encrypted under this material, or has another name. */
function openValue(material: Uint8Array, name: string, payload: string): Buffer | undefined {
  const bytes = Buffer.from(payload, 'base64');
  if (bytes.length < NONCE_BYTES || bytes.toString('base64') !== payload) return undefined;
  const [nonce, sealed] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES)];
  return unlessRefused(() => cipherUnder(material).decrypt(nonce, sealed, utf8(name)), undefined);
}

/** Text that a version of a key has opened. */
interface Opened<V> {
  readonly version: V;
  readonly bytes: Buffer;
}

/**
 * Decrypts a value with each of several versions of a key.
 * @param materialOf returns the material of a version; undefined if the user cannot open it
 * @returns what was opened, at most one for each material, and the indices of versions with a material
 */
export async function openWithAny<V>(
  versions: readonly V[],
  materialOf: (version: V) => Promise<Buffer | undefined>,
  { name, payload }: { readonly name: string; readonly payload: string },
): Promise<{ readonly opened: readonly Opened<V>[]; readonly known: readonly number[] }> {
  const opened: Opened<V>[] = [];
  const materials: Buffer[] = [];
  const known: number[] = [];
  for (const [index, version] of versions.entries()) {
    const material = await materialOf(version);
    if (material === undefined) continue;
    known.push(index);
    // A second version with the same key cannot give a value two meanings, and any former signer could add one.
    if (materials.some((other) => other.equals(material))) continue;
    materials.push(material);
    const bytes = openValue(material, name, payload);
    if (bytes !== undefined) opened.push({ version, bytes });
  }
  return { opened, known };
}
