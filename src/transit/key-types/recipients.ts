import { createSecretKey, type KeyObject } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { asCofferError, type CofferError, invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { parseBech32, printBech32 } from './age/bech32.ts';
import { type AgeKem, SECRET_BYTES } from './age/kem.ts';
import { xWingKem } from './age/x-wing.ts';
import { x25519Kem } from './age/x25519.ts';
import { pkcs8BytesOf, refusedBackup, requireKeyKind } from './key-pair.ts';
import type {
  BackupForm,
  BackupMaterial,
  ExportFormat,
  Importing,
  KeyType,
  PublicKeyEncryption,
  StoredMaterial,
} from './key-type.ts';
import { notAuthentic } from './node-aead.ts';
import { privateKeyFromPkcs8 } from './pkcs8.ts';
import { raw, rawKeys } from './raw-keys.ts';
import { encodeAndWipe } from './secret-key.ts';

/**
 * Key types that are recipients of the age format: everybody encrypts to the public half, `age1…`, with or without Coffer.
 * Both halves are stored as the bytes that age writes in Bech32.
 */

class RecipientKey {
  readonly publicKey: Buffer;
  readonly #secret: KeyObject | undefined;

  constructor({ secret, publicKey }: StoredMaterial) {
    this.publicKey = Buffer.from(publicKey ?? '', 'base64');
    if (secret === undefined) return;
    const bytes = Buffer.from(secret, 'base64');
    this.#secret = createSecretKey(bytes);
    wipe(bytes);
  }

  /** Returns a copy, which the caller overwrites. Callers have checked that the secret exists. */
  secretBytes(): Buffer {
    if (this.#secret === undefined) throw new TypeError('only the public half is known');
    return this.#secret.export();
  }
}

/** How private keys of one type travel between servers; the two differ, so that none is taken for one of the other type. */
interface SecretForm {
  read(bytes: Uint8Array): Buffer;
  write(secret: Buffer): Buffer;
}

function stored(kem: AgeKem, secret: Buffer): StoredMaterial {
  const publicKey = encodeBase64(kem.publicOf(secret));
  return { secret: encodeAndWipe(secret), publicKey };
}

/**
 * Parses an `age1…` or `AGE-SECRET-KEY-…` of this type; undefined for another type.
 * @throws `invalid` if it is mistyped
 */
function parsed(text: string, prefix: string, bytes: number): Buffer | undefined {
  const found = parseBech32(text);
  if (found.prefix !== prefix) return undefined;
  if (found.bytes.length === bytes) return found.bytes;
  throw invalid(`a key that begins with ${prefix}1 has ${bytes} bytes, not ${found.bytes.length}`);
}

/**
 * Encryption whose ciphertext is the content of an age stanza: the encapsulated key and the body, concatenated. So
 * decrypting one unwraps the stanza where the key is, and returns only the 16 bytes that it wraps.
 * @see docs/decisions/0162
 */
const encryption = (kem: AgeKem): PublicKeyEncryption<RecipientKey> => ({
  encrypt(key, plaintext) {
    const { encapsulated, body } = kem.seal(key.publicKey, plaintext);
    return Buffer.concat([encapsulated, body]);
  },
  decrypt(key, ciphertext) {
    const encapsulated = ciphertext.subarray(0, kem.encapsulatedBytes);
    const secret = key.secretBytes();
    try {
      if (encapsulated.length === kem.encapsulatedBytes) {
        const body = ciphertext.subarray(kem.encapsulatedBytes);
        const plaintext = kem.open(secret, key.publicKey, { encapsulated, body });
        if (plaintext !== undefined) return plaintext;
      }
    } catch (error) {
      if (asCofferError(error)?.kind !== 'inauthentic') throw error;
    } finally {
      wipe(secret);
    }
    throw notAuthentic('message authentication failed');
  },
});

function importing(name: string, kem: AgeKem, form: SecretForm): Importing<RecipientKey> {
  return {
    secret: (bytes) => stored(kem, form.read(bytes)),
    publicKey(text) {
      const publicKey = parsed(text.trim(), kem.recipientPrefix, kem.publicBytes);
      if (publicKey === undefined) {
        throw invalid(`this is no recipient of the type ${name}`, {
          field: 'public_key',
          hint: `it begins with ${kem.recipientPrefix}1`,
        });
      }
      return { publicKey: encodeBase64(publicKey) };
    },
    secretBytes: (key) => form.write(key.secretBytes()),
    identityBytes(text) {
      const secret = parsed(text, kem.identityPrefix, SECRET_BYTES);
      return secret && form.write(secret);
    },
  };
}

const backup = (name: string, kem: AgeKem): BackupForm => ({
  readMs: 1,
  read({ key, publicKey }: BackupMaterial) {
    const shown = publicKey === undefined ? undefined : Buffer.from(publicKey, 'base64');
    if (key === undefined) {
      if (shown?.length !== kem.publicBytes) throw refusedBackup(`has no ${name} key`);
      return { publicKey: encodeBase64(shown) };
    }
    if (key.length !== SECRET_BYTES) throw refusedBackup(`has a ${name} key of the wrong length`);
    const material = stored(kem, Buffer.from(key));
    if (publicKey === undefined || publicKey === material.publicKey) return material;
    throw refusedBackup(`has a ${name} private key that does not match its public key`);
  },
  write: ({ secret, publicKey }) => ({
    key: secret === undefined ? undefined : Buffer.from(secret, 'base64'),
    publicKey: publicKey ?? '',
  }),
});

const recipientType = (name: string, kem: AgeKem, form: SecretForm): KeyType<RecipientKey> => ({
  name,
  protocols: ['age'],
  publicKeyEncryption: encryption(kem),
  importing: importing(name, kem, form),
  backup: backup(name, kem),
  open: (material) => new RecipientKey(material),
  generate: (random) => stored(kem, random.bytes(SECRET_BYTES)),
  exportSecret(key, format) {
    const secret = key.secretBytes();
    if (format === 'raw') return encodeAndWipe(secret);
    requireAge(format);
    const text = printBech32(kem.identityPrefix, secret).toUpperCase();
    wipe(secret);
    return text;
  },
  publicKey: {
    label: name,
    print: (key) => printBech32(kem.recipientPrefix, key.publicKey),
    export(key, format) {
      if (format === 'raw') return encodeBase64(key.publicKey);
      requireAge(format);
      return printBech32(kem.recipientPrefix, key.publicKey);
    },
  },
});

function requireAge(format: ExportFormat): void {
  if (format === '') return;
  throw invalid(ownWords('unknown format for a key of age; supported values are `` or `raw`'), {
    field: 'format',
    hint: 'leave the format out: the key is printed as age writes it',
  });
}

const X25519 = 'x25519';

/** PKCS#8 (RFC 8410), as every asymmetric key travels for which there is such a form. */
const pkcs8: SecretForm = {
  read(bytes) {
    const key = privateKeyFromPkcs8(bytes);
    requireKeyKind(key, X25519);
    return raw(key, 'raw-private');
  },
  write(secret) {
    const key = rawKeys.createPrivateKey({ key: secret, format: 'raw-private', asymmetricKeyType: X25519 });
    wipe(secret);
    return pkcs8BytesOf(key);
  },
};

/** The seed alone. */
const seed = (name: string): SecretForm => ({
  read(bytes) {
    if (bytes.length === SECRET_BYTES) return Buffer.from(bytes);
    throw wrongSize(bytes.length, name);
  },
  write: (secret) => secret,
});

const wrongSize = (bytes: number, name: string): CofferError =>
  invalid(`invalid key size ${bytes} bytes for key type ${name}`, { field: 'ciphertext' });

const HYBRID = 'mlkem768-x25519';

export const recipientTypes = [
  recipientType(X25519, x25519Kem, pkcs8),
  recipientType(HYBRID, xWingKem, seed(HYBRID)),
];
