import { KDF_COUNTER, KDF_HKDF, type KeyType } from './key-type.ts';
import { nodeAead } from './node-aead.ts';
import {
  fixedSizeSecret,
  readRawBackup,
  type SecretKey,
  symmetricDerivation,
  writeRawBackup,
} from './secret-key.ts';

const NAME = 'chacha20-poly1305';
const KEY_BYTES = 32;
const BACKUP_NUMBER = 5;

/** ChaCha20 and Poly1305 as in RFC 8439, with 96-bit nonces. */
export const chacha20Poly1305: KeyType<SecretKey> = {
  ...fixedSizeSecret(NAME, KEY_BYTES),
  aead: {
    nonceBytes: 12,
    cipher: (key) => nodeAead(NAME, key, 'chacha20poly1305: message authentication failed'),
  },
  derivation: symmetricDerivation(KEY_BYTES, [KDF_COUNTER, KDF_HKDF]),
  backup: {
    openbao: BACKUP_NUMBER,
    vault: BACKUP_NUMBER,
    read: (entry) => readRawBackup(NAME, entry, (length) => length === KEY_BYTES),
    write: writeRawBackup,
  },
};
