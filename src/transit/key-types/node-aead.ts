import {
  type CipherChaCha20Poly1305Types,
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
} from 'node:crypto';
import { inauthentic } from '../../ground/errors.ts';
import type { AeadCipher } from './key-type.ts';
import type { SecretKey } from './secret-key.ts';

/** Bytes of the tag of every AEAD here. A decipher that is not told so would take shorter ones, which can be forged. */
export const TAG_BYTES = 16;

const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** OpenSSL's names; the declarations of Node give the two kinds separate but equal overloads. */
export type NodeAeadName = CipherGCMTypes | CipherChaCha20Poly1305Types;

/**
 * An AEAD of `node:crypto` under one key.
 * @param refusal what a decryption that fails says.
 */
export function nodeAead(name: NodeAeadName, key: SecretKey, refusal: string): AeadCipher {
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
      const tagStart = sealed.length - TAG_BYTES;
      if (tagStart < 0) throw notAuthentic(refusal);
      const decipher = createDecipheriv(algorithm, key, nonce, OPTIONS);
      decipher.setAuthTag(sealed.subarray(tagStart));
      if (associatedData !== undefined) decipher.setAAD(associatedData);
      const plaintext = decipher.update(sealed.subarray(0, tagStart));
      try {
        decipher.final();
      } catch {
        plaintext.fill(0);
        throw notAuthentic(refusal);
      }
      return plaintext;
    },
  };
}

/** The one refusal of a ciphertext that was altered, or made with another key or other associated data. */
export const notAuthentic = (refusal: string) =>
  inauthentic(refusal, {
    field: 'ciphertext',
    hint: 'it was altered, or made with another key, context or associated data',
  });
