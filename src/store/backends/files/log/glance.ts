import { fstatSync } from 'node:fs';
import type { Area, BlobRef } from '../../backend.ts';
import { fill, listDirectory, reading, refuseForeign } from '../durable-files.ts';
import type { Layout } from '../layout.ts';
import type { StateName } from '../state-directory.ts';
import { isOfThisBoot, thisBoot } from './boot.ts';
import {
  bootIn,
  continued,
  crc32,
  DELETED,
  ENTRY_HEAD_BYTES,
  FILE_BYTES,
  FIRST_RECORD,
  HEAD_BYTES,
  HIGH,
  type LogHead,
  MOST_DIGITS,
  nextPlace,
  parseHead,
  RECORD_HEAD_BYTES,
  SLOT,
} from './format.ts';
import type { LoggedBlob } from './log-file.ts';

/** Kind of a record that ends its generation, and the largest kind. */
const REKEY = 1;
const MOST_KIND = 2;

/** Where the content of a blob is in a file, or that it was deleted. */
interface GlancedPlace {
  readonly isDeleted: boolean;
  readonly offset: number;
  readonly length: number;
  readonly crc: number;
}

/**
 * Reads the records of a file up to a revision, with which it has to end.
 * @param bytes the file up to some offset
 * @param isAll whether that is its end
 * @returns `more` if it goes on after that; undefined if it is not whole, or does not end with the revision
 */
export function readRecords(
  bytes: Buffer,
  { head, crc: crcOfHead }: NonNullable<ReturnType<typeof parseHead>>,
  upTo: number,
  isAll: boolean,
): GlancedFile | 'more' | undefined {
  const { length: size } = bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  // As many as there may be: memory that is not written to takes no time.
  const lists = Buffer.allocUnsafeSlow(size);
  const begins: number[] = [];
  const offsets: number[] = [];
  let at = FIRST_RECORD;
  let crc = crcOfHead | 0;
  let revision = head.base;
  let listed = 0;
  while (revision !== upTo) {
    if (at + RECORD_HEAD_BYTES > size) return isAll ? undefined : 'more';
    const length = view.getUint32(at);
    // The content of a longer one is not kept in memory.
    if (length < RECORD_HEAD_BYTES || length > FILE_BYTES) return undefined;
    if (at + length > size) return isAll ? undefined : 'more';
    if (view.getInt32(at + 32) !== crc || view.getUint32(at + 24) !== head.generation) return undefined;
    const number = view.getUint32(at + 8) * HIGH + view.getUint32(at + 12);
    if (number <= revision || number > upTo) return undefined;
    revision = number;
    const count = view.getUint32(at + 28);
    const kind = count & 0xff;
    if (kind === REKEY || kind > MOST_KIND) return undefined;
    const end = at + length;
    let content = 0;
    let list = at + RECORD_HEAD_BYTES;
    for (let left = count >>> 8; left > 0; left--) {
      if (list + ENTRY_HEAD_BYTES > end) return undefined;
      const entry = view.getUint8(list);
      const digits = view.getUint8(list + 1);
      if (entry > SLOT + DELETED || digits === 0 || digits > MOST_DIGITS) return undefined;
      if ((entry & DELETED) === 0) content += view.getUint32(list + 2);
      list += ENTRY_HEAD_BYTES + ((digits + 1) >> 1);
    }
    if (list + content !== end) return undefined;
    crc = view.getInt32(at + 4);
    if (~continued(bytes, at + 8, list, continued(bytes, at, at + 4, -1)) !== crc) return undefined;
    begins.push(listed);
    offsets.push(at);
    bytes.copy(lists, listed, at + RECORD_HEAD_BYTES, list);
    listed += list - at - RECORD_HEAD_BYTES;
    at = nextPlace(end);
  }
  const isOver = at + RECORD_HEAD_BYTES > size;
  if (isOver && !isAll) return 'more';
  // What begins like a record may be torn, or be one that the state does not include.
  if (!isOver && view.getUint32(at) >= RECORD_HEAD_BYTES) return undefined;
  return new GlancedFile(bytes, at, { lists: lists.subarray(0, listed), begins, offsets });
}

/** The lists of all records, one after the other; and for each record, where its list begins there, and itself. */
interface Lists {
  readonly lists: Buffer;
  readonly begins: readonly number[];
  readonly offsets: readonly number[];
}

/**
 * Whole file of a log. There is no object for a record or a blob: in a process that has just begun, whose code is not
 * compiled yet, making them takes longer than reading the file.
 */
export class GlancedFile {
  /** What was read of it, from its beginning. */
  readonly bytes: Buffer;
  /** Where the next record begins. */
  readonly next: number;
  readonly #lists: Buffer;
  readonly #begins: readonly number[];
  readonly #offsets: readonly number[];

  constructor(bytes: Buffer, next: number, { lists, begins, offsets }: Lists) {
    this.bytes = bytes;
    this.next = next;
    this.#lists = lists;
    this.#begins = begins;
    this.#offsets = offsets;
  }

  /** Boot of the machine in which the last record was written; undefined if there is none. */
  get lastBoot(): Buffer | undefined {
    const last = this.#offsets.at(-1);
    return last === undefined ? undefined : bootIn(this.bytes.subarray(last));
  }

  /** Returns where the last content of a blob is; undefined if the records do not name it. */
  find(area: Area, name: string): GlancedPlace | undefined {
    const lists = this.#lists;
    const bytes = Buffer.from(name.length % 2 === 0 ? name : `${name}0`, 'hex');
    let record = this.#begins.length - 1;
    for (let from = lists.length - bytes.length; from >= 0 && bytes.length > 0; ) {
      const hit = lists.lastIndexOf(bytes, from);
      if (hit < 0) return undefined;
      while ((this.#begins[record] ?? 0) > hit) record--;
      const place = this.#placeIn(record, hit - ENTRY_HEAD_BYTES, area, name.length);
      if (place !== undefined) return place;
      from = hit - 1;
    }
    return undefined;
  }

  /** Returns what a record says about a blob if its entry is at a place of the lists. */
  #placeIn(record: number, place: number, area: Area, digits: number): GlancedPlace | undefined {
    const lists = this.#lists;
    const begin = this.#begins[record] ?? 0;
    const end = this.#begins[record + 1] ?? lists.length;
    let offset = (this.#offsets[record] ?? 0) + RECORD_HEAD_BYTES + end - begin;
    let at = begin;
    while (at < place) {
      offset += lists.readUInt32BE(at + 2);
      at += ENTRY_HEAD_BYTES + (((lists[at + 1] ?? 0) + 1) >> 1);
    }
    const kind = lists[at] ?? 0;
    if (at !== place || lists[at + 1] !== digits || (kind & SLOT) !== (area === 'slots' ? SLOT : 0))
      return undefined;
    return {
      isDeleted: (kind & DELETED) !== 0,
      offset,
      length: lists.readUInt32BE(at + 2),
      crc: lists.readUInt32BE(at + 6),
    };
  }

  /** Adds the names that the records put, and removes those that they delete. */
  apply(area: Area, names: Set<string>): void {
    const lists = this.#lists;
    const slot = area === 'slots' ? SLOT : 0;
    for (let at = 0; at < lists.length; ) {
      const kind = lists[at] ?? 0;
      const digits = lists[at + 1] ?? 0;
      const begin = at + ENTRY_HEAD_BYTES;
      at = begin + ((digits + 1) >> 1);
      if ((kind & SLOT) !== slot) continue;
      const name = lists.toString('hex', begin, at).slice(0, digits);
      if ((kind & DELETED) === 0) names.add(name);
      else names.delete(name);
    }
  }
}

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
