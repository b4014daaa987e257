import { type CofferError, exists, invalid, ownWords } from '../ground/errors.ts';
import { glob } from '../ground/glob.ts';
import type { Random } from '../ground/random.ts';

export const MAX_NAME_LENGTH = 255;

const TAG_LETTERS = /^[a-z0-9:_-]+$/;
const TAG_ENDS = /^[a-z0-9](?:.*[a-z0-9])?$/;
const WORKSPACE_OR_ORGANIZATION = /^[A-Za-z0-9_-]+$/;
const PROJECT = /^[A-Za-z0-9_-](?:[A-Za-z0-9_ -]*[A-Za-z0-9_-])?$/;
const MIN_PROJECT_NAME_LENGTH = 3;
const MAX_PROJECT_NAME_LENGTH = 40;

/** Converts A to Z to lower case and nothing else, so that name equality is independent of the locale. */
export const foldCase = (text: string): string =>
  text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());

/**
 * Normalizes the name of a tag: upper case becomes lower case, then 1 to 255 of `a-z 0-9 : - _`, with a letter or digit
 * at both ends.
 * @param field place in the request, for errors
 * @throws `invalid` naming the violated rule
 */
export function tagName(text: string, field?: string): string {
  const name = foldCase(text);
  checkLength(name, field);
  if (!TAG_LETTERS.test(name)) {
    throw refused(
      ownWords('Tags must only contain letters, numbers, colons, hyphens or underscores'),
      `${JSON.stringify(text)} has other characters`,
      field,
    );
  }
  if (!TAG_ENDS.test(name)) {
    throw refused(
      ownWords('Tags must begin and end with a letter or number'),
      `${JSON.stringify(text)} does not`,
      field,
    );
  }
  return name;
}

/**
 * Validates the name of a workspace or an organization: 1 to 255 letters, digits, `-` and `_`, case-sensitive. Also
 * excludes `.` and `..`, which programs remove when they build a path from a name.
 * @throws `invalid` naming the violated rule
 */
export function plainName(text: string, field?: string): string {
  checkLength(text, field);
  if (!WORKSPACE_OR_ORGANIZATION.test(text)) {
    throw refused(
      ownWords('Name can only include letters, numbers, hyphens and underscores'),
      `${JSON.stringify(text)} has other characters`,
      field,
    );
  }
  return text;
}

/**
 * Validates the name of a project: 3 to 40 letters, digits, spaces, `-` and `_`, no space at either end.
 * @throws `invalid` naming the violated rule
 */
export function projectName(text: string, field?: string): string {
  if (text === '') throw refused(ownWords("Name can't be blank"), 'use a name', field);
  if (text.length < MIN_PROJECT_NAME_LENGTH) {
    const least = `Name is too short (minimum is ${MIN_PROJECT_NAME_LENGTH} characters)`;
    throw refused(least, `it has ${text.length} characters`, field);
  }
  refuseLonger('Name', text, MAX_PROJECT_NAME_LENGTH, field);
  if (PROJECT.test(text)) return text;
  throw refused(
    ownWords(
      'Name may only contain letters, numbers, spaces, hyphens and underscores, and no space at either end',
    ),
    `${JSON.stringify(text)} has another character, or a space at an end`,
    field,
  );
}

/** Creates the error for a name in use, with the exact text of HashiCorp's service. */
export const nameTaken = (kind: string, name: string, field?: string, advice?: string): CofferError =>
  exists(ownWords('Name has already been taken'), {
    field,
    hint: `${kind} "${name}" already exists${advice === undefined ? '' : `: ${advice}`}`,
  });

function checkLength(name: string, field: string | undefined): void {
  if (name === '') throw refused(ownWords("Name can't be blank"), 'use a name', field);
  refuseLonger('Name', name, MAX_NAME_LENGTH, field);
}

/** Limits the length of a text. @throws `invalid`, with the exact text of HashiCorp's service */
export function refuseLonger(what: string, text: string, most: number, field: string | undefined): void {
  if (text.length <= most) return;
  throw refused(
    `${what} is too long (maximum is ${most} characters)`,
    `it has ${text.length} characters`,
    field,
  );
}

export const refused = (message: string, hint: string, field: string | undefined): CofferError =>
  invalid(message, { field, hint });

/** Creates a test whether a whole name matches a pattern, case-insensitive; `*` is the only wildcard. */
export function wildcard(pattern: string): (name: string) => boolean {
  const fits = glob(foldCase(pattern));
  return (name) => fits(foldCase(name));
}

export const isPattern = (text: string): boolean => text.includes('*');

/** Creates a test whether any of the patterns matches. */
export function anyOf(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map(wildcard);
  return (name) => tests.some((fits) => fits(name));
}

/** Bitcoin's base 58: letters and digits without the look-alikes 0, O, I and l. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** First rejected byte value: larger bytes would make the first letters of the alphabet likelier. */
const FAIR_BYTES = 256 - (256 % BASE58.length);

const HOME_LENGTH = 4;
const KEY_LENGTH = 12;
const BODY = /^[1-9A-HJ-NP-Za-km-z]{16}$/;

/** Generates base-58 text, each letter equally likely. */
export function base58(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(length)) {
      if (byte < FAIR_BYTES && text.length < length) text += BASE58[byte % BASE58.length];
    }
  }
  return text;
}

/** Generates the prefix of an organization's identifiers, after `tag-` and `ws-`. */
export const newHome = (random: Random): string => base58(random, HOME_LENGTH);

/** Generates the part of an identifier that is unique within its organization. */
export const newKey = (random: Random): string => base58(random, KEY_LENGTH);

/** Generates `org-` and 16 letters and digits. */
export const newExternalId = (random: Random): string => `org-${base58(random, HOME_LENGTH + KEY_LENGTH)}`;

const KINDS = ['tag', 'ws', 'prj', 'rtk'] as const;
/** Prefix of an identifier, which shows its kind. */
export type IdentifierKind = (typeof KINDS)[number];

/**
 * Parsed ID. An ID is its own address: `tag-`, `ws-` and so on, four letters that identify the organization, twelve
 * that identify the record. Requests contain the ID alone, so it must lead to the organization without an index of all.
 * All letters are random, and IDs are not secret: existing and missing ones are answered alike to callers who may not
 * see them.
 */
export interface RecordAddress {
  readonly home: string;
  readonly key: string;
}

export const printIdentifier = (kind: IdentifierKind, { home, key }: RecordAddress): string =>
  `${kind}-${home}${key}`;

/** Parses an identifier; undefined for a malformed text (which is simply not found). */
export function parseIdentifier(kind: IdentifierKind, text: string): RecordAddress | undefined {
  if (!text.startsWith(`${kind}-`)) return undefined;
  const body = text.slice(kind.length + 1);
  return BODY.test(body) ? addressOf(body) : undefined;
}

/** Splits the part of an identifier after its kind, by which keys refer to their records as well. */
export const addressOf = (body: string): RecordAddress => ({
  home: body.slice(0, HOME_LENGTH),
  key: body.slice(HOME_LENGTH),
});

/** Parses an identifier of any kind. */
export function parseAnyIdentifier(text: string): RecordAddress | undefined {
  for (const kind of KINDS) {
    const address = parseIdentifier(kind, text);
    if (address !== undefined) return address;
  }
  return undefined;
}

/**
 * Returns the key that one record of an organization has from the start, without being stored: the end of its external
 * ID.
 */
export const keyInExternalId = (externalId: string): string => externalId.slice(-KEY_LENGTH);

/** Returns a uniformly distributed number from the first three letters of a key: at least 0, below 58³. */
export function spread(key: string): number {
  let value = 0;
  for (let i = 0; i < 3; i++) value = value * BASE58.length + BASE58.indexOf(key.charAt(i));
  return value;
}
