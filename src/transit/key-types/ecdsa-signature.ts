import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { derElement, INTEGER, SEQUENCE } from './der.ts';
import type { Marshaling } from './key-type.ts';

/**
 * Extracts the two numbers of a signature, padded to the length of the curve's coordinates and concatenated; undefined
 * if no key on the curve can have made them. As in Vault, only the numbers matter: their leading zeros, and data after
 * them within the DER sequence, are ignored.
 * @throws `invalid` for bytes that are not DER where they should be: OpenSSL would only answer "not valid", and a
 * caller could not distinguish a signature of something else from bytes that are not a signature
 * @see docs/decisions/0128
 */
export function joinedNumbers(
  signature: Uint8Array,
  marshaling: Marshaling,
  coordinateBytes: number,
): Buffer | undefined {
  if (marshaling === 'jws') {
    const middle = signature.length >> 1;
    return joined(signature.subarray(0, middle), signature.subarray(middle), coordinateBytes);
  }
  const numbers = numbersInDer(signature);
  if (numbers !== undefined) return joined(numbers.r, numbers.s, coordinateBytes);
  // This length is that of the other marshaling: not valid, but not malformed either.
  if (signature.length === 2 * coordinateBytes) return undefined;
  throw invalid(ownWords('supplied signature is invalid'), { field: 'signature', hint: FIX });
}

const FIX = 'give the signature unchanged; one in the format jws needs marshaling_algorithm=jws';

function joined(r: Uint8Array, s: Uint8Array, coordinateBytes: number): Buffer | undefined {
  const halves = Buffer.alloc(2 * coordinateBytes);
  for (const [number, end] of [
    [r, coordinateBytes],
    [s, 2 * coordinateBytes],
  ] as const) {
    // If there are only zeros, keep the last one.
    const digits = number.subarray(number.findIndex((byte) => byte !== 0));
    if (digits.length > coordinateBytes) return undefined;
    halves.set(digits, end - digits.length);
  }
  return halves;
}

/**
 * Reads the numbers.
 * @throws `invalid` for data after the sequence
 */
function numbersInDer(signature: Uint8Array) {
  const sequence = derElement(signature, 0, SEQUENCE);
  if (sequence === undefined) return undefined;
  const r = integerAt(sequence.content, 0);
  const s = r && integerAt(sequence.content, r.end);
  if (r === undefined || s === undefined) return undefined;
  if (sequence.end !== signature.length) {
    throw invalid(ownWords('supplied signature contains extra data'), { field: 'signature', hint: FIX });
  }
  return { r: positive(r.content), s: positive(s.content) };
}

/** Reads a minimal integer, including zero and negative ones. */
function integerAt(bytes: Uint8Array, at: number) {
  const value = derElement(bytes, at, INTEGER);
  const [first, second] = value?.content ?? [];
  if (first === undefined) return undefined;
  const padded =
    second !== undefined && ((first === 0x00 && second < 0x80) || (first === 0xff && second >= 0x80));
  return padded ? undefined : value;
}

const NOTHING = new Uint8Array();

/** Replaces a negative number by zero, which is not valid in a signature either. */
const positive = (integer: Uint8Array): Uint8Array => ((integer[0] ?? 0) < 0x80 ? integer : NOTHING);
