import { type CofferError, invalid } from '../ground/errors.ts';
import {
  ASSIGNMENT,
  BYTE_ORDER_MARK,
  begunBefore,
  isEscapedBackslash,
  match,
  NOTHING,
  QUOTES,
} from './dotenv-readings.ts';
import {
  type FileFormat,
  otherNameRefused,
  refuseConflicts,
  refusedAt,
  type ScalarPlace,
  type SecretFile,
} from './format.ts';
import { parseValue } from './value.ts';

/**
 * `.env` files by the common rules of dotenv parsers: a name may be preceded by `export `; `'…'` and backquotes are
 * literal, in `"…"` the escapes of `ESCAPES` are expanded, and all three may span lines; an unquoted value ends at the
 * end of the line or at ` #`, without surrounding white space; the last one of duplicate names wins. Nothing is
 * expanded or run.
 * @see docs/decisions/0149
 */
export const dotenv: FileFormat = { name: 'dotenv', parse };

const NAME = /[\w.-]+/y;
/** Lone name, only with `export`: otherwise it could be a line of a secret that was not quoted. */
const EXPORT_ALONE = /[ \t]*export[ \t]+[\w.-]+/y;
const LINE_END = /\r\n|\n|\r/y;
const UNQUOTED = /[^\r\n]*/y;
const COMMENT = /(?:^|[ \t])#/;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  $: '$',
};
/** Characters that need no quotes. */
const BARE = /^[\w.:/@%+,=-]+$/;

/** Positions of one assignment, its line and its value. */
interface Assignment {
  readonly place: ScalarPlace;
  readonly lineStart: number;
  /** Position after the line end. */
  readonly lineEnd: number;
}

function parse(text: string, file: string): SecretFile {
  refuseConflicts(text, file);
  const assignments = withOtherNames([...assignmentsIn(text, file)], text, file);
  return {
    format: 'dotenv',
    text,
    places: assignments.map(({ place }) => place),
    written: (_place, value) => quoted(value),
    added: (name, value) => added(text, name, value),
    removed(place) {
      const found = assignments.find((candidate) => candidate.place === place);
      if (found === undefined) throw new RangeError('that place is in another file');
      return text.slice(0, found.lineStart) + text.slice(found.lineEnd);
    },
  };
}

/**
 * Marks the values that an earlier one includes for other readers.
 * @throws `invalid` if such a value is encrypted: once decrypted, they would show it under the other name
 */
function withOtherNames(
  assignments: readonly Assignment[],
  text: string,
  file: string,
): readonly Assignment[] {
  const begun = begunBefore(
    text,
    assignments.map(({ place: { start }, lineStart }) => ({ start, lineStart })),
  );
  return assignments.map((assignment, index) => {
    const otherNameAt = begun[index];
    if (otherNameAt === undefined) return assignment;
    const place = { ...assignment.place, otherNameAt };
    if (place.sealed !== undefined) throw otherNameRefused('dotenv', file, text, place);
    return { ...assignment, place };
  });
}

function* assignmentsIn(text: string, file: string): Generator<Assignment> {
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  while (at < text.length) {
    const lineStart = at;
    let place: ScalarPlace | undefined;
    const [head, name = ''] = match(ASSIGNMENT, text, at) ?? [];
    if (head !== undefined) place = placeAt(text, at + head.length, name);
    at = place?.end ?? at + (match(EXPORT_ALONE, text, at)?.[0].length ?? 0);
    const rest = match(NOTHING, text, at);
    if (rest === undefined) throw noAssignment(text, lineStart, file);
    at += rest[0].length;
    at += match(LINE_END, text, at)?.[0].length ?? 0;
    if (place !== undefined) yield { place, lineStart, lineEnd: at };
  }
}

const noAssignment = (text: string, at: number, file: string): CofferError =>
  refusedAt(file, {
    text,
    offset: at,
    message: 'this line is neither NAME=value nor a comment',
    hint: 'check that this is a .env file and that no quote is missing',
  });

function placeAt(text: string, start: number, name: string): ScalarPlace {
  const end = quotedEnd(text, start) ?? unquotedEnd(text, start);
  const source = text.slice(start, end);
  const value = meaningOf(source);
  return {
    name,
    path: name.split('.'),
    start,
    end,
    source,
    text: value,
    type: 'string',
    sealed: parseValue(value),
  };
}

/**
 * Returns the end of a quoted value: the first quote not preceded by a backslash, if only a comment follows it on its
 * line; otherwise a backslash may be literal. If neither applies, the value is not quoted.
 */
function quotedEnd(text: string, start: number): number | undefined {
  const quote = text[start] ?? '';
  if (!QUOTES.has(quote)) return undefined;
  const escaped: number[] = [];
  let end = text.indexOf(quote, start + 1);
  while (end >= 0 && text[end - 1] === '\\' && !isEscapedBackslash(text, start + 1, end - 1, quote)) {
    escaped.push(end);
    end = text.indexOf(quote, end + 1);
  }
  const ends = end < 0 ? escaped : [...escaped, end];
  const last = ends.findLast((candidate) => match(NOTHING, text, candidate + 1) !== undefined);
  return last === undefined ? undefined : last + 1;
}

function unquotedEnd(text: string, start: number): number {
  const [line = ''] = match(UNQUOTED, text, start) ?? [];
  // Checked first, because most lines have no comment, and each is parsed at every start.
  const comment = line.includes('#') ? (COMMENT.exec(line)?.index ?? line.length) : line.length;
  return start + line.slice(0, comment).trimEnd().length;
}

function meaningOf(source: string): string {
  const quote = source[0] ?? '';
  if (!QUOTES.has(quote) || source.length < 2 || !source.endsWith(quote)) return source;
  const inner = source.slice(1, -1);
  return quote === '"'
    ? inner.replace(/\\([nrt"\\$])/g, (_whole, letter: string) => ESCAPES[letter] ?? letter)
    : inner;
}

/** Quotes a value, in single quotes if possible, in which all readers treat a backslash and a dollar literally. */
function quoted(value: string): string {
  if (value === '' || BARE.test(value)) return value;
  if (!/['\r]|\\$/.test(value)) return `'${value}'`;
  return `"${value
    .replace(/[\\"$]/g, '\\$&')
    .replace(/\n/g, '\\n')
    .replace(/\r/g, '\\r')}"`;
}

function added(text: string, name: string, value: string): string {
  const [whole] = match(NAME, name, 0) ?? [];
  if (whole !== name) {
    throw invalid(`invalid .env variable name ${JSON.stringify(name)}`, {
      field: 'NAME',
      hint: 'use letters, digits, "_", "-" and "."',
    });
  }
  const newline = /\r?\n/.exec(text)?.[0] ?? '\n';
  const isOpen = text !== '' && text !== BYTE_ORDER_MARK && !/[\r\n]$/.test(text);
  return `${text}${isOpen ? newline : ''}${name}=${quoted(value)}${isOpen ? '' : newline}`;
}
