import { createPrivateKey, createSecretKey, type KeyObject } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wipe, wiping } from '../../ground/bytes.ts';
import { asCofferError, type CofferError, failingAs, invalid, ownWords } from '../../ground/errors.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { Random } from '../../ground/random.ts';
import { parseBech32, printBech32 } from './age/bech32.ts';
import { type AgeKem, SECRET_BYTES, type WrittenKem } from './age/kem.ts';
import { mlKemP256Kem, p256Kem, pointOf } from './age/tagged.ts';
import { x25519Kem, xWingKem } from './age/x25519.ts';
import { P256 } from './curves.ts';
import { privateKeyFromPkcs8 } from './der.ts';
import { ecdsaFromBackup, ecdsaToBackup, requireCurve } from './ecdsa.ts';
import { pkcs8BytesOf, pkcs8Of, refusedBackup, requireKeyKind, requireRestorable } from './key-pair.ts';
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
import { raw, rawKeys } from './raw-keys.ts';
import { p256Jwk } from './recipient-key.ts';
import { encodeAndWipe } from './symmetric.ts';

/**
 * Key types that are recipients of the age format: anyone can encrypt to the public half, `age1…`, with or without
 * Coffer. Both halves are stored as the bytes that age encodes in Bech32; the private half as its scalar or seed if age
 * has no text form for it.
 * @see docs/decisions/0296
 */

class RecipientKey {
  readonly publicKey: Buffer;
  readonly #secret: KeyObject | undefined;

  constructor({ secret, publicKey }: StoredMaterial) {
    this.publicKey = Buffer.from(publicKey ?? '', 'base64');
    if (secret === undefined) return;
    this.#secret = wiping(Buffer.from(secret, 'base64'), createSecretKey);
  }

  /** Returns a copy, which the caller overwrites. Callers have checked that the secret exists. */
  secretBytes(): Buffer {
    if (this.#secret === undefined) throw new TypeError('only the public half is known');
    return this.#secret.export();
  }
}

/** Forms of the private keys of one type: in transfers between servers, and printed. */
interface SecretForm {
  /**
   * Parses a private key.
   * @throws `invalid` if it is not a private key of the type
   */
  read(bytes: Uint8Array): MaybePromise<Buffer>;
  /**
   * Encodes a private key.
   * @param secret overwritten, unless it is the result
   */
  write(secret: Buffer): Buffer;
  /**
   * Prints a private key.
   * @param secret overwritten
   * @param format never `raw`
   * @throws `invalid` for a format that the type does not have
   */
  print(secret: Buffer, format: ExportFormat): string;
}

/** Generates a private key. */
function freshSecret({ isSecret }: AgeKem, random: Random): Buffer {
  for (;;) {
    const bytes = random.bytes(SECRET_BYTES);
    if (isSecret?.(bytes) ?? true) return bytes;
  }
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

/**
 * Checks a public key.
 * @throws `invalid` if it is not one, or everyone could open what is encrypted to it
 */
function requireUsable(kem: AgeKem, publicKey: Uint8Array): void {
  kem.seal(publicKey, Buffer.alloc(0));
}

function importing(name: string, kem: AgeKem, form: SecretForm): Importing<RecipientKey> {
  const { identityPrefix } = kem;
  return {
    secret: async (bytes) => stored(kem, await form.read(bytes)),
    publicKey(text) {
      const publicKey = parsed(text.trim(), kem.recipientPrefix, kem.publicBytes);
      if (publicKey === undefined) {
        throw invalid(`not a recipient of type ${name}`, {
          field: 'public_key',
          hint: `it begins with ${kem.recipientPrefix}1`,
        });
      }
      requireUsable(kem, publicKey);
      return { publicKey: encodeBase64(publicKey) };
    },
    secretBytes: (key) => form.write(key.secretBytes()),
    identityBytes(text: string) {
      const secret = identityPrefix === undefined ? undefined : parsed(text, identityPrefix, SECRET_BYTES);
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
      failingAs(
        () => refusedBackup(`has a public key that is not of the type ${name}`),
        () => requireUsable(kem, shown),
      );
      return { publicKey: encodeBase64(shown) };
    }
    if (key.length !== SECRET_BYTES)
      throw refusedBackup(`has a key of the wrong length for the type ${name}`);
    if (kem.isSecret?.(key) === false) throw refusedBackup(`has a number that is out of range for ${name}`);
    const material = stored(kem, Buffer.from(key));
    if (publicKey === undefined || publicKey === material.publicKey) return material;
    throw refusedBackup(`has a private key of the type ${name} that does not match its public key`);
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
  generate: (random) => stored(kem, freshSecret(kem, random)),
  exportSecret(key, format) {
    const secret = key.secretBytes();
    return format === 'raw' ? encodeAndWipe(secret) : form.print(secret, format);
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
    hint: 'omit the format: the key is printed in the age format',
  });
}

/** Prints a private key as `AGE-SECRET-KEY-…`. */
const asAgeWritesIt =
  ({ identityPrefix }: WrittenKem): SecretForm['print'] =>
  (secret, format) => {
    requireAge(format);
    return wiping(secret, () => printBech32(identityPrefix, secret).toUpperCase());
  };

const X25519 = 'x25519';
const MLKEM768_X25519 = 'mlkem768-x25519';
const MLKEM768_P256 = 'mlkem768-p256';

/** Private keys as PKCS#8 (RFC 8410), like those of all asymmetric types that have this form. */
const x25519InPkcs8: SecretForm = {
  read(bytes) {
    const key = privateKeyFromPkcs8(bytes);
    requireKeyKind(key, X25519);
    return raw(key, 'raw-private');
  },
  write(secret) {
    const key = { key: secret, format: 'raw-private', asymmetricKeyType: X25519 } as const;
    return pkcs8BytesOf(wiping(secret, () => rawKeys.createPrivateKey(key)));
  },
  print: asAgeWritesIt(x25519Kem),
};

/**
 * Private keys as PKCS#8 (RFC 5915), also when printed: age has no text form for private keys that belong in a device.
 */
const scalarInPkcs8: SecretForm = {
  async read(bytes) {
    const key = privateKeyFromPkcs8(bytes);
    requireCurve(key, P256);
    await requireRestorable(() => ecdsaFromBackup(ecdsaToBackup(key), P256));
    return Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url');
  },
  write: (secret) => pkcs8BytesOf(p256PrivateKey(secret)),
  print(secret, format) {
    const key = p256PrivateKey(secret);
    return format === 'der' ? pkcs8Of(key) : key.export({ format: 'pem', type: 'pkcs8' }).toString().trim();
  },
};

/**
 * Creates a private key on P-256.
 * @param scalar overwritten
 */
const p256PrivateKey = (scalar: Buffer): KeyObject =>
  wiping(scalar, () => {
    const key = { ...p256Jwk(pointOf(scalar)), d: scalar.toString('base64url') };
    return createPrivateKey({ key, format: 'jwk' });
  });

/** Private keys as the plain seed. */
const seed = (name: string, print: SecretForm['print']): SecretForm => ({
  read(bytes) {
    if (bytes.length === SECRET_BYTES) return Buffer.from(bytes);
    throw wrongSize(bytes.length, name);
  },
  write: (secret) => secret,
  print,
});

function inBase64(secret: Buffer, format: ExportFormat): string {
  requireAge(format);
  return encodeAndWipe(secret);
}

const wrongSize = (bytes: number, name: string): CofferError =>
  invalid(`invalid key size ${bytes} bytes for key type ${name}`, { field: 'ciphertext' });

export const recipientTypes = [
  recipientType(X25519, x25519Kem, x25519InPkcs8),
  recipientType(MLKEM768_X25519, xWingKem, seed(MLKEM768_X25519, asAgeWritesIt(xWingKem))),
  recipientType('p256', p256Kem, scalarInPkcs8),
  recipientType(MLKEM768_P256, mlKemP256Kem, seed(MLKEM768_P256, inBase64)),
];
