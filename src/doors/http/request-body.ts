import { randomBytes } from 'node:crypto';
import { type CofferError, invalid } from '../../ground/errors.ts';

/** Maximum nesting depth, the same as in Vault; far above what the APIs need. */
export const MAX_DEPTH = 300;

/**
 * Pattern of a number after a structural character that may exceed a double, or text that looks like one: requires a
 * closer look.
 */
const LONG_NUMBER = /[[,:]\s*-?\d[\d.eE+-]{15}/;

/**
 * Parses the members of a JSON body. The last one of duplicate members wins, as in Go; `__proto__` is a normal member.
 * Integers too large for a double become `bigint`, so that none is altered silently.
 * @param longNumbers whether to preserve them; parsing takes several times as long
 * @throws `invalid` if it is not JSON, not an object, or nested too deeply
 */
export function parseObject(
  body: Buffer,
  longNumbers: 'exact' | 'rounded' = 'exact',
): Readonly<Record<string, unknown>> {
  const text = body.toString('utf8');
  if (text.trim() === '') return {};
  checkDepth(text);
  const value = parse(text, longNumbers);
  // Sent by Vault's own Go client for a request without data.
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badJson('the body is not an object', ONE_OBJECT);
  }
  return value as Readonly<Record<string, unknown>>;
}

function parse(text: string, longNumbers: 'exact' | 'rounded'): unknown {
  try {
    return longNumbers === 'exact' && LONG_NUMBER.test(text)
      ? parseExactly(text)
      : (JSON.parse(text) as unknown);
  } catch {
    // The platform's message quotes the body, which may contain a secret.
    throw badJson('the body is not valid JSON', ONE_OBJECT);
  }
}

/** Marks the digits of long numbers while the platform parses; clients cannot know it. */
const MARK = `integer-${randomBytes(12).toString('hex')}:`;
/** Integers that the platform would round. A number beyond the range of doubles is an error for every parameter. */
const WHOLE_NUMBER = /^-?[1-9]\d{15,307}$/;
/** Text that may follow a value; a name that is not a text must stay an error. */
const BEHIND_VALUE = /\s*(?:[,\]}]|$)/y;

/**
 * Like `JSON.parse`, with `bigint` for integers that exceed a double. They pass through the parser as texts: a reviver,
 * which could see the source of each number, makes the whole document several times as slow.
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

/** Whether a character is a digit, a sign, the point, or the letter of an exponent. */
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

/** Converts the marked texts back to numbers. */
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

/**
 * Limits the nesting depth by counting brackets outside of texts. Texts, the bulk of a large body, are skipped at the
 * speed of `indexOf`.
 */
function checkDepth(text: string): void {
  if (text.length <= MAX_DEPTH) return;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at);
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) throw badJson(`nested more than ${MAX_DEPTH} levels deep`, undefined);
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
}

/** Returns the position of the closing quote of the text that begins at `start`. */
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

const badJson = (why: string, hint: string | undefined): CofferError =>
  invalid(`failed to decode JSON input: ${why}`, { hint });

const ONE_OBJECT = 'send one JSON object';

/** Parses form bodies, such as those of `curl -d a=b`: names and texts. */
export function parseForm(body: Buffer): Readonly<Record<string, unknown>> {
  return fromPairs(formPairs(body.toString('utf8')));
}

/** Parses a query string; repeated names become an array. */
export function parseQuery(query: string): Readonly<Record<string, unknown>> {
  return query === '' ? NOTHING : fromPairs(formPairs(query));
}

const NOTHING = Object.freeze({});

/**
 * Parses the pairs of a form or a query. Node's parser is quadratic in the number of consecutive names without `=` (4 s
 * for 1 MiB), so an equivalent `=` is added.
 */
export function formPairs(text: string): URLSearchParams {
  const pieces = text.split('&');
  // A leading question mark is not part of a name.
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
    // Append in place: copying the array for each value would take seconds for a short malicious form.
    else if (Array.isArray(known)) known.push(value);
    else values.set(name, [known, value]);
  }
  return Object.fromEntries(values);
}
