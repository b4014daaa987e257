import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { asCofferError, type CofferError, invalid } from '../../ground/errors.ts';
import type { ExportFormat, MaybePromise, StoredMaterial } from './key-type.ts';
import { keyOf } from './stored-key.ts';

/** The material of every asymmetric type. Each half is parsed when it is first needed: signing never needs the public one. */
export class KeyPair {
  readonly #stored: StoredMaterial;
  #privateKey: KeyObject | undefined;
  #publicKey: KeyObject | undefined;

  constructor(stored: StoredMaterial, keys: { privateKey?: KeyObject; publicKey?: KeyObject } = {}) {
    this.#stored = stored;
    this.#privateKey = keys.privateKey;
    this.#publicKey = keys.publicKey;
  }

  /** The pair of a private key that is not stored. */
  static ofPrivate(privateKey: KeyObject): KeyPair {
    return new KeyPair({}, { privateKey });
  }

  get hasPrivate(): boolean {
    return this.#privateKey !== undefined || this.#stored.secret !== undefined;
  }

  /** Callers have made sure that there is one. */
  get privateKey(): KeyObject {
    this.#privateKey ??= keyOf(this.#stored);
    return this.#privateKey;
  }

  get publicKey(): KeyObject {
    const { publicKey } = this.#stored;
    this.#publicKey ??= publicKey === undefined ? createPublicKey(this.privateKey) : keyOf({ publicKey });
    return this.#publicKey;
  }
}

export const openKeyPair = (stored: StoredMaterial): KeyPair => new KeyPair(stored);

/** SubjectPublicKeyInfo DER, base64. */
export const spkiOf = (key: KeyObject): string => encodeBase64(key.export({ format: 'der', type: 'spki' }));

/** PKCS#8 DER, base64. */
export function pkcs8Of(key: KeyObject): string {
  const der = key.export({ format: 'der', type: 'pkcs8' });
  const text = encodeBase64(der);
  wipe(der);
  return text;
}

/** PEM with 64 columns and a newline at the end. */
export const spkiPemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();

/** Parses an imported private key. @throws `invalid` in the words of peers. */
export function privateKeyFromPkcs8(bytes: Uint8Array): KeyObject {
  try {
    return createPrivateKey({ key: Buffer.from(bytes), format: 'der', type: 'pkcs8' });
  } catch {
    // OpenSSL's reasons differ by version and may say something about the key.
    throw invalid('error parsing asymmetric key: not a PKCS#8 private key', {
      field: 'ciphertext',
      hint: 'wrap the key in PKCS#8 DER form',
    });
  }
}

/** What is said of a private key that OpenSSL reads without a look at whether its parts belong together. */
export const mismatchedPair = (): CofferError =>
  invalid('cannot import key, key pair does not match', {
    field: 'ciphertext',
    hint: 'the key is damaged, or an RSA key of more than two primes',
  });

/**
 * Refuses a private key that a backup could not bring back.
 * @param restore reads the key from its own backup.
 * @throws `invalid` when it can't be read.
 */
export async function requireRestorable(restore: () => MaybePromise<KeyObject>): Promise<void> {
  try {
    await restore();
  } catch (error) {
    if (asCofferError(error)?.kind === 'invalid') throw mismatchedPair();
    throw error;
  }
}

/** Parses an imported public key. @throws `invalid` in the words of peers. */
export function publicKeyFromPem(pem: string): KeyObject {
  if (!/-----BEGIN [A-Z ]*PUBLIC KEY-----/.test(pem)) {
    throw invalid('error parsing public key: not in PEM format', {
      field: 'public_key',
      hint: 'give the key as PEM "PUBLIC KEY"',
    });
  }
  try {
    return createPublicKey({ key: pem, format: 'pem' });
  } catch {
    throw invalid('error parsing public key: not a SubjectPublicKeyInfo', { field: 'public_key' });
  }
}

/** @throws `invalid` in the words of peers, for a format that the family of types cannot be printed in. */
export function unknownFormat(family: 'rsa' | 'ec', format: ExportFormat): Error {
  return invalid(`unknown key format for ${family} key; supported values are \`\`, \`der\`, or \`pem\``, {
    field: 'format',
    hint: `"${format}" is for symmetric keys; use der or pem, or leave the format out`,
  });
}
