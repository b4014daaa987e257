import { createSecretKey, type KeyObject } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wipe, wiping } from '../../ground/bytes.ts';
import { invalid, ownWords } from '../../ground/errors.ts';
import type { Random } from '../../ground/random.ts';
import {
  type AeadCipher,
  type BackupForm,
  type BackupMaterial,
  type Derivation,
  type ExportFormat,
  type Importing,
  KDF_COUNTER,
  KDF_HKDF,
  type KeyType,
  type StoredMaterial,
} from './key-type.ts';
import { type NodeAeadName, nodeAead } from './node-aead.ts';

/** Material of every symmetric type. */
type SecretKey = KeyObject;

/** Returns a copy of the raw bytes, which the caller overwrites. */
const bytesOf = (key: SecretKey): Buffer => key.export();

const openSecretKey = (stored: StoredMaterial): SecretKey =>
  wiping(Buffer.from(stored.secret ?? '', 'base64'), (bytes) => createSecretKey(bytes));

/**
 * Common members of all symmetric types.
 * @param fits whether a key may have this length
 */
const secretKeyType = (
  name: string,
  numbers: Pick<BackupForm, 'openbao' | 'vault'>,
  fits: (length: number) => boolean,
) => ({
  name,
  open: openSecretKey,
  exportSecret: exportRaw,
  importing: importingRaw(name, fits),
  backup: {
    ...numbers,
    read: (entry: BackupMaterial) => readRawBackup(name, entry, fits),
    write: writeRawBackup,
  },
});

/** Common members of types with a fixed key length. */
const fixedSizeSecret = (name: string, numbers: Pick<BackupForm, 'openbao' | 'vault'>, keyBytes: number) => ({
  ...secretKeyType(name, numbers, (length) => length === keyBytes),
  generate: (random: Random) => ({ secret: encodeAndWipe(random.bytes(keyBytes)) }),
});

/** Derivation of symmetric keys; the counter mode only derives 32 bytes. */
const symmetricDerivation = (keyBytes: number): Derivation<SecretKey> => ({
  kdfs: keyBytes === 32 ? [KDF_COUNTER, KDF_HKDF] : [KDF_HKDF],
  keyBytes,
  inputKey: bytesOf,
  materialOf: (derivedKey) => createSecretKey(derivedKey),
});

/** Encodes a secret in base64, and wipes its bytes. */
export const encodeAndWipe = (bytes: Buffer): string => wiping(bytes, encodeBase64);

/** Prints raw key bytes for `export`. The error message is Vault's, for all symmetric keys. */
function exportRaw(key: SecretKey, format: ExportFormat): string {
  if (format !== '' && format !== 'raw') {
    throw invalid(ownWords('unknown format for HMAC key; supported values are `` or `raw`'), {
      field: 'format',
      hint: 'omit the format: the key is printed as base64',
    });
  }
  return encodeAndWipe(bytesOf(key));
}

/** Import of raw bytes whose length `fits`. */
const importingRaw = (name: string, fits: (length: number) => boolean): Importing<SecretKey> => ({
  secret(bytes) {
    if (!fits(bytes.length)) {
      throw invalid(`invalid key size ${bytes.length} bytes for key type ${name}`, { field: 'ciphertext' });
    }
    return { secret: encodeBase64(bytes) };
  },
  secretBytes: bytesOf,
});

/**
 * Reads the `key` of a backup's entry, checked by length.
 * @throws `invalid` if it is missing or does not fit
 */
function readRawBackup(
  name: string,
  entry: BackupMaterial,
  fits: (length: number) => boolean,
): StoredMaterial {
  if (entry.key === undefined || !fits(entry.key.length)) {
    throw invalid(`invalid key size ${entry.key?.length ?? 0} bytes for key type ${name}`, {
      field: 'backup',
      hint: 'the backup is damaged or of another type',
    });
  }
  return { secret: encodeBase64(entry.key) };
}

const writeRawBackup = (stored: StoredMaterial): BackupMaterial => ({
  key: Buffer.from(stored.secret ?? '', 'base64'),
});

/* Key types with one secret: those that encrypt with associated data, and keys that only compute HMACs. */

const CHACHA = 'chacha20-poly1305';
const CHACHA_REFUSAL = 'chacha20poly1305: message authentication failed';
const GCM_REFUSAL = 'cipher: message authentication failed';

/**
 * Creates a type whose cipher `node:crypto` has: 96-bit nonces and 128-bit tags.
 * @param number type number in backups, the same in Vault and OpenBao
 */
const nodeAeadType = (
  name: string,
  number: number,
  algorithm: NodeAeadName,
  keyBytes: number,
): KeyType<SecretKey> => ({
  ...fixedSizeSecret(name, { openbao: number, vault: number }, keyBytes),
  aead: {
    nonceBytes: 12,
    cipher: (key) => nodeAead(algorithm, key, algorithm === CHACHA ? CHACHA_REFUSAL : GCM_REFUSAL),
  },
  derivation: symmetricDerivation(keyBytes),
});

/** AES in Galois/Counter Mode (NIST SP 800-38D); ChaCha20 and Poly1305 as in RFC 8439. */
export const nodeAeads = [
  nodeAeadType('aes128-gcm96', 8, 'aes-128-gcm', 16),
  nodeAeadType('aes256-gcm96', 0, 'aes-256-gcm', 32),
  nodeAeadType(CHACHA, 5, CHACHA, 32),
];

const XCHACHA_KEY_BYTES = 32;
/** Nonce bytes that derive the subkey; the rest is the nonce of ChaCha20-Poly1305, after four zero bytes. */
const SUBKEY_NONCE_BYTES = 16;

type HChaCha = (constants: Uint32Array, key: Uint32Array, nonce: Uint32Array, subkey: Uint32Array) => void;

/** Allocated outside the garbage-collected heap, so that `wipe` reaches every copy. */
const emptyWords = (byteCount: number): Uint32Array => new Uint32Array(new ArrayBuffer(byteCount));

function words(bytes: Uint8Array): Uint32Array {
  const copy = emptyWords(bytes.length);
  new Uint8Array(copy.buffer).set(bytes);
  return copy;
}

const CONSTANTS = words(Buffer.from('expand 32-byte k'));

/** ChaCha20-Poly1305 under a separate subkey for each nonce (draft-irtf-cfrg-xchacha-03, section 2). */
function xchacha(key: SecretKey, hchacha: HChaCha): AeadCipher {
  const inner = (nonce: Uint8Array): [AeadCipher, Buffer] => {
    const raw = bytesOf(key);
    const keyWords = words(raw);
    const subkey = emptyWords(XCHACHA_KEY_BYTES);
    hchacha(CONSTANTS, keyWords, words(nonce.subarray(0, SUBKEY_NONCE_BYTES)), subkey);
    const subkeyBytes = new Uint8Array(subkey.buffer);
    const cipher = nodeAead(CHACHA, createSecretKey(subkeyBytes), CHACHA_REFUSAL);
    wipe(raw, subkeyBytes, new Uint8Array(keyWords.buffer));
    return [cipher, Buffer.concat([Buffer.alloc(4), nonce.subarray(SUBKEY_NONCE_BYTES)])];
  };
  return {
    encrypt(nonce, plaintext, associatedData) {
      const [cipher, innerNonce] = inner(nonce);
      return cipher.encrypt(innerNonce, plaintext, associatedData);
    },
    decrypt(nonce, sealed, associatedData) {
      const [cipher, innerNonce] = inner(nonce);
      return cipher.decrypt(innerNonce, sealed, associatedData);
    },
  };
}

/**
 * XChaCha20-Poly1305: 192-bit nonces, which may be random for any number of messages. Supported by OpenBao, but not by
 * Vault.
 */
export const xchacha20Poly1305: KeyType<SecretKey> = {
  ...fixedSizeSecret('xchacha20-poly1305', { openbao: 11 }, XCHACHA_KEY_BYTES),
  aead: {
    nonceBytes: 24,
    // OpenSSL lacks only the subkey function; it is loaded when such a key is first used.
    cipher: async (key) => xchacha(key, (await import('@noble/ciphers/chacha.js')).hchacha),
  },
  derivation: symmetricDerivation(XCHACHA_KEY_BYTES),
};

/** Key size limits in bytes, the same as in Vault and OpenBao. */
const SIZE = { minimumBytes: 32, maximumBytes: 512 };

const fits = (length: number): boolean => length >= SIZE.minimumBytes && length <= SIZE.maximumBytes;

/** HMAC-only key of a chosen length. */
export const hmac: KeyType<SecretKey> = {
  ...secretKeyType('hmac', { openbao: 10, vault: 11 }, fits),
  size: SIZE,
  generate: (random, keyBytes) => ({ secret: encodeAndWipe(random.bytes(keyBytes)) }),
  hmacKeyOf: (stored) => stored.secret ?? '',
};
