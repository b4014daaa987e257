import { wipe } from '../ground/bytes.ts';
import { eachItem, type ItemResult, requireItems, requireUniformContext } from './batch.ts';
import { convergentVersionOf } from './convergent.ts';
import { type DecryptItem, decryptRequest } from './decrypt.ts';
import type { Engine } from './engine.ts';
import { type Encrypted, KeyCipher, oaepHashOf, requirePaddingScheme } from './key-cipher.ts';
import { requireKey } from './key-collection.ts';
import type { MaybePromise } from './key-types/key-type.ts';
import type { NamedKey } from './named-key.ts';
import { rotatedWhenDue } from './rotation.ts';
import { LATEST, versionToWriteWith } from './version-choice.ts';

export interface RewrapItem extends Omit<DecryptItem, 'paddingScheme' | 'hashAlgorithm'> {
  /** Version of the new ciphertext; 0 or absent for the latest. */
  readonly keyVersion?: number;
  /** For RSA: that of the old ciphertext. */
  readonly decryptPaddingScheme?: string | undefined;
  /** For RSA: that of the new one. */
  readonly encryptPaddingScheme?: string | undefined;
  /** For RSA: that of the old padding, and of the new one. */
  readonly decryptHashAlgorithm?: string | undefined;
  readonly encryptHashAlgorithm?: string | undefined;
}

/**
 * Encrypts afresh, with the latest version unless told otherwise, what a ciphertext holds; the plaintext is never given
 * out. Associated data go into the new ciphertext as they were in the old one.
 * @throws `not-found`; `invalid` for what concerns the whole call.
 */
export async function rewrap(
  engine: Engine,
  name: string,
  items: readonly RewrapItem[],
): Promise<ItemResult<Encrypted>[]> {
  requireItems(items);
  requireUniformContext(engine, items);
  const found = await requireKey(engine, name, 'encryption key not found');
  const key = await rotatedWhenDue(engine, found);
  const cipher = new KeyCipher(engine, key);
  return eachItem(items, (item, index) => {
    requirePaddingScheme(key, item.decryptPaddingScheme, 'decrypt_padding_scheme', index);
    requirePaddingScheme(key, item.encryptPaddingScheme, 'encrypt_padding_scheme', index);
    const newHash = oaepHashOf(key, item.encryptHashAlgorithm, 'encrypt_hash_algorithm');
    const oldHash = oaepHashOf(key, item.decryptHashAlgorithm, 'decrypt_hash_algorithm');
    const request = { ...decryptRequest(item), oaepHash: oldHash };
    const plaintext = cipher.decrypt(request, index);
    const keyVersion = item.keyVersion ?? LATEST;
    const again = (bytes: Buffer): MaybePromise<Encrypted> => {
      const nonce = takesNonce(key, keyVersion) ? request.nonce : undefined;
      const { context, associatedData } = request;
      const encrypted = cipher.encrypt(
        { plaintext: bytes, context, associatedData, nonce, keyVersion, oaepHash: newHash },
        index,
      );
      if (encrypted instanceof Promise) return encrypted.finally(() => wipe(bytes));
      wipe(bytes);
      return encrypted;
    };
    return plaintext instanceof Promise ? plaintext.then(again) : again(plaintext);
  });
}

/** A nonce was given for reading; it is for writing too only where the new version needs one. */
const takesNonce = (key: NamedKey, keyVersion: number): boolean =>
  convergentVersionOf(key.document, versionToWriteWith(key, keyVersion, 'encryption').document) === 1;
