/** Bytes of the files of the log: a head, then records. Documented in docs/format.md. */

/** Bytes after which the native function is loaded: loading it takes as long as computing this much without it. */
const FEW_BYTES = 64 * 1024;
/** CRC-32 of ISO 3309, as in zlib, with its bits reversed. */
const POLYNOMIAL = 0xedb88320;

let computed = 0;
let native: ((data: Uint8Array, value?: number) => number) | undefined;
/** Of signed numbers: larger ones are objects in code that is not compiled yet. */
let table: Int32Array | undefined;

/**
 * Returns the CRC-32 of bytes.
 * @param before CRC-32 of the bytes before them
 */
export function crc32(bytes: Uint8Array, before = 0): number {
  computed += bytes.length;
  // Node's module loads others; commands, which read little of a log, do without it.
  if (computed > FEW_BYTES) native ??= process.getBuiltinModule('node:zlib').crc32;
  return native === undefined ? plainCrc32(bytes, before) : native(bytes, before);
}

/** As `crc32`, byte by byte. */
export function plainCrc32(bytes: Uint8Array, before = 0): number {
  return ~continued(bytes, 0, bytes.length, ~before) >>> 0;
}

/** Returns the complement of a CRC-32 that goes on with some of the bytes; `crc` and what is returned are signed. */
export function continued(bytes: Uint8Array, from: number, to: number, crc: number): number {
  table ??= makeTable();
  const known = table;
  let sum = crc;
  // Not for…of, which takes several times as long in code that is not compiled yet.
  for (let i = from; i < to; i++) sum = (known[(sum ^ (bytes[i] as number)) & 0xff] as number) ^ (sum >>> 8);
  return sum;
}

/** Computes the eight bytes with one bit, and all others from these: at once even in code that is not compiled yet. */
function makeTable(): Int32Array {
  const made = new Int32Array(256);
  let crc = 1;
  for (let bit = 128; bit > 0; bit >>= 1) {
    crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL;
    for (let other = 0; other < 256; other += 2 * bit) made[bit + other] = crc ^ (made[other] ?? 0);
  }
  return made;
}

const MAGIC = Buffer.from('COFFERLG');
const FORMAT = 1;
/** Bytes of a file before its records that say something. */
export const HEAD_BYTES = 68;
/** Offset of the first record. */
export const FIRST_RECORD = 4096;
/** Size of a new file. It is made of zeros, so that the sync of a record has no metadata to write. */
export const FILE_BYTES = 1024 * 1024;
/** A file takes no more records once it has this many, or once one has ended at or after `FILE_BYTES`. */
export const MOST_RECORDS = 256;
/** Records begin at multiples of this. */
const ALIGNMENT = 8;
/** Bytes of a record before its list of blobs. */
export const RECORD_HEAD_BYTES = 36;
export const ENTRY_HEAD_BYTES = 10;
const ID_BYTES = 16;
export const SALT_BYTES = 16;
export const BOOT_BYTES = 8;

/** First block of a file. */
export interface LogHead {
  /**
   * Whether the documents had every change up to its base when it was made, so that no file before it is needed.
   * Otherwise the file before it has to be there, until the name `first-<number>` says that the documents have what is
   * in that.
   */
  readonly isFirst: boolean;
  /** Generation of its records. */
  readonly generation: number;
  /** 16 bytes of the ID of the store. */
  readonly storeId: Uint8Array;
  /** Number of the file. */
  readonly sequence: number;
  /** Revision before its first record: everything up to it is in older files or in the documents. */
  readonly base: number;
  /** Random; distinguishes a file from another one of the same number. */
  readonly salt: Uint8Array;
}

export function printHead({ isFirst, generation, storeId, sequence, base, salt }: LogHead): Buffer {
  const bytes = Buffer.alloc(FIRST_RECORD);
  MAGIC.copy(bytes);
  bytes.writeUInt8(FORMAT, 8);
  bytes.writeUInt8(isFirst ? 1 : 0, 9);
  bytes.writeUInt32BE(generation, 12);
  bytes.set(storeId, 16);
  writeNumber(bytes, sequence, 32);
  writeNumber(bytes, base, 40);
  bytes.set(salt, 48);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, HEAD_BYTES - 4)), HEAD_BYTES - 4);
  return bytes;
}

/**
 * Parses a head.
 * @returns the head and its CRC-32, which the first record continues; undefined if it is no intact head
 */
export function parseHead(bytes: Buffer): { readonly head: LogHead; readonly crc: number } | undefined {
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const crc = bytes.readUInt32BE(HEAD_BYTES - 4);
  if (crc32(bytes.subarray(0, HEAD_BYTES - 4)) !== crc || bytes.readUInt8(8) !== FORMAT) return undefined;
  const head: LogHead = {
    isFirst: bytes.readUInt8(9) === 1,
    generation: bytes.readUInt32BE(12),
    storeId: Buffer.from(bytes.subarray(16, 16 + ID_BYTES)),
    sequence: readNumber(bytes, 32),
    base: readNumber(bytes, 40),
    salt: Buffer.from(bytes.subarray(48, 48 + SALT_BYTES)),
  };
  return { head, crc };
}

/** Boot of the record that begins with these bytes. */
export const bootIn = (bytes: Buffer): Buffer => bytes.subarray(16, 16 + BOOT_BYTES);

/** Where the next record begins. */
export const nextPlace = (end: number): number => Math.ceil(end / ALIGNMENT) * ALIGNMENT;

/** Whether a file takes no more records. */
export const isFull = (records: number, end: number): boolean => records >= MOST_RECORDS || end >= FILE_BYTES;

/** Whether a file is so full that the next one should be prepared. */
export const isHalfFull = (records: number, end: number): boolean => isFull(records * 2, end * 2);

/** Bits of an entry's kind. */
export const SLOT = 1;
export const DELETED = 2;
/** Longest name of a blob. */
export const MOST_DIGITS = 64;

/** Writes a number of up to 53 bits in 8 bytes, the most significant byte first. */
export const writeNumber = (bytes: Buffer, value: number, at: number): void => {
  bytes.writeUInt32BE(Math.floor(value / HIGH), at);
  bytes.writeUInt32BE(value % HIGH, at + 4);
};

/** Reads such a number. Larger ones are not those of a store. */
export const readNumber = (bytes: Buffer, at: number): number => {
  const value = bytes.readUInt32BE(at) * HIGH + bytes.readUInt32BE(at + 4);
  return Number.isSafeInteger(value) ? value : Number.POSITIVE_INFINITY;
};

/** What the first four of eight bytes of a number count. */
export const HIGH = 2 ** 32;
