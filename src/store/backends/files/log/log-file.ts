import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { corrupt, placed } from '../../../../ground/errors.ts';
import { patiently } from '../../../../ground/windows.ts';
import { REPAIR } from '../../../refusals.ts';
import { type Area, areas } from '../../backend.ts';
import { diskError, errorCode } from '../disk-errors.ts';
import { NO_FOLLOW, refuseForeign } from '../durable-files.ts';
import {
  crcIn,
  FIRST_RECORD,
  HEAD_BYTES,
  isFull,
  type LogHead,
  lengthOf,
  nextPlace,
  type ParsedRecord,
  parseHead,
  parseRecord,
  RECORD_HEAD_BYTES,
  type RecordKind,
} from './format.ts';

/** Bytes that are read at once. */
const CHUNK_BYTES = 64 * 1024;
/** Longest record whose blobs are kept in memory; of longer ones only their place is. */
const MOST_KEPT_BYTES = 1024 * 1024;

/** Record, and where it is in its file. */
export interface PlacedRecord {
  readonly record: ParsedRecord;
  readonly bytes: Buffer;
  readonly offset: number;
}

/** Where the content of a blob is in a file. */
export interface BlobPlace {
  readonly offset: number;
  readonly length: number;
}

/** Content of a blob: where it is, and its bytes if they are kept. */
interface Content extends BlobPlace {
  readonly bytes: Buffer | undefined;
}

/** What the log says about a blob; `bytes` is undefined if it was deleted. */
export interface Found {
  readonly bytes: Uint8Array | undefined;
}

/** Runs `work` on the open file of a path; undefined if there is none. */
function withOpened<T>(path: string, flags: number, work: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = patiently(() => openSync(path, flags | NO_FOLLOW));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw diskError(error, 'read', path);
  }
  try {
    return work(fd);
  } catch (error) {
    throw diskError(error, 'read', path);
  } finally {
    closeSync(fd);
  }
}

/** Reads from an offset; fewer bytes at the end of the file. */
function readAt(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/**
 * One file of the log, as far as this process has read it: the records up to the revision that is shown, and the blobs
 * in them.
 */
export class LogFile {
  readonly number: number;
  readonly path: string;
  readonly head: LogHead;
  /** Last revision that was read; at first that before its first record. */
  revision: number;
  records = 0;
  /** Kind of the last record that was read. */
  lastKind: RecordKind | undefined;
  /** Begin and end of the last record that was read. */
  #begin = 0;
  #end = FIRST_RECORD;
  #crc: number;
  /** CRC-32 of its head. */
  readonly #headCrc: number;
  readonly #blobs: Readonly<Record<Area, Map<string, Content | undefined>>> = {
    slots: new Map(),
    documents: new Map(),
  };

  private constructor(number: number, path: string, { head, crc }: { head: LogHead; crc: number }) {
    this.number = number;
    this.path = path;
    this.head = head;
    this.revision = head.base;
    this.#crc = crc;
    this.#headCrc = crc;
  }

  /** A file that this process has just made. */
  static made(number: number, path: string, printed: Buffer): LogFile {
    const parsed = parseHead(printed);
    if (parsed === undefined) throw new Error('a head of the log cannot be read back');
    return new LogFile(number, path, parsed);
  }

  /** Returns what was read so far, which another reader goes on with. */
  copy(): LogFile {
    const copy = new LogFile(this.number, this.path, { head: this.head, crc: this.#headCrc });
    copy.#crc = this.#crc;
    copy.revision = this.revision;
    copy.records = this.records;
    copy.lastKind = this.lastKind;
    copy.#begin = this.#begin;
    copy.#end = this.#end;
    for (const area of areas)
      for (const [name, content] of this.#blobs[area]) copy.#blobs[area].set(name, content);
    return copy;
  }

  /**
   * Opens a file, or goes on with it, and calls `work` on it.
   * @param known the file as it was read before
   * @returns undefined if there is no such file any more
   * @throws `corrupt` if its head is damaged or of another store
   */
  static look(
    at: { readonly number: number; readonly path: string; readonly storeId: Uint8Array },
    known: LogFile | undefined,
    work: (file: LogFile, fd: number) => void,
  ): LogFile | undefined {
    const { number, path, storeId } = at;
    return withOpened(path, constants.O_RDONLY, (fd) => {
      refuseForeign(path, fstatSync(fd));
      const parsed = parseHead(readAt(fd, 0, HEAD_BYTES));
      if (parsed === undefined) throw corrupt(placed`${{ file: path }} is damaged`, { hint: REPAIR });
      const { head } = parsed;
      if (head.sequence !== number || !Buffer.from(head.storeId).equals(storeId))
        throw corrupt(placed`${{ file: path }} belongs to another store or has another number`, {
          hint: REPAIR,
        });
      const isSame =
        known !== undefined && Buffer.from(known.head.salt).equals(head.salt) && known.#endsIn(fd);
      const file = isSame ? known : new LogFile(number, path, parsed);
      work(file, fd);
      return file;
    });
  }

  /** Where the next record begins. */
  get next(): number {
    return nextPlace(this.#end);
  }

  /** CRC-32 that the next record continues. */
  get crc(): number {
    return this.#crc;
  }

  get isFull(): boolean {
    return isFull(this.records, this.#end);
  }

  get end(): number {
    return this.#end;
  }

  /** Whether records above a revision were read. */
  isAbove(revision: number): boolean {
    return this.records > 0 && this.revision > revision;
  }

  /** Whether another one was read as far as this one, and has the same. */
  isAsFarAs(other: LogFile): boolean {
    return (
      this.number === other.number &&
      this.#headCrc === other.#headCrc &&
      this.#end === other.#end &&
      this.#crc === other.#crc
    );
  }

  /** Reads the records that follow, up to a revision. */
  advance(fd: number, upTo: number): void {
    for (const placedRecord of this.#walk(fd)) {
      if (placedRecord.record.revision > upTo) break;
      this.take(placedRecord);
    }
  }

  /** Returns the whole records after those that were read, without taking them up. */
  above(fd: number): PlacedRecord[] {
    return [...this.#walk(fd)].map(({ record, bytes, offset }) => ({
      record,
      bytes: Buffer.from(bytes),
      offset,
    }));
  }

  /** Adds the next record. */
  take({ record, bytes, offset }: PlacedRecord): void {
    const isKept = bytes.length <= MOST_KEPT_BYTES;
    // A copy, or the whole chunk that it was read in would stay in memory.
    const own = isKept ? Buffer.from(bytes) : bytes;
    for (const { ref, place } of record.entries) {
      let content: Content | undefined;
      if (place !== undefined) {
        content = {
          offset: offset + place.offset,
          length: place.length,
          bytes: isKept ? own.subarray(place.offset, place.offset + place.length) : undefined,
        };
      }
      this.#blobs[ref.area].set(ref.name, content);
    }
    this.#begin = offset;
    this.#end = offset + bytes.length;
    this.#crc = record.crc;
    this.revision = record.revision;
    this.records++;
    this.lastKind = record.kind;
  }

  /**
   * Returns what the records say about a blob; undefined if they do not name it, or the file is gone: then its content
   * is in the documents.
   */
  find(area: Area, name: string): Found | undefined {
    const blobs = this.#blobs[area];
    const content = blobs.get(name);
    if (content === undefined) return blobs.has(name) ? { bytes: undefined } : undefined;
    return content.bytes === undefined ? this.#readPlace(content) : { bytes: content.bytes };
  }

  /** Returns where the content of a blob is; undefined if the records delete it or do not name it. */
  placeOf(area: Area, name: string): BlobPlace | undefined {
    return this.#blobs[area].get(name);
  }

  /** Whether the records put a blob (true), delete it (false), or do not name it. */
  has(area: Area, name: string): boolean | undefined {
    const blobs = this.#blobs[area];
    return blobs.has(name) ? blobs.get(name) !== undefined : undefined;
  }

  /** Yields the names that the records put or delete. */
  *names(area: Area): Generator<readonly [name: string, isThere: boolean]> {
    for (const [name, content] of this.#blobs[area]) yield [name, content !== undefined];
  }

  /** Whether the file is still this one, with no record after those that were read; undefined if it is gone. */
  isStillTheEnd(): boolean | undefined {
    return withOpened(this.path, constants.O_RDONLY, (fd) => {
      return this.isIn(fd) && lengthOf(readAt(fd, this.next, RECORD_HEAD_BYTES)) === undefined;
    });
  }

  /** Whether an open file is this one. */
  isIn(fd: number): boolean {
    const salt = parseHead(readAt(fd, 0, HEAD_BYTES))?.head.salt;
    return salt !== undefined && Buffer.from(salt).equals(this.head.salt);
  }

  /** Whether the last record that was read is in an open file. Copies of a store have the same heads. */
  #endsIn(fd: number): boolean {
    return this.records === 0 || crcIn(readAt(fd, this.#begin, RECORD_HEAD_BYTES)) === this.#crc;
  }

  #readPlace({ offset, length }: BlobPlace): Found | undefined {
    return withOpened(this.path, constants.O_RDONLY, (fd) =>
      this.isIn(fd) ? { bytes: readAt(fd, offset, length) } : undefined,
    );
  }

  *#walk(fd: number): Generator<PlacedRecord> {
    let [at, crc, revision] = [this.next, this.#crc, this.revision];
    let chunk: Buffer = Buffer.alloc(0);
    let start = at;
    /** Returns bytes from an offset; as many as there are, if fewer. */
    const bytesAt = (offset: number, length: number): Buffer => {
      if (offset + length > start + chunk.length) {
        chunk = readAt(fd, offset, Math.max(length, CHUNK_BYTES));
        start = offset;
      }
      return chunk.subarray(offset - start, offset - start + length);
    };
    for (;;) {
      const length = lengthOf(bytesAt(at, RECORD_HEAD_BYTES));
      // What is left of a torn record may claim any length.
      if (length === undefined || (length > CHUNK_BYTES && at + length > fstatSync(fd).size)) return;
      const bytes = bytesAt(at, length);
      if (bytes.length < length) return;
      const record = parseRecord(bytes, crc);
      if (record === undefined || record.generation !== this.head.generation) return;
      if (record.revision <= revision || !Number.isSafeInteger(record.revision)) return;
      yield { record, bytes, offset: at };
      ({ crc, revision } = record);
      at = nextPlace(at + length);
    }
  }
}
