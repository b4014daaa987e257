import { type CofferError, invalid } from '../ground/errors.ts';
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
  const begun = begunBefore(text, assignments);
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

/*
 * Differences between readers of `.env` files: where a quoted value ends. Several values here may be a single one over
 * several lines for some readers.
 * @see docs/decisions/0288
 */

const ASSIGNMENT = /[ \t]*(?:export[ \t]+)?([\w.-]+)(?:[ \t]*=[ \t]*|:[ \t]+)/y;
const NOTHING = /[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|$)/y;
const QUOTES: ReadonlySet<string> = new Set(['"', "'", '`']);
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Matches at an offset.
 * @param pattern sticky pattern
 */
function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** Whether a backslash is itself escaped: `\\` only means one backslash in `"…"`. */
function isEscapedBackslash(text: string, from: number, at: number, quote: string): boolean {
  if (quote !== '"') return false;
  let first = at;
  while (first > from && text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/**
 * Line whose value is empty for Node's parser, up to the next value, which is then taken for that of this line. For
 * Node, the first `=` ends the name, also in `NAME: value`, and a line is a comment only if nothing precedes its `#`.
 */
const EMPTY_WITH_BLANK = /(?:^|\n)(?!#)[^=\n]*=\r*[ \t]\s*$/;

/** Interpretation of quotes by some readers. */
interface Reading {
  /** Whether a quote ends the value that began at an offset. */
  readonly ends: (text: string, from: number, at: number) => boolean;
  /** Whether a value counts as unquoted if anything follows its last quote. */
  readonly isStrict: boolean;
  readonly head: RegExp;
}

/** Name for readers without the `NAME: value` form: everything before the first `=`. */
const ANY_NAME = /(?!#)[^=\n]*=[ \t]*/y;
/** Rules for backslashes: none escapes; one escapes unless it is itself escaped; every one escapes. */
const ENDINGS: readonly Reading['ends'][] = [
  () => true,
  (text, from, at) => text[at - 1] !== '\\' || isEscapedBackslash(text, from + 1, at - 1, '"'),
  (text, _from, at) => text[at - 1] !== '\\',
];
const READINGS: readonly Reading[] = ENDINGS.flatMap((ends) =>
  [true, false].flatMap((isStrict) => [ASSIGNMENT, ANY_NAME].map((head) => ({ ends, isStrict, head }))),
);

/**
 * Returns, for each value, the start of an earlier value that includes it for some readers: because its quote ends
 * later for them, or never (a decrypted value may contain a quote that ends it), or because they do not treat a lone
 * carriage return as a line end, look for an empty value on the next line, or join a line that ends in a backslash with
 * the next one.
 * @param values in the order of the text
 */
function begunBefore(text: string, values: readonly Assignment[]): readonly (number | undefined)[] {
  const begun = values.map(({ lineStart }, index) => {
    const before = values[index - 1];
    const between = text.slice(before?.lineStart ?? 0, lineStart);
    const isJoined = (before !== undefined && between.endsWith('\r')) || EMPTY_WITH_BLANK.test(between);
    return isJoined ? (before?.place.start ?? 0) : undefined;
  });
  for (const reading of /["'`]/.test(text) ? READINGS : []) {
    let index = 0;
    const startsBefore = (offset: number): boolean => (values[index]?.place.start ?? offset) < offset;
    for (const [from, to] of quotedIn(text, reading)) {
      while (startsBefore(from + 1)) index++;
      for (; startsBefore(to); index++) begun[index] ??= from;
    }
  }
  let index = 0;
  for (const [from, to] of /["'\\]/.test(text) ? valuesOfSystemd(text) : []) {
    for (; (values[index]?.lineStart ?? to) < to; index++)
      if ((values[index]?.lineStart ?? 0) > from) begun[index] ??= from;
  }
  return begun;
}

/**
 * Yields the values as read by systemd (`EnvironmentFile=`): a backslash at the end of a line joins it with the next
 * one, a quoted part may follow another one, and there are no comments after a value.
 * @see https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#EnvironmentFile=
 */
function* valuesOfSystemd(text: string): Generator<readonly [from: number, to: number]> {
  const head = /[ \t\r\n]*(?:[#;][^\r\n]*|[^=\r\n]*(=)?)/y;
  for (let at = 0; at < text.length; ) {
    const [whole = '', equals] = match(head, text, at) ?? [];
    at += whole.length;
    if (equals === undefined) at++;
    else {
      const from = at;
      at = endForSystemd(text, from);
      yield [from, at];
    }
  }
}

const BLANKS = /[ \t]*/y;
const BARE_FOR_SYSTEMD = /[^\\\r\n]*(?:\\[\s\S][^\\\r\n]*)*/y;
const QUOTED: Readonly<Record<string, RegExp>> = { "'": /'[^']*'/y, '"': /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y };

/** Returns the end of a value; infinity for an unterminated quote. */
function endForSystemd(text: string, from: number): number {
  for (let at = from; ; ) {
    at += match(BLANKS, text, at)?.[0].length ?? 0;
    const quote = QUOTED[text[at] ?? ''];
    if (quote === undefined) return at + (match(BARE_FOR_SYSTEMD, text, at)?.[0].length ?? 0);
    const [quoted] = match(quote, text, at) ?? [];
    if (quoted === undefined) return Number.POSITIVE_INFINITY;
    at += quoted.length;
  }
}

function* quotedIn(
  text: string,
  { ends, isStrict, head: pattern }: Reading,
): Generator<readonly [from: number, to: number]> {
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  while (at < text.length) {
    const [head] = match(pattern, text, at) ?? [];
    const from = at + (head?.length ?? 0);
    const quote = text[from] ?? '';
    if (head !== undefined && QUOTES.has(quote)) {
      let to = text.indexOf(quote, from + 1);
      while (to >= 0 && !ends(text, from, to)) to = text.indexOf(quote, to + 1);
      if (to < 0) yield [from, Number.POSITIVE_INFINITY];
      else if (!isStrict || match(NOTHING, text, to + 1) !== undefined) {
        yield [from, to];
        at = to;
      }
    }
    const lineEnd = text.indexOf('\n', at);
    at = lineEnd < 0 ? text.length : lineEnd + 1;
  }
}
