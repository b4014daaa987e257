/**
 * GNU_RELRO program header of ELF files (`<elf.h>`, 64-bit, little-endian): the segment that the loader makes read-only
 * after relocation.
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

const LOAD = 1;
const EH_FRAME = 0x6474e550;
const RELRO = 0x6474e552;
const AT = { headers: 32, headerBytes: 54, headerCount: 56 } as const;
const HEADER_BYTES = 64;
/** Offsets within a program header. */
const FIELD = { type: 0, offset: 8, address: 16, memoryBytes: 40 } as const;

interface Header {
  readonly bytes: Buffer;
  /** Offset in the file. */
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
 * Restores the GNU_RELRO header of a file after sections were removed, since binutils then lose it. It replaces the
 * header of the exception tables, which were removed.
 * @throws if there is no such header
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
