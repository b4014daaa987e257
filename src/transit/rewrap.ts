import { wipe } from '../ground/bytes.ts';
import { denied } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { eachItem, type ItemResult, requireItems, requireUniformContext } from './batch.ts';
import { decodeContext } from './context-keys.ts';
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

/** What the new ciphertext is bound to, where it is another one than of the old: base64, empty for none. */
export interface ReencryptItem extends RewrapItem {
  readonly encryptContext?: string | undefined;
  readonly encryptAssociatedData?: string | undefined;
  readonly encryptNonce?: string | undefined;
}

const NO_KEY = 'encryption key not found';

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
  const key = await rotatedWhenDue(engine, await requireKey(engine, name, NO_KEY));
  return encryptedAgain(engine, key, key, items);
}

/** Names of keys, from which one and with which. */
export interface ReencryptKeys {
  readonly source: string;
  readonly destination: string;
  /** Whoever asks may decrypt with the source, and so may tell which plaintexts are equal. */
  readonly isComparable: boolean;
}

/**
 * Encrypts with one key what a ciphertext of another one holds, as `rewrap` does with one key. Whether the caller may is for
 * others to say.
 * @throws `not-found` for either key; `invalid` for what concerns the whole call; `denied` for a convergent destination, of which who can
 * encrypt a guess sees whether it is right, if nothing is to be compared.
 * @see docs/decisions/0302
 */
export async function reencrypt(
  engine: Engine,
  { source, destination, isComparable }: ReencryptKeys,
  items: readonly ReencryptItem[],
): Promise<ItemResult<Encrypted>[]> {
  requireItems(items);
  requireUniformContext(engine, items);
  const from = await requireKey(engine, source, NO_KEY);
  const found = await requireKey(engine, destination, NO_KEY);
  if (found.document.convergentEncryption && !isComparable) {
    throw denied(ownWords('permission denied'), {
      field: 'destination',
      hint: `${destination} is convergent: its ciphertexts tell which plaintexts are equal, so it takes update on decrypt/${source}`,
    });
  }
  const into = await rotatedWhenDue(engine, found);
  return encryptedAgain(engine, from, into, items);
}

function encryptedAgain(
  engine: Engine,
  from: NamedKey,
  into: NamedKey,
  items: readonly ReencryptItem[],
): Promise<ItemResult<Encrypted>[]> {
  const reader = new KeyCipher(engine, from);
  const writer = from === into ? reader : new KeyCipher(engine, into);
  return eachItem(items, (item, index) => {
    requirePaddingScheme(from, item.decryptPaddingScheme, 'decrypt_padding_scheme', index);
    requirePaddingScheme(into, item.encryptPaddingScheme, 'encrypt_padding_scheme', index);
    const newHash = oaepHashOf(into, item.encryptHashAlgorithm, 'encrypt_hash_algorithm');
    const oldHash = oaepHashOf(from, item.decryptHashAlgorithm, 'decrypt_hash_algorithm');
    const request = decryptRequest(item);
    const { encryptContext, encryptAssociatedData, encryptNonce } = item;
    const context =
      encryptContext === undefined ? request.context : decodeContext(encryptContext, 'encrypt_context');
    const associatedData = encryptAssociatedData ?? request.associatedData;
    const plaintext = reader.decrypt({ ...request, oaepHash: oldHash }, index);
    const keyVersion = item.keyVersion ?? LATEST;
    const again = (bytes: Buffer): MaybePromise<Encrypted> => {
      const nonce = encryptNonce ?? (takesNonce(into, keyVersion) ? request.nonce : undefined);
      let encrypted: MaybePromise<Encrypted> | undefined;
      try {
        const inputs = { context, associatedData, nonce, keyVersion, oaepHash: newHash };
        encrypted = writer.encrypt({ plaintext: bytes, ...inputs }, index);
      } finally {
        if (!(encrypted instanceof Promise)) wipe(bytes);
      }
      return encrypted instanceof Promise ? encrypted.finally(() => wipe(bytes)) : encrypted;
    };
    return plaintext instanceof Promise ? plaintext.then(again) : again(plaintext);
  });
}

/** A nonce was given for reading; it is for writing too only where the new version needs one. */
const takesNonce = (key: NamedKey, keyVersion: number): boolean =>
  convergentVersionOf(key.document, versionToWriteWith(key, keyVersion, 'encryption').document) === 1;
