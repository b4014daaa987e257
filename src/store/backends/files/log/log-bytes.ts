import { fstatSync } from 'node:fs';
import { fill, reading, refuseForeign } from '../durable-files.ts';

/** Bytes that are read at once. */
const CHUNK_BYTES = 64 * 1024;

/** Part of a file that is in memory. */
export interface Kept {
  bytes: Buffer;
  /** Offset of its first byte. */
  start: number;
}

/** An open file of the log. */
export class LogBytes {
  readonly #fd: number;
  /** Part that was read last. */
  chunk: Kept = { bytes: Buffer.alloc(0), start: 0 };

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Runs `work` on the file of a path; undefined if there is none. */
  static of<T>(path: string, work: (file: LogBytes) => T): T | undefined {
    return reading(path, (fd) => work(new LogBytes(fd)));
  }

  /** @throws `unavailable` if the file, with this path, belongs to somebody else */
  refuseForeign(path: string): void {
    refuseForeign(path, fstatSync(this.#fd));
  }

  /** Whether the file has so many bytes. */
  reaches(end: number): boolean {
    const { bytes, start } = this.chunk;
    return end <= start + bytes.length || end <= fstatSync(this.#fd).size;
  }

  /** Returns bytes, and reads what follows them as well; fewer at the end of the file. */
  at(offset: number, length: number): Buffer {
    const { bytes, start } = this.chunk;
    if (offset < start || offset + length > start + bytes.length)
      this.chunk = { bytes: this.alone(offset, Math.max(length, CHUNK_BYTES)), start: offset };
    const from = offset - this.chunk.start;
    return this.chunk.bytes.subarray(from, from + length);
  }

  /** Returns only these bytes; fewer at the end of the file. */
  alone(offset: number, length: number): Buffer {
    return fill(this.#fd, Buffer.allocUnsafe(length), offset);
  }
}

/** What is in memory of a file, and which part of that has records. */
export interface Used {
  readonly kept: Kept;
  readonly begin: number;
  end: number;
}

/** Lets go of the memory of a chunk of which little is used. */
export function release(used: Used | undefined): void {
  if (used === undefined) return;
  const { kept, begin, end } = used;
  if ((end - begin) * 2 >= kept.bytes.length) return;
  kept.bytes = Buffer.from(kept.bytes.subarray(begin - kept.start, end - kept.start));
  kept.start = begin;
}
