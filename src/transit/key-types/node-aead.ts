import {
  type CipherChaCha20Poly1305Types,
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  type KeyObject,
} from 'node:crypto';
import { authenticated, TAG_BYTES } from '../../ground/bytes.ts';
import { inauthentic } from '../../ground/errors.ts';
import type { AeadCipher } from './key-type.ts';

const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** OpenSSL's names; Node's declarations have separate but equal overloads for the two kinds. */
export type NodeAeadName = CipherGCMTypes | CipherChaCha20Poly1305Types;

/**
 * Creates an AEAD of `node:crypto` under one key.
 * @param refusal message of a failed decryption
 */
export function nodeAead(name: NodeAeadName, key: KeyObject, refusal: string): AeadCipher {
  const algorithm = name as CipherGCMTypes;
  return {
    encrypt(nonce, plaintext, associatedData) {
      const cipher = createCipheriv(algorithm, key, nonce, OPTIONS);
      if (associatedData !== undefined) cipher.setAAD(associatedData);
      const ciphertext = cipher.update(plaintext);
      cipher.final();
      return [ciphertext, cipher.getAuthTag()];
    },
    decrypt(nonce, sealed, associatedData) {
      const decipher = createDecipheriv(algorithm, key, nonce, OPTIONS);
      if (associatedData !== undefined) decipher.setAAD(associatedData);
      const plaintext = authenticated(decipher, sealed);
      if (plaintext === undefined) throw notAuthentic(refusal);
      return plaintext;
    },
  };
}

/** Creates the error for a ciphertext that was altered, or made with another key or other associated data. */
export const notAuthentic = (refusal: string) =>
  inauthentic(refusal, {
    field: 'ciphertext',
    hint: 'the ciphertext was modified, or encrypted with another key, context or associated data',
  });
