import { type CofferError, invalid } from '../ground/errors.ts';
import type { SealedValue } from './value.ts';

/** Formats of files whose values can be encrypted individually. */
export const FORMAT_NAMES = ['dotenv', 'yaml', 'json'] as const;
export type FileFormatName = (typeof FORMAT_NAMES)[number];

/** Type of a scalar in its format. Everything in a `.env` file is a string. */
export type ScalarType = 'string' | 'number' | 'boolean' | 'null';

/** Scalar value in a file. Offsets count UTF-16 units of the file's text. */
export interface ScalarPlace {
  /**
   * Name of the value, which an encrypted value is bound to: its keys and list indexes, joined by dots (`db.password`,
   * `servers.0.key`); dots, `#` and backslashes in a key are escaped by a backslash. In a YAML file with several
   * documents, names of the second one start with `2#`. In a `.env` file, the name itself.
   */
  readonly name: string;
  /** Keys and indexes. */
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
  /**
   * Scalar as written, with its quotes: `text.slice(start, end)`. This is what is encrypted, so that decryption
   * restores it byte for byte.
   */
  readonly source: string;
  /** Meaning: the characters of a string, the source of any other type. */
  readonly text: string;
  readonly type: ScalarType;
  /** Parsed encrypted value; undefined for a value that is not encrypted. */
  readonly sealed: SealedValue | undefined;
  /**
   * Position that gives it a second name for some readers. In YAML: the first alias of the value, or of a node that
   * contains it, or a key with a tag; in a `.env` file: an earlier value that includes it for them.
   */
  readonly otherNameAt?: number;
}

/** Alias of YAML in the place of a value, which is not followed. */
export interface AliasPlace {
  /** As that of a value; for a merge key, it ends with `<<`. */
  readonly name: string;
  readonly path: readonly string[];
  readonly start: number;
}

/** Parsed file. Immutable; changes return a new text. */
export interface SecretFile {
  readonly format: FileFormatName;
  readonly text: string;
  /** In the order of the text. In a `.env` file, the last one of duplicate names wins. */
  readonly places: readonly ScalarPlace[];
  /** In the order of the text, if the format has any. */
  readonly aliases?: readonly AliasPlace[];
  /** Formats a string for a place, e.g. in quotes. An encrypted value is a string, too. */
  written(place: ScalarPlace, text: string): string;
  /**
   * Returns the text with an additional value, creating missing parents.
   * @param text a string
   * @throws `invalid` if the name is impossible
   */
  added(name: string, text: string): string;
  /**
   * Returns the text without a value and its name.
   * @throws `invalid` if other values would get another name
   */
  removed(place: ScalarPlace): string;
}

export interface FileFormat {
  readonly name: FileFormatName;
  /**
   * Parses a file.
   * @param file name for errors, before the line number
   * @throws `invalid` for a malformed file, a duplicate key, too much nesting, or an encrypted value with a second name
   */
  parse(text: string, file: string): SecretFile;
  /**
   * Returns the text as interpreted by readers with more line ending characters; undefined if there is no difference.
   */
  asOthersRead?(file: SecretFile): string | undefined;
}

/** Finds the place of a name: the last one, which wins. */
export const placeOf = (file: SecretFile, name: string): ScalarPlace | undefined =>
  file.places.findLast((place) => place.name === name);

/**
 * Returns a function that returns the line number, from 1, of an offset. For ascending offsets it scans each line once.
 */
export function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let lineEnd = text.indexOf('\n');
  let last = 0;
  return (offset) => {
    if (offset < last) return lineAt(text, offset);
    last = offset;
    for (; lineEnd >= 0 && lineEnd < offset; lineEnd = text.indexOf('\n', lineEnd + 1)) line++;
    return line;
  };
}

export const lineAt = (text: string, offset: number): number => lineCounter(text)(offset);

interface RefusedText {
  readonly text: string;
  readonly offset: number;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Creates an error with a position. */
export const refusedAt = (file: string, { text, offset, message, hint }: RefusedText): CofferError =>
  invalid(`${file}:${lineAt(text, offset)}: ${message}`, { hint });

/** Creates the error for a value that is or will be encrypted, and that some readers would read under another name. */
export const otherNameRefused = (
  format: FileFormatName,
  file: string,
  text: string,
  { name, otherNameAt = 0 }: ScalarPlace,
): CofferError =>
  refusedAt(file, {
    text,
    offset: otherNameAt,
    ...(format === 'dotenv' ? inOtherValue(name) : text[otherNameAt] === '*' ? aliased(name) : tagged(name)),
  });

const inOtherValue = (name: string) => ({
  message: `some programs read ${name} as part of the value that begins here, so ${name} cannot be encrypted on its own`,
  hint: 'close each quote on the line where it begins, put no backslash before a quote or at the end of a line, and no spaces after "=" at the end of a line',
});
const aliased = (name: string) => ({
  message: `this is an alias of ${name}: an encrypted value can have only one name`,
  hint: 'replace the alias with a separate value',
});
const tagged = (name: string) => ({
  message: `some programs read ${name} under another name, because of a YAML tag: an encrypted value can have only one name`,
  hint: 'remove the tag, which begins with !',
});

/** Formats the name of keys: `db.password`. */
export const nameOf = (path: readonly string[]): string =>
  path.map((key) => key.replace(/[\\.#]/g, '\\$&')).join('.');

/** Parses a name of `nameOf` into its keys, without the number of a document. */
export function pathOf(name: string): readonly string[] {
  const keys = [''];
  for (const [part, escaped] of name.replace(/^\d+#/, '').matchAll(/\\(.)|[^\\]|\\$/gs)) {
    if (part === '.') keys.push('');
    else keys[keys.length - 1] += escaped ?? part;
  }
  return keys;
}

/** Message for merge conflicts, behind the place. */
export const UNRESOLVED = 'unresolved merge conflict';

const CONFLICT = /^<{7}(?: |\r?$)/m;

/**
 * Refuses merge conflicts.
 * @throws `invalid` if there are conflict markers, which no format recognizes
 */
export function refuseConflicts(text: string, file: string): void {
  const found = text.includes('<<<<<<<') ? CONFLICT.exec(text) : null;
  if (found !== null && /^>{7}(?: |\r?$)/m.test(text))
    throw refusedAt(file, {
      text,
      offset: found.index,
      message: UNRESOLVED,
      hint: 'keep one of the sides, or parts of both, and delete the lines with the markers',
    });
}
