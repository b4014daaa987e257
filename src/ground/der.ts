import { invalid } from './errors.ts';

/**
 * Distinguished Encoding Rules of ASN.1 (X.690), the subset for certificates (RFC 5280) and certificate requests (RFC
 * 2986).
 */

/** Identifier octets: universal types, and the first context-specific one. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  sequence: 0x30,
  set: 0x31,
  context0: 0xa0,
} as const;

/** DER value. Its bytes are views of the input, not copies. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly bytes: Buffer;
}

const CONSTRUCTED = 0x20;
/** Sign bit in a number's first octet. */
const SIGN = 0x80;
/** Continuation bit in the octets of an arc. */
const CONTINUES = 0x80;
/** Identifier bits of a tag number that continues in further octets, which is not supported. */
const HIGH_TAG_NUMBER = 0x1f;
const LONG_FORM = 0x80;
/** Maximum number of octets of a long-form length: enough for 16 MiB. */
const MOST_LENGTH_OCTETS = 3;

/**
 * Parses exactly one value.
 * @throws `invalid` otherwise
 */
export function readDer(bytes: Buffer): DerValue {
  const [value, ...more] = valuesIn(bytes);
  if (value === undefined || more.length > 0) throw malformed('expected exactly one value');
  return value;
}

/**
 * Parses the members of a constructed value.
 * @throws `invalid` if it does not have this tag, or they are malformed
 */
export function membersOf(value: DerValue | undefined, tag: number): DerValue[] {
  if (value?.tag !== tag) throw malformed(`expected the tag ${tag}, found ${value?.tag ?? 'nothing'}`);
  return valuesIn(value.content);
}

function valuesIn(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = valueAt(bytes, at);
    values.push(value);
    at += value.bytes.length;
  }
  return values;
}

function valueAt(bytes: Buffer, at: number): DerValue {
  const tag = bytes[at];
  const short = bytes[at + 1];
  if (tag === undefined || short === undefined) throw malformed('unexpected end of a value');
  if ((tag & HIGH_TAG_NUMBER) === HIGH_TAG_NUMBER) throw malformed('a tag has several octets');
  const { length, octets } =
    short < LONG_FORM ? { length: short, octets: 0 } : longLength(bytes, at + 2, short);
  const start = at + 2 + octets;
  if (start + length > bytes.length) throw malformed('unexpected end of a value');
  return {
    tag,
    content: bytes.subarray(start, start + length),
    bytes: bytes.subarray(at, start + length),
  };
}

/** Parses a long-form length, which must be minimal. */
function longLength(bytes: Buffer, at: number, first: number): { length: number; octets: number } {
  const octets = first - LONG_FORM;
  if (octets === 0 || octets > MOST_LENGTH_OCTETS || at + octets > bytes.length) {
    throw malformed('invalid length');
  }
  const length = bytes.readUIntBE(at, octets);
  if (length < LONG_FORM || length < 2 ** (8 * (octets - 1))) throw malformed('a length is padded');
  return { length, octets };
}

/** Maximum nesting depth: a name has three levels, an attribute not many more. */
const DEEPEST = 32;

/**
 * Validates nested values at any depth.
 * @throws `invalid` if one is malformed
 */
export function requireWellFormed({ tag, content }: DerValue, depth = 0): void {
  if ((tag & CONSTRUCTED) === 0) return;
  if (depth > DEEPEST) throw malformed('values are nested too deeply');
  for (const member of valuesIn(content)) requireWellFormed(member, depth + 1);
}

/**
 * Parses an integer of any size.
 * @throws `invalid` for a negative one
 */
export function integerOf(value: DerValue | undefined): bigint {
  if (value?.tag !== TAG.integer || value.content.length === 0) throw malformed('expected a number');
  if ((value.content[0] ?? 0) >= SIGN) throw malformed('a number is negative');
  return BigInt(`0x${value.content.toString('hex')}`);
}

/**
 * Parses a boolean.
 * @throws `invalid` unless it is one octet
 */
export function booleanOf({ content }: DerValue): boolean {
  if (content.length !== 1) throw malformed('expected true or false');
  return content[0] !== 0;
}

/**
 * Maximum number of octets of an object identifier: longer than any in use, because parsing a long arc is quadratic.
 */
const MOST_IDENTIFIER_OCTETS = 256;

/**
 * Parses an object identifier into dotted form: `2.5.29.17`.
 * @throws `invalid`
 */
export function identifierOf(value: DerValue | undefined): string {
  if (value?.tag !== TAG.objectIdentifier || value.content.length === 0) {
    throw malformed('expected an object identifier');
  }
  if (value.content.length > MOST_IDENTIFIER_OCTETS) throw malformed('an object identifier is too long');
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const octet of value.content) {
    arc = (arc << 7n) | BigInt(octet & ~CONTINUES);
    if ((octet & CONTINUES) !== 0) continue;
    arcs.push(arc);
    arc = 0n;
  }
  if (((value.content.at(-1) ?? 0) & CONTINUES) !== 0)
    throw malformed('unexpected end of an object identifier');
  const [first = 0n, ...rest] = arcs;
  // The first two arcs share one number (X.690, 8.19.4).
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...rest].join('.');
}

/** Encodes a value from its parts. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(content.length)]), content]);
}

function lengthOctets(length: number): number[] {
  if (length < LONG_FORM) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [LONG_FORM + octets.length, ...octets];
}

const malformed = (what: string) => invalid(`asn1: ${what}`);
