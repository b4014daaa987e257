import { createSecretKey } from 'node:crypto';
import { wipe } from '../../ground/bytes.ts';
import { type AeadCipher, KDF_COUNTER, KDF_HKDF, type KeyType } from './key-type.ts';
import { nodeAead } from './node-aead.ts';
import { bytesOf, fixedSizeSecret, type SecretKey, symmetricDerivation } from './secret-key.ts';

const NAME = 'xchacha20-poly1305';
const KEY_BYTES = 32;
const NONCE_BYTES = 24;
/** Nonce bytes that derive the subkey; the rest is the nonce of ChaCha20-Poly1305, after four zero bytes. */
const SUBKEY_NONCE_BYTES = 16;
const OPENBAO_NUMBER = 11;
const REFUSAL = 'chacha20poly1305: message authentication failed';

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
    const subkey = emptyWords(KEY_BYTES);
    hchacha(CONSTANTS, keyWords, words(nonce.subarray(0, SUBKEY_NONCE_BYTES)), subkey);
    const subkeyBytes = new Uint8Array(subkey.buffer);
    const cipher = nodeAead('chacha20-poly1305', createSecretKey(subkeyBytes), REFUSAL);
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
  ...fixedSizeSecret(NAME, { openbao: OPENBAO_NUMBER }, KEY_BYTES),
  aead: {
    nonceBytes: NONCE_BYTES,
    // OpenSSL lacks only the subkey function; it is loaded when such a key is first used.
    cipher: async (key) => xchacha(key, (await import('@noble/ciphers/chacha.js')).hchacha),
  },
  derivation: symmetricDerivation(KEY_BYTES, [KDF_COUNTER, KDF_HKDF]),
};
