import { randomBytes } from 'node:crypto';
import { type CofferError, invalid } from '../../ground/errors.ts';

/** As deep as peers read; nothing that the APIs take comes near it. */
export const MAX_DEPTH = 300;

/** A number behind a structural character that a double may not hold, or text that looks so: worth a second look. */
const LONG_NUMBER = /[[,:]\s*-?\d[\d.eE+-]{15}/;

/**
 * The members of a JSON body. Of members of the same name the last one counts, as in Go; `__proto__` is a member as any
 * other. Whole numbers too large for a double come as `bigint`, so that none is altered unnoticed.
 * @param longNumbers whether they matter; to read them costs several times as much.
 * @throws `invalid` when it is not JSON, not an object, or nested too deeply.
 */
export function parseObject(
  body: Buffer,
  longNumbers: 'exact' | 'rounded' = 'exact',
): Readonly<Record<string, unknown>> {
  const text = body.toString('utf8');
  if (text.trim() === '') return {};
  checkDepth(text);
  const value = parse(text, longNumbers);
  // What the peers' own Go client sends when it was given no data.
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badJson('the body is not an object');
  }
  return value as Readonly<Record<string, unknown>>;
}

function parse(text: string, longNumbers: 'exact' | 'rounded'): unknown {
  try {
    return longNumbers === 'exact' && LONG_NUMBER.test(text)
      ? parseExactly(text)
      : (JSON.parse(text) as unknown);
  } catch {
    // The platform's text quotes the body, which may hold a secret.
    throw badJson('the body is not valid JSON');
  }
}

/** Stands before the digits of long numbers while the platform's parser is at work; no caller can know it. */
const MARK = `integer-${randomBytes(12).toString('hex')}:`;
/** What the platform's parser would round. Beyond the range of doubles a number is a mistake for every parameter. */
const WHOLE_NUMBER = /^-?[1-9]\d{15,307}$/;
/** What may stand behind a value; a name that is no text must stay a mistake. */
const BEHIND_VALUE = /\s*(?:[,\]}]|$)/y;

/**
 * As `JSON.parse`, with `bigint` for whole numbers that a double can't hold. They pass through the parser as texts: a reviver,
 * which could see how each number was written, makes it several times as slow for the whole document.
 */
function parseExactly(text: string): unknown {
  const pieces: string[] = [];
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at);
    } else if (isInNumber(code)) {
      const end = endOfNumber(text, at);
      if (end - at >= 16 && isLongInteger(text, at, end)) {
        pieces.push(text.slice(done, at), `"${MARK}${text.slice(at, end)}"`);
        done = end;
      }
      at = end - 1;
    }
  }
  if (done === 0) return JSON.parse(text);
  return withIntegers(JSON.parse(pieces.join('') + text.slice(done)));
}

const QUOTE = 0x22;

/** Digits, signs, the point, and the letter of an exponent. */
const isInNumber = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2d ||
  code === 0x2e ||
  code === 0x2b ||
  code === 0x65 ||
  code === 0x45;

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isInNumber(text.charCodeAt(end))) end += 1;
  return end;
}

function isLongInteger(text: string, start: number, end: number): boolean {
  BEHIND_VALUE.lastIndex = end;
  return BEHIND_VALUE.test(text) && WHOLE_NUMBER.test(text.slice(start, end));
}

/** Puts the numbers back in their places. */
function withIntegers(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? integerIn(value.slice(MARK.length)) : value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) value[index] = withIntegers(value[index]);
  } else if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>;
    for (const name of Object.keys(members)) members[name] = withIntegers(members[name]);
  }
  return value;
}

const integerIn = (digits: string): number | bigint => {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
};

/** Counts brackets outside of texts. Texts, the bulk of a large body, are skipped at the speed of `indexOf`. */
function checkDepth(text: string): void {
  if (text.length <= MAX_DEPTH) return;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at);
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) throw badJson(`nested more than ${MAX_DEPTH} levels deep`);
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
}

/** The index of the quote that ends the text which begins at `start`. */
function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes += 1;
  return backslashes % 2 === 1;
}

const badJson = (why: string): CofferError =>
  invalid(`failed to decode JSON input: ${why}`, { hint: 'send one JSON object' });

/** Form bodies, as `curl -d a=b` makes them: names and texts. */
export function parseForm(body: Buffer): Readonly<Record<string, unknown>> {
  return fromPairs(formPairs(body.toString('utf8')));
}

/** A query string; a name that comes several times gives an array. */
export function parseQuery(query: string): Readonly<Record<string, unknown>> {
  return query === '' ? NOTHING : fromPairs(formPairs(query));
}

const NOTHING = Object.freeze({});

/**
 * The pairs of a form or a query. Node's parser takes time in the square of how many names without `=` stand in a row (4 s for 1 MiB), so
 * they get one, which means the same.
 */
export function formPairs(text: string): URLSearchParams {
  const pieces = text.split('&');
  // A mark in front is no part of a name.
  const isWhole = (piece: string, index: number): boolean =>
    piece === '' || (index === 0 && piece === '?') || piece.includes('=');
  return new URLSearchParams(
    pieces.map((piece, index) => (isWhole(piece, index) ? piece : `${piece}=`)).join('&'),
  );
}

function fromPairs(pairs: URLSearchParams): Readonly<Record<string, unknown>> {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of pairs) {
    const known = values.get(name);
    if (known === undefined) values.set(name, value);
    // To copy what is there for each further one would take a stranger's short form for seconds.
    else if (Array.isArray(known)) known.push(value);
    else values.set(name, [known, value]);
  }
  return Object.fromEntries(values);
}
