import { ByteReader } from '../../../../ground/byte-reader.ts';
import { Refused } from '../return-values.ts';

/**
 * Wire encoding of p11-kit's remote protocol: big-endian numbers, and byte arrays with a length prefix. Input is not
 * trusted: a length never exceeds the available bytes.
 */

const UINT32_BYTES = 4;
const ULONG_BYTES = 8;
/** Length of a missing array. */
export const NO_ARRAY = 0xffff_ffff;
const ULONG_BITS = 64;

/** Encoding of mechanisms, which depends on the client's release. */
export type MechanismLayout = 'marked' | 'flagged';

/** Reads one message. All methods throw `Refused` for truncated or invalid input. */
export class WireReader extends ByteReader {
  /** Encoding of mechanisms in this message. */
  readonly mechanisms: MechanismLayout;

  constructor(bytes: Buffer, mechanisms: MechanismLayout = 'flagged') {
    super(bytes, malformed);
    this.mechanisms = mechanisms;
  }

  /** `CK_ULONG`: all ones are -1; numbers that JavaScript cannot represent exactly are never valid for this token. */
  ulong(): number {
    return Number(this.bytes(ULONG_BYTES).readBigInt64BE());
  }

  /** Reads a byte array; undefined for a null pointer. */
  array(): Buffer | undefined {
    const length = this.uint32();
    return length === NO_ARRAY ? undefined : this.bytes(length);
  }

  /**
   * Reads several items.
   * @param most maximum number
   */
  many<T>(count: number, most: number, read: () => T): T[] {
    if (count > most) throw malformed();
    return Array.from({ length: count }, read);
  }
}

export const malformed = (): Refused => new Refused('argumentsBad');

/** Writes one message. */
export class WireWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  put(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  byte(value: number): void {
    const at = this.#grow(1);
    this.#bytes.writeUInt8(value, at);
  }

  uint32(value: number): void {
    const at = this.#grow(UINT32_BYTES);
    this.#bytes.writeUInt32BE(value, at);
  }

  /**
   * Writes a number.
   * @param value -1 for "not available"
   */
  ulong(value: number): void {
    const at = this.#grow(ULONG_BYTES);
    this.#bytes.writeBigUInt64BE(BigInt.asUintN(ULONG_BITS, BigInt(value)), at);
  }

  array(bytes: Uint8Array | undefined): void {
    this.uint32(bytes?.length ?? NO_ARRAY);
    if (bytes !== undefined) this.put(bytes);
  }

  /** Returns the bytes written so far. */
  done(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /**
   * Allocates space.
   * @returns its position
   */
  #grow(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}

const FIRST_BYTES = 256;
