import type { Area } from '../../backend.ts';
import { continued } from './crc32.ts';
import {
  bootIn,
  DELETED,
  ENTRY_HEAD_BYTES,
  FILE_BYTES,
  FIRST_RECORD,
  HIGH,
  MOST_DIGITS,
  nextPlace,
  type parseHead,
  RECORD_HEAD_BYTES,
  SLOT,
} from './format.ts';

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
