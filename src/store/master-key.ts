import { encodeBase64 } from '../ground/base64.ts';
import { utf8, wipe, wiping } from '../ground/bytes.ts';
import { invalid } from '../ground/errors.ts';
import { systemRandom } from '../ground/random.ts';

export const MASTER_KEY_BYTES = 32;

/** Text encoding of bytes: the value of each digit by its character code, and the number of digits of a key. */
interface Digits {
  readonly bits: 4 | 6;
  readonly count: number;
  readonly worth: ReadonlyMap<number, number>;
}
const worthOf = (...alphabets: readonly string[]): ReadonlyMap<number, number> =>
  new Map(alphabets.flatMap((digits) => Array.from(digits, (digit, worth) => [digit.charCodeAt(0), worth])));
const HEX: Digits = { bits: 4, count: 64, worth: worthOf('0123456789abcdef', '0123456789ABCDEF') };
const BASE64: Digits = {
  bits: 6,
  count: 43,
  worth: worthOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
};
const PADDING = 0x3d;
/** ASCII white space, and the no-break space of Latin-1. */
const SPACES: readonly number[] = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0];

/** Text in quotes, as files of variables have them that no shell reads. */
const QUOTED = /^\s*(["']).*\1\s*$/s;

/** Generates a 256-bit master key as base64 text, for `COFFER_MASTER_KEY` or a key file. */
export const generateMasterKey = (): string => wiping(systemRandom.bytes(MASTER_KEY_BYTES), encodeBase64);

/**
 * Parses a master key given as text: base64 with padding, or hexadecimal; surrounding white space is ignored.
 * @param source name of the text's origin, for messages
 * @returns 32 bytes
 * @throws `invalid` for anything else, without repeating the text
 */
export function parseMasterKey(text: string, source = 'the master key'): Buffer {
  const key = tryParseMasterKey(text);
  if (key !== undefined) return key;
  throw invalid(`${source} must be 32 bytes in base64 or hex`, {
    hint: QUOTED.test(text)
      ? 'remove the quotes around the key'
      : 'an existing store needs its own key; for a new store, create one with "coffer keygen"',
  });
}

/**
 * Like `parseMasterKey`, but undefined if the text is not a master key. Text given as bytes is decoded as bytes: a
 * string made of them could not be overwritten.
 */
export function tryParseMasterKey(text: string | Uint8Array): Buffer | undefined {
  if (typeof text !== 'string') return decodedKey(withoutSpaces(text));
  return wiping(utf8(text.trim()), decodedKey);
}

function decodedKey(text: Uint8Array): Buffer | undefined {
  if (text.length === HEX.count) return decoded(text, HEX);
  const isPadded = text.length === BASE64.count + 1 && text.at(-1) === PADDING;
  return isPadded ? decoded(text.subarray(0, BASE64.count), BASE64) : undefined;
}

/** Decodes digits; undefined for any other character. Leftover bits at the end are ignored. */
function decoded(text: Uint8Array, { bits, worth }: Digits): Buffer | undefined {
  const key = Buffer.allocUnsafe(MASTER_KEY_BYTES);
  let held = 0;
  let heldBits = 0;
  let filled = 0;
  for (const code of text) {
    const value = worth.get(code);
    if (value === undefined) {
      wipe(key);
      return undefined;
    }
    held = ((held << bits) | value) & 0xfff;
    heldBits += bits;
    if (heldBits < 8) continue;
    heldBits -= 8;
    key[filled++] = (held >> heldBits) & 0xff;
  }
  return key;
}

function withoutSpaces(text: Uint8Array): Uint8Array {
  const isSpace = (at: number): boolean => SPACES.includes(text[at] ?? 0);
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return text.subarray(start, end);
}
