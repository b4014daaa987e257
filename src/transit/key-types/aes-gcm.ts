import type { CipherGCMTypes } from 'node:crypto';
import { KDF_COUNTER, KDF_HKDF, type Kdf, type KeyType } from './key-type.ts';
import { nodeAead } from './node-aead.ts';
import {
  fixedSizeSecret,
  readRawBackup,
  type SecretKey,
  symmetricDerivation,
  writeRawBackup,
} from './secret-key.ts';

const REFUSAL = 'cipher: message authentication failed';

/** AES in Galois/Counter Mode (NIST SP 800-38D) with 96-bit nonces and 128-bit tags. */
function aesGcmType(
  name: string,
  backupNumber: number,
  algorithm: CipherGCMTypes,
  keyBytes: number,
  kdfs: readonly Kdf[],
): KeyType<SecretKey> {
  return {
    ...fixedSizeSecret(name, keyBytes),
    aead: { nonceBytes: 12, cipher: (key) => nodeAead(algorithm, key, REFUSAL) },
    derivation: symmetricDerivation(keyBytes, kdfs),
    backup: {
      openbao: backupNumber,
      vault: backupNumber,
      read: (entry) => readRawBackup(name, entry, (length) => length === keyBytes),
      write: writeRawBackup,
    },
  };
}

export const aesGcm = [
  aesGcmType('aes128-gcm96', 8, 'aes-128-gcm', 16, [KDF_HKDF]),
  aesGcmType('aes256-gcm96', 0, 'aes-256-gcm', 32, [KDF_COUNTER, KDF_HKDF]),
];
