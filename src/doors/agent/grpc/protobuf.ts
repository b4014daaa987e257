import { ByteReader } from '../../../ground/byte-reader.ts';
import { invalid } from '../../../ground/errors.ts';

/*
 * Subset of Protocol Buffers (protobuf.dev/programming-guides/encoding) that these services need: fields with bytes,
 * text or messages, and integers, which are ignored. Unknown fields are skipped.
 */

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;
const MOST_VARINT_BYTES = 10;
const FIELD_BITS = 3;
const MOST_FIELD = 2 ** 29 - 1;

/**
 * Fields with bytes by number; the last one of a repeated field, which is the one that counts in every implementation.
 */
export type ProtobufFields = ReadonlyMap<number, Buffer>;

/**
 * Parses a message in time linear in its length, however often a field is repeated.
 * @throws `invalid` if it is malformed
 */
export function parseFields(message: Buffer): ProtobufFields {
  const extents = new Map<number, Extent>();
  const reader = new ByteReader(message, () => invalid('the request is truncated'));
  const varint = (): number => {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < MOST_VARINT_BYTES; count++) {
      const byte = reader.byte();
      // Numbers beyond 2^53 lose their last digits here, and are too large for any use then.
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw invalid('a number in the request is too long');
  };
  const pass = (length: number): Extent => {
    reader.skip(length);
    return { from: reader.position - length, to: reader.position };
  };
  while (!reader.isAtEnd) {
    const key = varint();
    const number = Math.floor(key / 2 ** FIELD_BITS);
    if (number < 1 || number > MOST_FIELD) throw invalid(`invalid field number ${number} in the request`);
    switch (key % 2 ** FIELD_BITS) {
      case VARINT:
        varint();
        break;
      case FIXED_64:
        pass(8);
        break;
      case FIXED_32:
        pass(4);
        break;
      case BYTES:
        extents.set(number, pass(varint()));
        break;
      default:
        throw invalid('the request has a field of an unknown wire type');
    }
  }
  return new Map(Array.from(extents, ([number, { from, to }]) => [number, message.subarray(from, to)]));
}

/** Range of a field's value in a message. */
interface Extent {
  readonly from: number;
  readonly to: number;
}

/** Returns a field's bytes; empty if it is absent. */
export const bytesIn = (fields: ProtobufFields, number: number): Buffer =>
  fields.get(number) ?? Buffer.alloc(0);

/**
 * Returns a field's text.
 * @throws `invalid` if it is not UTF-8
 */
export function textIn(fields: ProtobufFields, number: number): string {
  const bytes = bytesIn(fields, number);
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  throw invalid('a string in the request is not UTF-8');
}

/** Encodes a field with bytes or text; omits an empty one, which is equivalent. */
export function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  if (bytes.length === 0) return bytes;
  return Buffer.concat([varint(number * 2 ** FIELD_BITS + BYTES), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left % 0x80) | 0x80);
    left = Math.floor(left / 0x80);
  }
  return Buffer.from([...bytes, left]);
}
