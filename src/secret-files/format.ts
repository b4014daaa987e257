import { type CofferError, invalid } from '../ground/errors.ts';
import type { SealedValue } from './value.ts';

/** The formats of files in which values can be encrypted one by one. */
export const FORMAT_NAMES = ['dotenv', 'yaml', 'json'] as const;
export type FormatName = (typeof FORMAT_NAMES)[number];

/** What a scalar is in its format. Everything in a `.env` is a string. */
export type ScalarType = 'string' | 'number' | 'boolean' | 'null';

/** A scalar value in a file. Offsets count UTF-16 units of the file's text. */
export interface Place {
  /**
   * What the value is called, and what an encrypted one is bound to: its keys and list indexes, joined by dots (`db.password`,
   * `servers.0.key`); dots, `#` and backslashes in a key stand behind a backslash. In a YAML file of several documents those of the second
   * start with `2#`. In a `.env`, the name as it is.
   */
  readonly name: string;
  /** The keys and indexes alone. */
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
  /** The scalar as it is written, with its quotes: `text.slice(start, end)`. What is encrypted, so that it comes back byte for byte. */
  readonly source: string;
  /** What it means: of a string its characters, of everything else its source. */
  readonly text: string;
  readonly type: ScalarType;
  /** Undefined for a value that is not encrypted. */
  readonly sealed: SealedValue | undefined;
  /**
   * Where it gets a second name for some readers. In YAML: where the first alias of the value stands, or of something that contains it, or a key
   * with a tag; in a `.env`: where a value begins that goes on over it for them.
   */
  readonly otherNameAt?: number;
}

/** A file taken apart. It never changes; what changes it gives a new text. */
export interface SecretFile {
  readonly format: FormatName;
  readonly text: string;
  /** In the order of the text. In a `.env` a name may come twice: the last one wins. */
  readonly places: readonly Place[];
  /** How a string is to be written at a place, e.g. in quotes. An encrypted value is a string, too. */
  written(place: Place, text: string): string;
  /**
   * The text with a value that was not there, below parents that are made where they are missing.
   * @param text a string.
   * @throws `invalid` when there can be none of that name.
   */
  added(name: string, text: string): string;
  /** The text without a value and its name. @throws `invalid` when others would get another name by it. */
  removed(place: Place): string;
}

export interface Format {
  readonly name: FormatName;
  /**
   * @param file what errors call it, before the number of the line.
   * @throws `invalid` for what is not of the format, has a key twice, is nested too deeply, or has an encrypted value with a second name.
   */
  parse(text: string, file: string): SecretFile;
  /** The text as readers take it for whom more characters end a line; undefined where that makes no difference. */
  asOthersRead?(file: SecretFile): string | undefined;
}

/** The place of a name: of several the last one, which wins. */
export const placeOf = (file: SecretFile, name: string): Place | undefined =>
  file.places.findLast((place) => place.name === name);

/** Tells the number of the line, from 1, at an offset. Asked in the order of the text, it looks at each line once. */
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

/** A refusal that says where. */
export const refusedAt = (
  file: string,
  text: string,
  offset: number,
  message: string,
  hint?: string,
): CofferError => invalid(`${file}:${lineAt(text, offset)}: ${message}`, { hint });

/** A refusal of a value that is encrypted, or is to be, and that some would read under another name. */
export const otherNameRefused = (
  format: FormatName,
  file: string,
  text: string,
  { name, otherNameAt = 0 }: Place,
): CofferError =>
  format === 'dotenv'
    ? refusedAt(
        file,
        text,
        otherNameAt,
        `for some readers the value that begins here goes on over ${name}, which is encrypted or is to be`,
        'close its quote on its line, with no backslash before it or at the end of a line, and leave no blank behind a last "="',
      )
    : text[otherNameAt] === '*'
      ? refusedAt(
          file,
          text,
          otherNameAt,
          `an alias of ${name} stands here, and an encrypted value has one name`,
          'write a value of its own in place of the alias',
        )
      : refusedAt(
          file,
          text,
          otherNameAt,
          `a tag has some readers call ${name} otherwise, which is encrypted or is to be`,
          'leave the tag out',
        );

/** `db.password` of its keys. */
export const nameOf = (path: readonly string[]): string =>
  path.map((key) => key.replace(/[\\.#]/g, '\\$&')).join('.');

/** The keys of a name, as `nameOf` wrote it, without the number of a document. */
export function pathOf(name: string): readonly string[] {
  const keys = [''];
  for (const [part, escaped] of name.replace(/^\d+#/, '').matchAll(/\\(.)|[^\\]|\\$/gs)) {
    if (part === '.') keys.push('');
    else keys[keys.length - 1] += escaped ?? part;
  }
  return keys;
}

const CONFLICT = /^<{7}(?: |\r?$)/m;

/** @throws `invalid` when a merge left its markers, which no format reads as what they are. */
export function refuseConflicts(text: string, file: string): void {
  const found = text.includes('<<<<<<<') ? CONFLICT.exec(text) : null;
  if (found !== null && /^>{7}(?: |\r?$)/m.test(text))
    throw refusedAt(file, text, found.index, 'a merge conflict stands here', 'solve it first');
}
