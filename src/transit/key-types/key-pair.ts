import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign as nodeSign,
  type SignKeyObjectInput,
  type VerifyKeyObjectInput,
} from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wiping } from '../../ground/bytes.ts';
import { asCofferError, type CofferError, invalid, ownWords, unsupported } from '../../ground/errors.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import { madeOnce } from '../../ground/objects.ts';
import { privateKeyFromPkcs8 } from './der.ts';
import type { Certification, ExportFormat, Importing, SignatureOptions, StoredMaterial } from './key-type.ts';

/** Material of every asymmetric type. Each half is parsed on first use: signing never needs the public one. */
export class KeyPair {
  readonly #stored: StoredMaterial;
  #privateKey: KeyObject | undefined;
  #publicKey: KeyObject | undefined;

  constructor(stored: StoredMaterial, keys: { privateKey?: KeyObject; publicKey?: KeyObject } = {}) {
    this.#stored = stored;
    this.#privateKey = keys.privateKey;
    this.#publicKey = keys.publicKey;
  }

  /** Creates the pair of a private key that is not stored. */
  static ofPrivate(privateKey: KeyObject): KeyPair {
    return new KeyPair({}, { privateKey });
  }

  get hasPrivate(): boolean {
    return this.#privateKey !== undefined || this.#stored.secret !== undefined;
  }

  /** Returns the private key; callers have checked that it exists. */
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
export const pkcs8Of = (key: KeyObject): string => wiping(pkcs8BytesOf(key), encodeBase64);

const pems = new WeakMap<KeyObject, string>();

/**
 * PEM with 64 columns and a newline at the end. Printing it takes longer than everything else about reading a key, so
 * it is cached.
 */
export const spkiPemOf = (key: KeyObject): string =>
  madeOnce(pems, key, () => key.export({ format: 'pem', type: 'spki' }).toString());

/** PKCS#8 DER; the caller overwrites it. */
export const pkcs8BytesOf = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'pkcs8' });

/**
 * Import of key pairs.
 * @param requireFit throws `invalid` for a key of another type
 * @param requireWhole throws `invalid` for a private key that does not work
 */
export const importingPairs = (
  requireFit: (key: KeyObject) => void,
  requireWhole: (key: KeyObject) => Promise<void>,
): Importing<KeyPair> => ({
  async secret(bytes) {
    const key = privateKeyFromPkcs8(bytes);
    requireFit(key);
    await requireWhole(key);
    return storedKey(key);
  },
  publicKey(pem) {
    const key = publicKeyFromPem(pem);
    requireFit(key);
    return storedKey(key);
  },
  secretBytes: (pair) => pkcs8BytesOf(pair.privateKey),
});

/**
 * Checks the key type.
 * @param expected name of the type in `node:crypto`
 * @param shown name of the type in Vault's message
 */
export function requireKeyKind(key: KeyObject, expected: string, shown = expected): void {
  if (key.asymmetricKeyType === expected) return;
  throw invalid(`invalid key type: expected ${shown}, got ${key.asymmetricKeyType ?? 'unknown'}`, {
    field: 'type',
  });
}

/** Creates the error for a private key whose parts do not match, which OpenSSL does not check. */
export const mismatchedPair = (): CofferError =>
  invalid(ownWords('cannot import key, key pair does not match'), {
    field: 'ciphertext',
    hint: 'the key is damaged, or an RSA key of more than two primes',
  });

/**
 * Refuses a private key that could not be restored from a backup.
 * @param restore reads the key from its own backup
 * @throws `invalid` if that fails
 */
export async function requireRestorable(restore: () => MaybePromise<KeyObject>): Promise<void> {
  try {
    await restore();
  } catch (error) {
    if (asCofferError(error)?.kind === 'invalid') throw mismatchedPair();
    throw error;
  }
}

/**
 * Parses an imported public key.
 * @throws `invalid` with Vault's messages
 */
function publicKeyFromPem(pem: string): KeyObject {
  if (!/-----BEGIN [A-Z ]*PUBLIC KEY-----/.test(pem)) {
    throw invalid(ownWords('error parsing public key: not in PEM format'), {
      field: 'public_key',
      hint: 'use a public key in PEM, which begins with "-----BEGIN PUBLIC KEY-----"; on the command line, @FILE reads it from FILE',
    });
  }
  try {
    return createPublicKey({ key: pem, format: 'pem' });
  } catch {
    throw invalid(ownWords('error parsing public key: not a SubjectPublicKeyInfo'), { field: 'public_key' });
  }
}

/** Creates Vault's error for a format that this family of types does not have. */
export function unknownFormat(family: 'rsa' | 'ec', format: ExportFormat): Error {
  return invalid(`unknown key format for ${family} key; supported values are \`\`, \`der\`, or \`pem\``, {
    field: 'format',
    hint: `"${format}" is for symmetric keys; use der or pem, or omit the format`,
  });
}

/**
 * Creates the certification of a type that Node can sign with itself.
 * @param hash name in `node:crypto`; null if the algorithm hashes internally
 * @param algorithm DER in hexadecimal; absent if it is that of the public key
 */
export const certifiedBy = (hash: string | null, algorithm?: string): Certification<KeyPair> => ({
  algorithm: algorithm === undefined ? undefined : Buffer.from(algorithm, 'hex'),
  publicKey: (pair) => pair.publicKey,
  sign: (pair, bytes) => nodeSign(hash, bytes, pair.privateKey),
});

/**
 * Converts an asymmetric key to its stored form.
 * @param key private key, or public key if there is no private one
 */
export function storedKey(key: KeyObject): StoredMaterial {
  if (key.type === 'public') return { publicKey: spkiOf(key) };
  return wiping(pkcs8BytesOf(key), (pkcs8) => ({
    secret: encodeBase64(pkcs8),
    publicKey: spkiOf(createPublicKey(key)),
  }));
}

/**
 * Parses the stored form, the counterpart of {@link storedKey}: the private key if there is one, else the public one.
 */
export function keyOf({ secret, publicKey }: StoredMaterial): KeyObject {
  if (secret === undefined) {
    return createPublicKey({ key: Buffer.from(publicKey ?? '', 'base64'), format: 'der', type: 'spki' });
  }
  return wiping(Buffer.from(secret, 'base64'), (pkcs8) =>
    createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }),
  );
}

type Generate = (
  type: string,
  options: object,
  done: (error: Error | null, publicKey: KeyObject, privateKey: KeyObject) => void,
) => void;

/**
 * Generates a private key on another thread. Callback form: `util.promisify` would load a module in the path of every
 * command.
 * @param type and options as in `node:crypto`, whose declarations lack some types
 */
export const newPrivateKey = (type: string, options: object = {}): Promise<KeyObject> =>
  new Promise((resolve, reject) => {
    (generateKeyPair as unknown as Generate)(type, options, (error, _publicKey, privateKey) => {
      if (error === null) resolve(privateKey);
      else reject(error);
    });
  });

/** Converts big-endian bytes, which may be none, to the big integer of backups. */
export const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex') || '0'}`);

/** Converts base64url numbers of JSON Web Keys (RFC 7518, 6.3) to the big integers of backups. */
export const fromBase64Url = (text: string | undefined): bigint =>
  numberOf(Buffer.from(text ?? '', 'base64url'));

/**
 * Converts the other way.
 * @param bytes length of the result, zero-padded; undefined for the shortest
 */
export function toBase64Url(value: bigint, bytes?: number): string {
  const hex = value.toString(16);
  const padded = hex.padStart(bytes === undefined ? hex.length + (hex.length % 2) : 2 * bytes, '0');
  return Buffer.from(padded, 'hex').toString('base64url');
}

export const bitLength = (value: bigint): number => value.toString(2).length;

/**
 * Creates the error for the key of a version in a backup.
 * @param what rest of a sentence that begins with "backup"; must not contain numbers of the key
 */
export const refusedBackup = (what: string): CofferError =>
  invalid(`backup ${what}`, { field: 'backup', hint: 'the backup is damaged or was modified' });

/**
 * Refuses digests, for schemes that hash internally.
 * @param why text after the name of the type
 * @throws `unsupported` for a digest instead of the message
 */
export function refuseDigest({ prehashed }: SignatureOptions, typeName: string, why = ''): void {
  if (!prehashed) return;
  throw unsupported(`prehashed input is not supported for key type ${typeName}${why}`, {
    field: 'prehashed',
    hint: 'give the message itself: it is hashed when it is signed',
  });
}

/** Returns the key parameter of `node:crypto` for a signature bound to a context; without one, the plain scheme. */
export const inContext = (
  key: KeyObject,
  { context }: Pick<SignatureOptions, 'context'>,
): KeyObject | (SignKeyObjectInput & VerifyKeyObjectInput) =>
  context === undefined ? key : { key, context };

/** Algorithm names as in Vault and OpenBao, who take them from Go, by the names of `node:crypto`. */
const CERTIFIED_NAMES: Readonly<Record<string, string>> = {
  rsa: 'RSA',
  dsa: 'DSA',
  ec: 'ECDSA',
  ed25519: 'Ed25519',
};

/**
 * Returns the type of a certificate's public key, as Vault names it.
 * @param key undefined for a type that OpenSSL does not know
 */
export function certifiedAlgorithm(key: KeyObject | undefined): string {
  const kind = key?.asymmetricKeyType ?? 'unknown';
  return CERTIFIED_NAMES[kind] ?? kind;
}
