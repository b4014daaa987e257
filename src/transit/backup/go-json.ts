import { CofferError, invalid, ownWords } from '../../ground/errors.ts';

/**
 * JSON as Go's `encoding/json` reads and writes it, where that differs from `JSON`: integers of any size stay exact,
 * member names are case-insensitive, text after the document is ignored, and `<`, `>`, `&` are escaped.
 * @see docs/decisions/0020
 */
export type GoValue = null | boolean | number | bigint | string | readonly GoValue[] | GoObject;
export interface GoObject {
  readonly [name: string]: GoValue;
}

/** Limits, enforced before anything is built in memory: more than any honest document needs. */
export interface GoJsonLimits {
  readonly depth: number;
  /** Number of values of all kinds, object members and array elements. */
  readonly values: number;
  /** Digits of one number. */
  readonly digits: number;
}

const NOT_A_BACKUP = 'use the unchanged output of "coffer transit backup NAME"';

/** Part of "JSON.parse source text access" (ECMA-262) that TypeScript's library does not declare yet. */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: GoValue, context: { source?: string }) => GoValue,
  ): GoValue;
}

const { parse } = JSON as JsonWithSource;

/**
 * Parses the first JSON value of `text`. Integers become bigints; numbers with a fraction or an exponent stay numbers,
 * which no integer field accepts, as in Go.
 * @throws `invalid` or `too-large`, without quoting the text, which may contain keys
 * @see docs/decisions/0020
 */
export function readGoJson(text: string, limits: GoJsonLimits): GoValue {
  const document = text.slice(0, endOfFirstValue(text, limits));
  try {
    return parse(document, (_, value, { source }) => {
      if (typeof value !== 'number' || source === undefined) return value;
      if (source.length > limits.digits) throw tooLarge(`a number has more than ${limits.digits} digits`);
      return /^-?\d+$/.test(source) ? BigInt(source) : value;
    });
  } catch (error) {
    if (error instanceof CofferError) throw error;
    // The platform's message quotes the document.
    throw invalid(ownWords('invalid JSON'), { field: 'backup', hint: NOT_A_BACKUP });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const opens = (code: number): boolean => code === 0x7b || code === 0x5b;
const closes = (code: number): boolean => code === 0x7d || code === 0x5d;

/** Returns the end of the first value if it is an object or an array; the whole length for anything else. */
function endOfFirstValue(text: string, limits: GoJsonLimits): number {
  let depth = 0;
  let values = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if (opens(code)) {
      depth++;
      values++;
      if (depth > limits.depth) throw tooLarge(`nested more than ${limits.depth} deep`);
    } else if (closes(code)) {
      depth--;
      if (depth <= 0) return i + 1;
    } else if (code === COMMA) values++;
    if (values > limits.values) throw tooLarge(`more than ${limits.values} values`);
  }
  if (depth > 0) throw invalid(ownWords('unexpected end of JSON input'), { field: 'backup' });
  return text.length;
}

/** Returns the position of the closing quote, or of the last character. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i;
}

const tooLarge = (what: string): CofferError =>
  new CofferError('too-large', `JSON is refused: ${what}`, { field: 'backup' });

/**
 * Serializable value: members in the order given, without undefined ones; a Map if names look like numbers, which
 * objects would sort.
 */
export type GoWritable =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly GoWritable[]
  | ReadonlyMap<string, GoWritable>
  | { readonly [name: string]: GoWritable | undefined };

/** Serializes like Go's `json.Marshal`: no whitespace, bigints as bare digits, HTML's special characters escaped. */
export function writeGoJson(value: GoWritable): string {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  if (typeof value === 'string') return writeText(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map(writeGoJson).join(',')}]`;
  const all: [string, GoWritable | undefined][] =
    value instanceof Map ? [...value.entries()] : Object.entries(value);
  const members = all.flatMap(([name, member]) =>
    member === undefined ? [] : [`${writeText(name)}:${writeGoJson(member)}`],
  );
  return `{${members.join(',')}}`;
}

const writeText = (text: string): string =>
  JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
