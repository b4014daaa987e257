import { createSecretKey, type KeyObject } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wiping } from '../../ground/bytes.ts';
import { invalid, ownWords } from '../../ground/errors.ts';
import type { Random } from '../../ground/random.ts';
import {
  type BackupForm,
  type BackupMaterial,
  type Derivation,
  type ExportFormat,
  type Importing,
  KDF_COUNTER,
  KDF_HKDF,
  type StoredMaterial,
} from './key-type.ts';

/** Material of every symmetric type. */
export type SecretKey = KeyObject;

/** Returns a copy of the raw bytes, which the caller overwrites. */
export const bytesOf = (key: SecretKey): Buffer => key.export();

const openSecretKey = (stored: StoredMaterial): SecretKey =>
  wiping(Buffer.from(stored.secret ?? '', 'base64'), (bytes) => createSecretKey(bytes));

/**
 * Common members of all symmetric types.
 * @param fits whether a key may have this length
 */
export const secretKeyType = (
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
export const fixedSizeSecret = (
  name: string,
  numbers: Pick<BackupForm, 'openbao' | 'vault'>,
  keyBytes: number,
) => ({
  ...secretKeyType(name, numbers, (length) => length === keyBytes),
  generate: (random: Random) => ({ secret: encodeAndWipe(random.bytes(keyBytes)) }),
});

/** Derivation of symmetric keys; the counter mode only derives 32 bytes. */
export const symmetricDerivation = (keyBytes: number): Derivation<SecretKey> => ({
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
