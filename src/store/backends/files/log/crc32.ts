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
