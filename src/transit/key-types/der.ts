/** Subset of DER (ITU-T X.690) that key and signature formats need. */

export const INTEGER = 0x02;
export const OCTET_STRING = 0x04;
export const OBJECT_IDENTIFIER = 0x06;
export const SEQUENCE = 0x30;

/** DER element: its content, and the position after it. */
interface DerElement {
  readonly content: Uint8Array;
  readonly end: number;
}

/** Maximum number of bytes of a long-form length, the same as in Vault and OpenBao. */
const LONGEST_LENGTH = 4;

/** Reads the element with this tag at `at`; undefined if there is none, or its length is not minimal. */
export function derElement(bytes: Uint8Array, at: number, tag: number): DerElement | undefined {
  const short = bytes[at + 1];
  if (bytes[at] !== tag || short === undefined) return undefined;
  if (short < 0x80) return within(bytes, at + 2, short);
  const count = short - 0x80;
  const digits = bytes.subarray(at + 2, at + 2 + count);
  if (count > LONGEST_LENGTH || digits.length < count) return undefined;
  const length = digits.reduce((sum, digit) => 256 * sum + digit, 0);
  const isShortest = length >= 0x80 && digits[0] !== 0;
  return isShortest ? within(bytes, at + 2 + count, length) : undefined;
}

function within(bytes: Uint8Array, start: number, length: number): DerElement | undefined {
  const end = start + length;
  return end <= bytes.length ? { content: bytes.subarray(start, end), end } : undefined;
}
