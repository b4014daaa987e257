import { ByteReader } from '../ground/byte-reader.ts';
import { invalid } from '../ground/errors.ts';

/* SSH data types (RFC 4251, section 5): 32-bit numbers, strings with a length prefix, and integers of any size. */

const LENGTH_BYTES = 4;

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function string(value: string | Uint8Array): Buffer {
  const isText = typeof value === 'string';
  const length = isText ? Buffer.byteLength(value) : value.length;
  const bytes = Buffer.alloc(LENGTH_BYTES + length);
  bytes.writeUInt32BE(length);
  if (isText) bytes.write(value, LENGTH_BYTES);
  else bytes.set(value, LENGTH_BYTES);
  return bytes;
}

/**
 * Encodes a non-negative integer.
 * @param bytes big-endian, of any length
 */
export function mpint(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  if (start < 0) return string('');
  const digits = bytes.subarray(start);
  // The first bit is the sign.
  return string((digits[0] ?? 0) < 0x80 ? digits : Buffer.concat([Buffer.alloc(1), digits]));
}

/** Reads encoded data sequentially. All methods throw `invalid` for truncated data. */
export class SshReader extends ByteReader {
  /** @param what name of the data in messages: `this signature` */
  constructor(bytes: Buffer, what: string) {
    super(bytes, (why) => invalid(`${what} ${why}`));
  }

  text(): string {
    return this.string().toString('utf8');
  }

  /** Reads a non-negative integer, without leading zeros. */
  mpint(): Buffer {
    const bytes = this.string();
    const first = bytes[0];
    if (first === undefined) return bytes;
    const isPadded = first === 0 && (bytes[1] ?? 0) < 0x80;
    if (first >= 0x80 || isPadded) throw this.broken('has an invalid number encoding');
    return first === 0 ? bytes.subarray(1) : bytes;
  }
}
