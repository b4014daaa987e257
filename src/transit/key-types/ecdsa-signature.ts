import { invalid } from '../../ground/errors.ts';

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/**
 * Checks that a signature is what ASN.1 DER makes of two integers, as peers do before they verify it. OpenSSL would only
 * answer "not valid", and a caller could not tell a signature of something else from bytes that are no signature.
 * @throws `invalid`
 */
export function requireDerSignature(signature: Uint8Array): void {
  const sequence = valueAt(signature, 0, SEQUENCE);
  const r = integerAt(signature, sequence.start);
  const s = integerAt(signature, r.end);
  if (s.end !== sequence.end) throw malformed();
  if (sequence.end !== signature.length) {
    throw invalid('supplied signature contains extra data', { field: 'signature', hint: FIX });
  }
}

const FIX = 'give the signature as it was made; jws signatures need marshaling_algorithm jws';

const malformed = () => invalid('supplied signature is invalid', { field: 'signature', hint: FIX });

interface Value {
  readonly start: number;
  readonly end: number;
}

/** Where the value of this tag starts and ends. */
function valueAt(bytes: Uint8Array, at: number, tag: number): Value {
  const short = bytes[at + 1];
  if (bytes[at] !== tag || short === undefined) throw malformed();
  if (short < 0x80) return within(bytes, at + 2, short);
  const long = bytes[at + 2];
  // One byte of long form is all that two integers of 66 bytes need; the shortest form is the only one.
  if (short !== 0x81 || long === undefined || long < 0x80) throw malformed();
  return within(bytes, at + 3, long);
}

function within(bytes: Uint8Array, start: number, length: number): Value {
  if (start + length > bytes.length) throw malformed();
  return { start, end: start + length };
}

/** An integer in its shortest form; zero and negative numbers are integers too. */
function integerAt(bytes: Uint8Array, at: number): Value {
  const value = valueAt(bytes, at, INTEGER);
  const first = bytes[value.start];
  const second = bytes[value.start + 1];
  if (value.end === value.start || first === undefined) throw malformed();
  const padded =
    value.end - value.start > 1 &&
    second !== undefined &&
    ((first === 0x00 && second < 0x80) || (first === 0xff && second >= 0x80));
  if (padded) throw malformed();
  return value;
}
