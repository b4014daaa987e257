/** A mark of ELF files (`<elf.h>`, 64 bits, little-endian): what the loader makes read-only once it has put in the addresses of libraries. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

const LOAD = 1;
const EH_FRAME = 0x6474e550;
const RELRO = 0x6474e552;
const AT = { headers: 32, headerBytes: 54, headerCount: 56 } as const;
const HEADER_BYTES = 64;
/** Within a program header. */
const FIELD = { type: 0, offset: 8, address: 16, memoryBytes: 40 } as const;

interface Header {
  readonly bytes: Buffer;
  /** In the file. */
  readonly at: number;
}

function headersOf(file: number): readonly Header[] {
  const read = (at: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, at);
    return bytes;
  };
  const start = read(0, HEADER_BYTES);
  const size = start.readUInt16LE(AT.headerBytes);
  return Array.from({ length: start.readUInt16LE(AT.headerCount) }, (_, index) => {
    const at = Number(start.readBigUInt64LE(AT.headers)) + index * size;
    return { bytes: read(at, size), at };
  });
}

const find = (headers: readonly Header[], type: number, address?: bigint): Header | undefined =>
  headers.find(({ bytes }) => {
    if (bytes.readUInt32LE(FIELD.type) !== type) return false;
    if (address === undefined) return true;
    const from = bytes.readBigUInt64LE(FIELD.address);
    return address >= from && address < from + bytes.readBigUInt64LE(FIELD.memoryBytes);
  });

/**
 * Marks in a file what was marked in the one that it was made of by taking sections away: binutils then lose the mark. It takes the place of the one
 * for the tables of exceptions, which are no more.
 * @throws when there is no such place.
 */
export function keepRelro(from: string, to: string): void {
  const files = [openSync(from, 'r'), openSync(to, 'r+')] as const;
  try {
    const [before, after] = [headersOf(files[0]), headersOf(files[1])];
    const mark = find(before, RELRO);
    if (mark === undefined || find(after, RELRO) !== undefined) return;
    const address = mark.bytes.readBigUInt64LE(FIELD.address);
    const segment = find(after, LOAD, address);
    const place = find(after, EH_FRAME);
    if (segment === undefined || place === undefined) throw new Error(`${to} has no place for the mark`);
    const within = address - segment.bytes.readBigUInt64LE(FIELD.address);
    const written = Buffer.from(mark.bytes);
    written.writeBigUInt64LE(segment.bytes.readBigUInt64LE(FIELD.offset) + within, FIELD.offset);
    writeSync(files[1], written, 0, written.length, place.at);
  } finally {
    for (const file of files) closeSync(file);
  }
}
