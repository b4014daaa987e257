import { createSecretKey, type KeyObject } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import type { Random } from '../../ground/random.ts';
import type {
  BackupForm,
  BackupMaterial,
  Derivation,
  ExportFormat,
  Importing,
  Kdf,
  StoredMaterial,
} from './key-type.ts';

/** The material of every symmetric type. */
export type SecretKey = KeyObject;

/** Copies the bytes into a key object; the copy given is overwritten. */
function secretKeyFrom(bytes: Buffer): SecretKey {
  const key = createSecretKey(bytes);
  wipe(bytes);
  return key;
}

/** A copy of the raw bytes, for the caller to overwrite. */
export const bytesOf = (key: SecretKey): Buffer => key.export();

const openSecretKey = (stored: StoredMaterial): SecretKey =>
  secretKeyFrom(Buffer.from(stored.secret ?? '', 'base64'));

/** What all symmetric types have in common. @param fits whether a key may have so many bytes. */
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

/** Those whose keys have one fixed length. */
export const fixedSizeSecret = (
  name: string,
  numbers: Pick<BackupForm, 'openbao' | 'vault'>,
  keyBytes: number,
) => ({
  ...secretKeyType(name, numbers, (length) => length === keyBytes),
  generate: (random: Random) => ({ secret: encodeAndWipe(random.bytes(keyBytes)) }),
});

/** Derived keys of a symmetric type. */
export const symmetricDerivation = (keyBytes: number, kdfs: readonly Kdf[]): Derivation<SecretKey> => ({
  kdfs,
  keyBytes,
  inputKey: bytesOf,
  materialOf: (derivedKey) => createSecretKey(derivedKey),
});

/** Base64 of a secret that nobody needs as bytes any more. */
export function encodeAndWipe(bytes: Buffer): string {
  const text = encodeBase64(bytes);
  wipe(bytes);
  return text;
}

/** Raw key bytes as `export` prints them. The text of the refusal is that of peers, for all symmetric keys. */
function exportRaw(key: SecretKey, format: ExportFormat): string {
  if (format !== '' && format !== 'raw') {
    throw invalid(ownWords('unknown format for HMAC key; supported values are `` or `raw`'), {
      field: 'format',
      hint: 'leave the format out: the key is printed as base64',
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

/** The `key` of a backup's entry, checked by length. @throws `invalid` when it is missing or does not fit. */
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
