import { isRegularFile, isThere } from '../ground/directories.ts';
import { KEY_NAME } from '../transit/key-document.ts';
import { isCiphertext } from './files/beginning.ts';
import { STANDARD } from './files/input.ts';
import { isNamedAsSignature, signedFileOf } from './signatures/naming.ts';

/** What was meant by the words of a command line that names no key to sign or to verify with. */
interface MeantWords {
  readonly words: readonly string[];
  /** Key, if one of the words is no file. */
  readonly key?: string | undefined;
  /** What is wrong with the words as they were typed. */
  readonly why: string;
}

const isFile = (word: string): boolean => word === STANDARD || isRegularFile(word);

/**
 * Finds the word, at any place, that names a key, because all others are files.
 * @returns undefined if that is uncertain
 */
export function keyAmongFiles(words: readonly string[]): MeantWords | undefined {
  const files = words.filter(isFile);
  const [key, ...others] = words.filter((word) => !isFile(word));
  if (key === undefined || others.length > 0 || files.length === 0) return undefined;
  if (!KEY_NAME.test(key) || isThere(key) || isNamedAsSignature(key)) return undefined;
  return { words: files, key, why: `no file ${key}; for a key with this name, use --key` };
}

/**
 * Finds out what was meant by FILE and SIGNATURE: with gpg the signature comes first, and may be alone.
 * @param isText whether a word is itself a signature
 * @returns undefined if they are in their places
 */
export function meantToVerify(
  [first = '', second]: readonly string[],
  isText: (word: string) => boolean,
): MeantWords | undefined {
  const why = 'the file comes first, then its signature';
  if (second === undefined) {
    const signed = signedFileOf(first);
    return signed === undefined ? undefined : { words: [signed], why };
  }
  const gone = [first, second].find((word) => isNamedAsSignature(word) && !isThere(word));
  const [there] = [first, second].filter(isRegularFile);
  if (gone !== undefined && there !== undefined)
    return { words: [there, gone], why: gone === second ? `no file ${gone}` : `no file ${gone}, and ${why}` };
  const isSignature = (word: string): boolean =>
    isText(word) || (isRegularFile(word) && (isNamedAsSignature(word) || isCiphertext(word)));
  if (isSignature(first) && !isSignature(second) && isFile(second)) return { words: [second, first], why };
  const named = isText(second) ? undefined : keyAmongFiles([first, second]);
  return named && { ...named, words: named.words.map((file) => signedFileOf(file) ?? file) };
}
