import { invalid, ownWords } from '../ground/errors.ts';
import { type CipherItem, eachItem, type ItemResult, requireItems, requireUniformContext } from './batch.ts';
import { decodeContext } from './context-keys.ts';
import type { Engine } from './engine.ts';
import { type DecryptRequest, KeyCipher, oaepHashOf, requirePaddingScheme } from './key-cipher.ts';
import { requireKey } from './named-key.ts';

export interface DecryptItem extends CipherItem {
  readonly ciphertext?: string | undefined;
}

/**
 * Decrypts items; results are in the order of the items, and each belongs to the caller, who may overwrite it.
 * @throws `not-found`; `invalid` for errors that affect the whole call
 */
export async function decrypt(
  engine: Engine,
  name: string,
  items: readonly DecryptItem[],
): Promise<ItemResult<Buffer>[]> {
  requireItems(items);
  requireUniformContext(engine, items);
  const key = await requireKey(engine, name, 'encryption key not found');
  const cipher = new KeyCipher(engine, key);
  return eachItem(items, (item, index) => {
    requirePaddingScheme(key, item.paddingScheme, 'padding_scheme', index);
    const oaepHash = oaepHashOf(key, item.hashAlgorithm, 'hash_algorithm');
    return cipher.decrypt({ ...decryptRequest(item), oaepHash }, index);
  });
}

/**
 * Validates an item.
 * @throws `invalid` without a ciphertext, or if the context is not base64
 */
export function decryptRequest({ ciphertext, context, associatedData, nonce }: DecryptItem): DecryptRequest {
  if (ciphertext === undefined || ciphertext === '') {
    throw invalid(ownWords('missing ciphertext to decrypt'), {
      field: 'ciphertext',
      hint: 'use the output of "coffer transit encrypt NAME"',
    });
  }
  return { ciphertext, context: decodeContext(context), associatedData, nonce };
}
