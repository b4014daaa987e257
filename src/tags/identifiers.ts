import type { Random } from '../ground/random.ts';

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
