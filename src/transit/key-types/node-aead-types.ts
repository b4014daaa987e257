import { KDF_COUNTER, KDF_HKDF, type Kdf, type KeyType } from './key-type.ts';
import { type NodeAeadName, nodeAead } from './node-aead.ts';
import { fixedSizeSecret, type SecretKey, symmetricDerivation } from './secret-key.ts';

/**
 * Creates a type whose cipher `node:crypto` has: 96-bit nonces and 128-bit tags.
 * @param number the same in Vault and OpenBao
 */
function nodeAeadType(
  name: string,
  number: number,
  algorithm: NodeAeadName,
  keyBytes: number,
  kdfs: readonly Kdf[],
  refusal: string,
): KeyType<SecretKey> {
  return {
    ...fixedSizeSecret(name, { openbao: number, vault: number }, keyBytes),
    aead: { nonceBytes: 12, cipher: (key) => nodeAead(algorithm, key, refusal) },
    derivation: symmetricDerivation(keyBytes, kdfs),
  };
}

const BOTH_KDFS: readonly Kdf[] = [KDF_COUNTER, KDF_HKDF];
const GCM_REFUSAL = 'cipher: message authentication failed';
const CHACHA = 'chacha20-poly1305';
const CHACHA_REFUSAL = 'chacha20poly1305: message authentication failed';

/** AES in Galois/Counter Mode (NIST SP 800-38D); ChaCha20 and Poly1305 as in RFC 8439. */
export const nodeAeads = [
  nodeAeadType('aes128-gcm96', 8, 'aes-128-gcm', 16, [KDF_HKDF], GCM_REFUSAL),
  nodeAeadType('aes256-gcm96', 0, 'aes-256-gcm', 32, BOTH_KDFS, GCM_REFUSAL),
  nodeAeadType(CHACHA, 5, CHACHA, 32, BOTH_KDFS, CHACHA_REFUSAL),
];
