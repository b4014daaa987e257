import { wipe } from '../ground/bytes.ts';
import { denied, ownWords } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import { eachItem, type ItemResult, requireItems, requireUniformContext } from './batch.ts';
import { convergentVersionOf, decodeContext } from './context-keys.ts';
import { type DecryptItem, decryptRequest } from './decrypt.ts';
import type { Engine } from './engine.ts';
import { type Encrypted, KeyCipher, oaepHashOf, requirePaddingScheme } from './key-cipher.ts';
import { type NamedKey, requireKey } from './named-key.ts';
import { rotatedWhenDue } from './rotation.ts';
import { LATEST, versionToWriteWith } from './version-choice.ts';

interface RewrapItem extends Omit<DecryptItem, 'paddingScheme' | 'hashAlgorithm'> {
  /** Version of the new ciphertext; 0 or absent for the latest. */
  readonly keyVersion?: number;
  /** RSA padding of the old ciphertext. */
  readonly decryptPaddingScheme?: string | undefined;
  /** RSA padding of the new ciphertext. */
  readonly encryptPaddingScheme?: string | undefined;
  /** Hashes of the old and the new RSA padding. */
  readonly decryptHashAlgorithm?: string | undefined;
  readonly encryptHashAlgorithm?: string | undefined;
}

/** Inputs that bind the new ciphertext, if they differ from those of the old one: base64, empty for none. */
interface ReencryptItem extends RewrapItem {
  readonly encryptContext?: string | undefined;
  readonly encryptAssociatedData?: string | undefined;
  readonly encryptNonce?: string | undefined;
}

const NO_KEY = 'encryption key not found';

/**
 * Decrypts and encrypts again, by default with the latest version, without revealing the plaintext. Associated data
 * stays the same.
 * @throws `not-found`; `invalid` for errors that affect the whole call
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

/** Names of the source and destination keys. */
interface ReencryptKeys {
  readonly source: string;
  readonly destination: string;
  /** Whether the caller may decrypt with the source, and so can already compare plaintexts. */
  readonly isComparable: boolean;
}

/**
 * Encrypts the content of one key's ciphertext with another key, like `rewrap` does with one key. The caller checks
 * permissions.
 * @throws `not-found` for either key; `invalid` for errors that affect the whole call; `denied` for a convergent
 * destination unless `isComparable`: anyone who can encrypt a guess with it would see whether the guess is right
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
      hint: `the token needs "update" on decrypt/${source}: ${destination} is a convergent key, whose ciphertexts show which plaintexts are equal`,
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

/** Whether the nonce given for decryption is also needed for encryption. */
const takesNonce = (key: NamedKey, keyVersion: number): boolean =>
  convergentVersionOf(key.document, versionToWriteWith(key, keyVersion, 'encryption').document) === 1;
