import { invalid } from '../../../ground/errors.ts';

/**
 * Bech32 (BIP-173) as age uses it: any length, checksum constant 1. Five bits per character, and a checksum that
 * detects every single substitution.
 */

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHECKSUM_CHARACTERS = 6;
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** Constants that the five highest bits of a checksum add to it, by their value. */
const MIXED = Array.from({ length: 32 }, (_, top) =>
  GENERATOR.reduce((sum, generator, bit) => ((top >>> bit) & 1 ? sum ^ generator : sum), 0),
);
/** Value of each character by its code. */
const VALUES = Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));
/** Maximum length in characters: longer than any age key. */
const MAX_CHARACTERS = 4096;

function polymod(values: readonly number[]): number {
  let checksum = 1;
  for (const value of values)
    checksum = ((checksum & 0x1ffffff) << 5) ^ value ^ (MIXED[checksum >>> 25] ?? 0);
  return checksum >>> 0;
}

const expanded = (prefix: string): number[] => {
  const codes = Array.from(prefix, (character) => character.charCodeAt(0));
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
};

/**
 * Regroups values of `from` bits into values of `to` bits.
 * @returns undefined if the leftover at the end is not zero padding
 */
function regrouped(values: Iterable<number>, from: number, to: number, pad: boolean): number[] | undefined {
  let held = 0;
  let bits = 0;
  const result: number[] = [];
  for (const value of values) {
    held = ((held << from) | value) & 0xfff;
    bits += from;
    while (bits >= to) {
      bits -= to;
      result.push((held >>> bits) & ((1 << to) - 1));
    }
  }
  const rest = held & ((1 << bits) - 1);
  if (pad) return bits > 0 ? [...result, rest << (to - bits)] : result;
  return bits >= from || rest !== 0 ? undefined : result;
}

/**
 * Encodes bytes.
 * @param prefix lower-case text before the last `1`
 */
export function printBech32(prefix: string, bytes: Uint8Array): string {
  const data = regrouped(bytes, 8, 5, true) ?? [];
  const checksum = polymod([...expanded(prefix), ...data, 0, 0, 0, 0, 0, 0]) ^ 1;
  const check = Array.from(
    { length: CHECKSUM_CHARACTERS },
    (_, index) => (checksum >>> (5 * (5 - index))) & 31,
  );
  return `${prefix}1${[...data, ...check].map((value) => ALPHABET[value]).join('')}`;
}

/**
 * Decodes a text.
 * @returns the lower-case prefix and the bytes, which the caller overwrites if they are secret
 * @throws `invalid`, without the text in it, which may be a secret key
 */
export function parseBech32(text: string): { readonly prefix: string; readonly bytes: Buffer } {
  const small = text.toLowerCase();
  if (text !== small && text !== text.toUpperCase()) {
    throw mistyped('it mixes upper-case and lower-case letters');
  }
  const end = small.lastIndexOf('1');
  if (text.length > MAX_CHARACTERS || end < 1 || small.length - end - 1 < CHECKSUM_CHARACTERS) {
    throw mistyped('it is truncated, or not an age key');
  }
  const prefix = small.slice(0, end);
  const values: number[] = [];
  for (let at = end + 1; at < small.length; at++) values.push(VALUES[small.charCodeAt(at)] ?? -1);
  if (!/^[\x21-\x7e]+$/.test(prefix) || values.includes(-1)) {
    throw mistyped('it has an invalid character');
  }
  if (polymod([...expanded(prefix), ...values]) !== 1) throw mistyped('its checksum is wrong');
  const bytes = regrouped(values.slice(0, -CHECKSUM_CHARACTERS), 5, 8, false);
  if (bytes === undefined) throw mistyped('its padding is wrong');
  return { prefix, bytes: Buffer.from(bytes) };
}

const mistyped = (why: string) => invalid(`invalid age key: ${why}`, { hint: 'copy the complete key again' });
