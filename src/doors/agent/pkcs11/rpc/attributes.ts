import { malformed, type WireReader, type WireWriter } from './wire.ts';

/**
 * Object attributes. The encoding of a value depends on its type, and the message does not say which one was used: a
 * wrong one would misinterpret everything after it. The table is that of p11-kit's client; attributes that are not in
 * it are byte arrays.
 */

/** Those that are flags. */
const FLAGS = {
  token: 0x01,
  private: 0x02,
  trusted: 0x86,
  sensitive: 0x103,
  encrypt: 0x104,
  decrypt: 0x105,
  wrap: 0x106,
  unwrap: 0x107,
  sign: 0x108,
  signRecover: 0x109,
  verify: 0x10a,
  verifyRecover: 0x10b,
  derive: 0x10c,
  extractable: 0x162,
  local: 0x163,
  neverExtractable: 0x164,
  alwaysSensitive: 0x165,
  modifiable: 0x170,
  copyable: 0x171,
  alwaysAuthenticate: 0x202,
  wrapWithTrusted: 0x210,
} as const;
/** Those that are numbers. */
const ULONGS = {
  class: 0x00,
  certificateType: 0x80,
  certificateCategory: 0x87,
  keyType: 0x100,
  modulusBits: 0x121,
  keyGenMechanism: 0x166,
} as const;

/** `CKA_…` */
export const ATTRIBUTE = {
  ...FLAGS,
  ...ULONGS,
  label: 0x03,
  value: 0x11,
  issuer: 0x81,
  serialNumber: 0x82,
  checkValue: 0x90,
  subject: 0x101,
  id: 0x102,
  startDate: 0x110,
  endDate: 0x111,
  modulus: 0x120,
  publicExponent: 0x122,
  privateExponent: 0x123,
  prime1: 0x124,
  prime2: 0x125,
  exponent1: 0x126,
  exponent2: 0x127,
  coefficient: 0x128,
  publicKeyInfo: 0x129,
  destroyable: 0x172,
  ecParams: 0x180,
  ecPoint: 0x181,
  allowedMechanisms: 0x4000_0600,
} as const;

/**
 * Encoding of false for attributes that p11-kit treats as bytes although PKCS #11 defines a flag, such as
 * `CKA_DESTROYABLE`.
 */
export const NO_AS_BYTES = Buffer.alloc(1);

/** Value of an attribute. */
export type AttributeValue = boolean | number | Buffer | readonly number[] | readonly ObjectAttribute[];

export interface ObjectAttribute {
  readonly type: number;
  /** Value of the attribute; undefined if it does not exist, or is not revealed. */
  readonly value: AttributeValue | undefined;
}

/** Requested attribute. */
export interface WantedAttribute {
  readonly type: number;
  /** Size of the client's buffer, which the client itself manages. */
  readonly room: number;
}

interface Writing<V extends AttributeValue> {
  is(value: AttributeValue): value is V;
  /** Returns the length of the value for a C program, in bytes. */
  length(value: V): number;
  read(reader: WireReader, depth: number): V;
  write(writer: WireWriter, value: V): void;
}

/** Maximum number of attributes, more than any program requests at once. */
const MOST_ATTRIBUTES = 256;
const MOST_MECHANISMS = 1024;
/** Maximum nesting depth of templates, the same as in p11-kit. */
const DEEPEST = 8;
const ULONG_BYTES = 8;
/** `sizeof (CK_ATTRIBUTE)` with 8-byte pointers. */
const ATTRIBUTE_BYTES = 24;

const flag: Writing<boolean> = {
  is: (value) => typeof value === 'boolean',
  length: () => 1,
  read: (reader) => reader.byte() !== 0,
  write: (writer, value) => writer.byte(value ? 1 : 0),
};

const ulong: Writing<number> = {
  is: (value) => typeof value === 'number',
  length: () => ULONG_BYTES,
  read: (reader) => reader.ulong(),
  write: (writer, value) => writer.ulong(value),
};

const bytes: Writing<Buffer> = {
  is: Buffer.isBuffer,
  length: (value) => value.length,
  read: (reader) => reader.array() ?? Buffer.alloc(0),
  write: (writer, value) => writer.array(value),
};

const DATE_BYTES = 8;
const date: Writing<Buffer> = {
  ...bytes,
  read(reader, depth) {
    const value = bytes.read(reader, depth);
    if (value.length !== 0 && value.length !== DATE_BYTES) throw malformed();
    return value;
  },
};

const isNumbers = (value: AttributeValue): value is readonly number[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'number');

const mechanismTypes: Writing<readonly number[]> = {
  is: isNumbers,
  length: (value) => ULONG_BYTES * value.length,
  read: (reader) => reader.many(reader.uint32(), MOST_MECHANISMS, () => reader.ulong()),
  write(writer, value) {
    writer.uint32(value.length);
    for (const type of value) writer.ulong(type);
  },
};

const isTemplate = (value: AttributeValue): value is readonly ObjectAttribute[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'object');

const template: Writing<readonly ObjectAttribute[]> = {
  is: isTemplate,
  length: (value) => ATTRIBUTE_BYTES * value.length,
  read: (reader, depth) => readAttributes(reader, depth + 1),
  write: (writer, value) => writeAttributes(writer, value),
};

const A = ATTRIBUTE;
/** Attributes that only other tokens have are listed by number: display colors, `CKA_RESET_ON_INIT` and others. */
const OTHER_FLAGS = [0x200, 0x301, 0x302, 0x405];
const OTHER_ULONGS = [
  0x88, 0x133, 0x134, 0x160, 0x161, 0x201, 0x300, 0x400, 0x401, 0x402, 0x403, 0x404, 0x406, 0x500,
];
const TEMPLATES: readonly number[] = [0x4000_0211, 0x4000_0212, 0x4000_0213];

const WRITINGS: ReadonlyMap<number, Writing<AttributeValue>> = new Map(
  (
    [
      [flag, [...Object.values(FLAGS), ...OTHER_FLAGS]],
      [ulong, [...Object.values(ULONGS), ...OTHER_ULONGS]],
      [template, TEMPLATES],
      [date, [A.startDate, A.endDate]],
      [mechanismTypes, [A.allowedMechanisms]],
    ] as readonly (readonly [Writing<AttributeValue>, readonly number[]])[]
  ).flatMap(([writing, types]) => types.map((type) => [type, writing] as const)),
);

const writingOf = (type: number): Writing<AttributeValue> =>
  WRITINGS.get(type) ?? (bytes as Writing<AttributeValue>);

function readAttribute(reader: WireReader, depth: number): ObjectAttribute {
  const type = reader.uint32();
  if (reader.byte() === 0) return { type, value: undefined };
  // The length in the calling program is redundant.
  reader.uint32();
  return { type, value: writingOf(type).read(reader, depth) };
}

function writeAttribute(writer: WireWriter, { type, value }: ObjectAttribute): void {
  writer.uint32(type);
  writer.byte(value === undefined ? 0 : 1);
  if (value === undefined) return;
  const writing = writingOf(type);
  if (!writing.is(value)) throw new TypeError(`attribute ${type} has a value of the wrong type`);
  writer.uint32(writing.length(value));
  writing.write(writer, value);
}

/** `aA` */
export function readAttributes(reader: WireReader, depth = 0): readonly ObjectAttribute[] {
  if (depth > DEEPEST) throw malformed();
  return reader.many(reader.uint32(), MOST_ATTRIBUTES, () => readAttribute(reader, depth));
}

export function writeAttributes(writer: WireWriter, attributes: readonly ObjectAttribute[]): void {
  writer.uint32(attributes.length);
  for (const attribute of attributes) writeAttribute(writer, attribute);
}

/** `fA`: for a template with a buffer, the requests for its attributes are included. */
export function readWanted(reader: WireReader, depth = 0): readonly WantedAttribute[] {
  if (depth > DEEPEST) throw malformed();
  return reader.many(reader.uint32(), MOST_ATTRIBUTES, () => {
    const type = reader.uint32();
    const room = reader.uint32();
    if (room > 0 && TEMPLATES.includes(type)) readWanted(reader, depth + 1);
    return { type, room };
  });
}
