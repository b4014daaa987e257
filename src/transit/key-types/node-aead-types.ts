import { type DerivationMode, KDF_COUNTER, KDF_HKDF, type KeyType } from './key-type.ts';
import { type NodeAeadName, nodeAead } from './node-aead.ts';
import { fixedSizeSecret, type SecretKey, symmetricDerivation } from './secret-key.ts';

interface NodeAeadType {
  readonly name: string;
  readonly number: number;
  readonly algorithm: NodeAeadName;
  readonly keyBytes: number;
  readonly kdfs: readonly DerivationMode[];
  readonly refusal: string;
}

/**
 * Creates a type whose cipher `node:crypto` has: 96-bit nonces and 128-bit tags.
 * @param number the same in Vault and OpenBao
 */
function nodeAeadType({
  name,
  number,
  algorithm,
  keyBytes,
  kdfs,
  refusal,
}: NodeAeadType): KeyType<SecretKey> {
  return {
    ...fixedSizeSecret(name, { openbao: number, vault: number }, keyBytes),
    aead: { nonceBytes: 12, cipher: (key) => nodeAead(algorithm, key, refusal) },
    derivation: symmetricDerivation(keyBytes, kdfs),
  };
}

const BOTH_KDFS: readonly DerivationMode[] = [KDF_COUNTER, KDF_HKDF];
const GCM_REFUSAL = 'cipher: message authentication failed';
const CHACHA = 'chacha20-poly1305';
const CHACHA_REFUSAL = 'chacha20poly1305: message authentication failed';

/** AES in Galois/Counter Mode (NIST SP 800-38D); ChaCha20 and Poly1305 as in RFC 8439. */
export const nodeAeads = [
  nodeAeadType({
    name: 'aes128-gcm96',
    number: 8,
    algorithm: 'aes-128-gcm',
    keyBytes: 16,
    kdfs: [KDF_HKDF],
    refusal: GCM_REFUSAL,
  }),
  nodeAeadType({
    name: 'aes256-gcm96',
    number: 0,
    algorithm: 'aes-256-gcm',
    keyBytes: 32,
    kdfs: BOTH_KDFS,
    refusal: GCM_REFUSAL,
  }),
  nodeAeadType({
    name: CHACHA,
    number: 5,
    algorithm: CHACHA,
    keyBytes: 32,
    kdfs: BOTH_KDFS,
    refusal: CHACHA_REFUSAL,
  }),
];
