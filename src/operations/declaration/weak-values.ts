import { MOST_SECONDS } from '../../ground/clock.ts';
import { parseGoDuration } from '../../ground/durations.ts';
import { type CofferError, invalid, ownWords } from '../../ground/errors.ts';

/*
 * Vault's weak typing of values: a number may be given as text, a text as a number, true as "1"; `null` is the zero
 * value of its type.
 */

/**
 * Creates the error for a value of the wrong type.
 * @param wanted description, e.g. `a whole number`
 */
export function wrongType(field: string, wanted: string): CofferError {
  const text = `${FAILED}${field}${ownWords(`": expected ${wanted}`)}`;
  // Names of items contain numbers, so they are not a fixed set of texts.
  const message = /^[a-z_]+$/.test(field) ? ownWords(text) : text;
  return invalid(message, { field, hint: `use ${wanted}` });
}

const FAILED = ownWords('Field validation failed: error converting input for field "');

/**
 * Parses a text.
 * @throws `invalid` naming the field, like all functions below
 */
export function parseText(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  throw wrongType(field, 'a string');
}

/** Parses an integer. Text may be decimal, hexadecimal, octal or binary, as in Go. */
export function parseInteger(value: unknown, field: string): number {
  if (value === null || value === '') return 0;
  if (typeof value === 'boolean') return value ? 1 : 0;
  const parsed = typeof value === 'string' ? parseIntegerText(value) : value;
  if (typeof parsed !== 'number' || !Number.isSafeInteger(parsed)) throw wrongType(field, 'a whole number');
  return parsed;
}

function parseIntegerText(textValue: string): number {
  const match = /^([+-]?)(0x[0-9a-f]+|0b[01]+|0o?[0-7]+|[1-9][0-9]*|0)$/i.exec(textValue);
  if (match?.[2] === undefined) return Number.NaN;
  const digits = /^0[0-7]+$/.test(match[2]) ? `0o${match[2].slice(1)}` : match[2];
  return (match[1] === '-' ? -1 : 1) * Number(digits);
}

const TRUE_WORDS = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_WORDS = new Set(['', '0', 'f', 'F', 'false', 'FALSE', 'False']);

export function parseBoolean(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  if (value === null) return false;
  // Vault converts a number to text first, so that 1 is true, 0 is false, and any other is an error.
  const word = typeof value === 'number' ? String(value) : value;
  if (typeof word === 'string' && TRUE_WORDS.has(word)) return true;
  if (typeof word === 'string' && FALSE_WORDS.has(word)) return false;
  throw wrongType(field, 'true or false');
}

/** Parses seconds, as a number or in Go's notation, extended by days. */
export function parseDurationSeconds(value: unknown, field: string): number {
  if (value === null || value === '') return 0;
  const seconds = typeof value === 'string' ? parseGoDuration(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) {
    throw wrongType(field, 'a duration such as 3600, 24h, 1h30m or 7d');
  }
  if (seconds < 0) throw invalid(`cannot provide negative value '${String(value)}'`, { field });
  if (seconds > MOST_SECONDS) {
    throw invalid(`${field} must be at most ${MOST_SECONDS} seconds`, {
      field,
      hint: 'use a shorter duration',
    });
  }
  return Math.trunc(seconds);
}

/** Parses `a=b,c=d`; undefined if it is malformed. */
export function parsePairs(text: string): Readonly<Record<string, string>> | undefined {
  const found: [string, string][] = [];
  for (const pair of text.split(',')) {
    const end = pair.indexOf('=');
    if (end < 1) return undefined;
    // A name of only spaces is reduced to one of them, because a name is never empty.
    const name = pair.slice(0, end).trim() || pair.slice(end - 1, end);
    found.push([name, pair.slice(end + 1).trim()]);
  }
  return Object.fromEntries(found);
}
