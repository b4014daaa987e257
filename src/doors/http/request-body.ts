import { CofferError, invalid } from '../../ground/errors.ts';

/** As deep as peers read; nothing that the APIs take comes near it. */
export const MAX_DEPTH = 300;

/** A number behind a structural character that a double may not hold, or text that looks so: worth the slow parser. */
const LONG_NUMBER = /[[,:]\s*-?\d[\d.eE+-]{15}/;

/**
 * The members of a JSON body. Of members of the same name the last one counts, as in Go; `__proto__` is a member as any
 * other. Whole numbers too large for a double come as `bigint`, so that none is altered unnoticed.
 * @throws `invalid` when it is not JSON, not an object, or nested too deeply.
 */
export function parseObject(body: Buffer): Readonly<Record<string, unknown>> {
  const text = body.toString('utf8');
  if (text.trim() === '') return {};
  checkDepth(text);
  const value = parse(text);
  // What the peers' own Go client sends when it was given no data.
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badJson('the body is not an object');
  }
  return value as Readonly<Record<string, unknown>>;
}

function parse(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? parseExactly(text, exactIntegers) : (JSON.parse(text) as unknown);
  } catch (error) {
    if (error instanceof CofferError) throw error;
    // The platform's text quotes the body, which may hold a secret.
    throw badJson('the body is not valid JSON');
  }
}

/** Beyond the range of doubles it is a mistake for every parameter, and reading millions of digits would take seconds. */
const WHOLE_NUMBER = /^-?\d{1,308}$/;

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** `JSON.parse` as the platform has it: the source of a number is not in the language's type declarations yet. */
const parseExactly = JSON.parse as (text: string, reviver: Reviver) => unknown;

function exactIntegers(_name: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || context.source === undefined) return value;
  return WHOLE_NUMBER.test(context.source) ? BigInt(context.source) : value;
}

/** Counts brackets outside of texts. Texts, the bulk of a large body, are skipped at the speed of `indexOf`. */
function checkDepth(text: string): void {
  if (text.length <= MAX_DEPTH) return;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
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
  return fromPairs(new URLSearchParams(body.toString('utf8')));
}

/** A query string; a name that comes several times gives an array. */
export function parseQuery(query: string): Readonly<Record<string, unknown>> {
  return query === '' ? NOTHING : fromPairs(new URLSearchParams(query));
}

const NOTHING = Object.freeze({});

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
