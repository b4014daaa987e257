import { fstatSync } from 'node:fs';
import type { Area, BlobRef } from '../../backend.ts';
import { fill, listDirectory, reading, refuseForeign } from '../durable-files.ts';
import type { Layout } from '../layout.ts';
import type { StateName } from '../state-directory.ts';
import { isOfThisBoot, thisBoot } from './boot.ts';
import { crc32 } from './crc32.ts';
import { FIRST_RECORD, HEAD_BYTES, type LogHead, parseHead, RECORD_HEAD_BYTES } from './format.ts';
import { type GlancedFile, readRecords } from './glanced-file.ts';
import type { LoggedBlob } from './log-file.ts';

/** Bytes of the newest file that are read at first, and of any file at most: one is only longer with a long record. */
const FIRST_BYTES = 64 * 1024;
const MOST_BYTES = 2 * 1024 * 1024;
const LARGEST_NUMBER = 999_999_999_999_999;
const FIRST = 'first-';

/** The content of the blob is not what was written: more than a glance is needed to say where. */
export const DAMAGED = 'damaged';

/** A whole log that ends with the state: what nearly every command finds. */
export class Glance {
  readonly #generation: number;
  /** Newest first. */
  readonly #files: readonly GlancedFile[];

  constructor(generation: number, files: readonly GlancedFile[]) {
    this.#generation = generation;
    this.#files = files;
  }

  /** Returns what the log says about a blob; undefined if that is in the documents. */
  find(generation: number, { area, name }: BlobRef): LoggedBlob | typeof DAMAGED | undefined {
    if (generation !== this.#generation) return undefined;
    for (const file of this.#files) {
      const place = file.find(area, name);
      if (place === undefined) continue;
      if (place.isDeleted) return { bytes: undefined };
      const bytes = file.bytes.subarray(place.offset, place.offset + place.length);
      return crc32(bytes) === place.crc ? { bytes } : DAMAGED;
    }
    return undefined;
  }

  /** Applies the log to the names of the blobs that are in an area's directory. */
  apply(generation: number, area: Area, names: Set<string>): void {
    if (generation !== this.#generation) return;
    for (const file of this.#files.toReversed()) file.apply(area, names);
  }
}

/**
 * Reads a log with as little work as possible.
 * @returns undefined if there is anything unusual: damage, something above the state, or files of another generation
 */
export function glanceAt(layout: Layout, storeId: Uint8Array, state: StateName): Glance | undefined {
  if (state.kind !== 'log') return undefined;
  let first = 0;
  const numbers: number[] = [];
  for (const name of listDirectory(layout.log)) {
    const isMark = name.startsWith(FIRST);
    const number = numberOf(isMark ? name.slice(FIRST.length) : name);
    if (isMark) first = Math.max(first, number);
    else if (number > 0) numbers.push(number);
  }
  numbers.sort((a, b) => b - a);
  const files: GlancedFile[] = [];
  let { revision } = state;
  let isWhole = false;
  for (const number of numbers) {
    if (isWhole && number < first) return undefined;
    const { generation } = state;
    const isNewest = files.length === 0;
    const found = fileAt(layout.logFile(number), { number, storeId, generation, revision, isNewest });
    if (found === undefined || numbers[0] !== number + files.length) return undefined;
    files.push(found.file);
    revision = found.head.base;
    isWhole = found.head.isFirst || number <= first;
  }
  return isWhole ? new Glance(state.generation, files) : undefined;
}

/** Returns the number that a name says; 0 if it says none. */
function numberOf(name: string): number {
  const number = Number(name);
  return number > 0 && number <= LARGEST_NUMBER && String(number) === name ? number : 0;
}

interface ExpectedFile {
  readonly number: number;
  readonly storeId: Uint8Array;
  readonly generation: number;
  /** Revision of its last record. */
  readonly revision: number;
  readonly isNewest: boolean;
}

/** Reads a file, if all of it is as expected. */
function fileAt(path: string, expected: ExpectedFile): ReturnType<typeof readFile> {
  return reading(path, (fd) => {
    const stats = fstatSync(fd);
    refuseForeign(path, stats);
    return readFile(fd, stats.size, expected);
  });
}

/** @returns the file, and its head */
function readFile(
  fd: number,
  size: number,
  { number, storeId, generation, revision, isNewest }: ExpectedFile,
): { readonly file: GlancedFile; readonly head: LogHead } | undefined {
  // An older file is full: nearly all of it has to be read.
  for (const most of isNewest ? [FIRST_BYTES, MOST_BYTES] : [MOST_BYTES]) {
    const bytes = fill(fd, Buffer.allocUnsafeSlow(Math.min(size, most)));
    const parsed = parseHead(bytes.subarray(0, HEAD_BYTES));
    if (bytes.length < FIRST_RECORD || parsed === undefined) return undefined;
    const { head } = parsed;
    if (head.sequence !== number || head.generation !== generation) return undefined;
    if (Buffer.compare(head.storeId, storeId) !== 0) return undefined;
    const file = readRecords(bytes, parsed, revision, size <= most);
    if (file === 'more') continue;
    return file === undefined || (isNewest && !endsThere(fd, size, file)) ? undefined : { file, head };
  }
  return undefined;
}

/**
 * Whether a log certainly has no change behind its end: after the machine was started again, what looks like the end
 * may be damage.
 */
function endsThere(fd: number, size: number, { bytes, next, lastBoot }: GlancedFile): boolean {
  if (!isZero(bytes.subarray(next, next + RECORD_HEAD_BYTES))) return false;
  if (lastBoot === undefined || !isOfThisBoot(thisBoot()) || isOfThisBoot(lastBoot)) return true;
  return size <= MOST_BYTES && isZero(fill(fd, Buffer.allocUnsafeSlow(size)).subarray(next));
}

const isZero = (bytes: Buffer): boolean => bytes.equals(Buffer.alloc(bytes.length));
