import { invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { type BatchItem, eachItem, type ItemResult, requireItems, requireUniformContext } from './batch.ts';
import { decodeContext } from './context-keys.ts';
import type { Engine } from './engine.ts';
import { type DecryptRequest, KeyCipher, oaepHashOf, requirePaddingScheme } from './key-cipher.ts';
import { requireKey } from './key-collection.ts';

/** A ciphertext as a caller gives it; the other texts are base64. */
export interface DecryptItem extends BatchItem {
  readonly ciphertext?: string | undefined;
  readonly context?: string | undefined;
  readonly associatedData?: string | undefined;
  /** For convergent keys of version 1 alone; others ignore it, as old clients send it always. */
  readonly nonce?: string | undefined;
  /** For RSA. */
  readonly paddingScheme?: string | undefined;
  /** For RSA. */
  readonly hashAlgorithm?: string | undefined;
}

/**
 * Decrypts; the results are in the order of the items, and each belongs to the caller, who may overwrite it.
 * @throws `not-found`; `invalid` for what concerns the whole call.
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

/** @throws `invalid` without a ciphertext, or for a context that is not base64. */
export function decryptRequest({ ciphertext, context, associatedData, nonce }: DecryptItem): DecryptRequest {
  if (ciphertext === undefined || ciphertext === '') {
    throw invalid(ownWords('missing ciphertext to decrypt'), {
      field: 'ciphertext',
      hint: 'give what encrypt answered',
    });
  }
  return { ciphertext, context: decodeContext(context), associatedData, nonce };
}
