import { corrupt, placed } from '../../../../ground/errors.ts';
import { REPAIR } from '../../../refusals.ts';
import { type Area, areas } from '../../backend.ts';
import {
  crc32,
  FIRST_RECORD,
  HEAD_BYTES,
  isFull,
  type LogHead,
  nextPlace,
  parseHead,
  RECORD_HEAD_BYTES,
} from './format.ts';
import { type Kept, LogBytes, release, type Used } from './log-bytes.ts';
import {
  crcIn,
  isIntact,
  lengthOf,
  mostListBytes,
  type ParsedRecord,
  parseList,
  type RecordKind,
} from './records.ts';

/** Longest record whose blobs are kept in memory; of longer ones only their place is. */
const MOST_KEPT_BYTES = 1024 * 1024;

/** Record, and where it is in its file. */
export interface PlacedRecord {
  readonly record: ParsedRecord;
  /** All of it; of one that is long, at least the list of its blobs. */
  readonly bytes: Buffer;
  readonly offset: number;
  readonly length: number;
  /** What is in memory of the file, and has all of the record; undefined if that is not kept. */
  readonly kept: Kept | undefined;
}

/** Where the content of a blob is in a file. */
export interface BlobPlace {
  readonly offset: number;
  readonly length: number;
}

/** Content of a blob, as far as it is in memory. */
interface KeptContent extends BlobPlace {
  readonly crc: number;
  /** Where its record begins. */
  readonly record: number;
  /** Bytes that it is in; given up once they turn out to be damaged. */
  kept: Kept | undefined;
  /** Whether it was compared with what was written. */
  isChecked: boolean;
}

/** How far a file is read. */
interface ReadingOptions {
  /** Last revision that is read. Whole records after it are only kept, as `above`. */
  readonly upTo: number;
  /** Whether the content of every blob is compared with its checksum, and not only that of what may be torn. */
  readonly isStrict?: boolean;
}

/** What the log says about a blob; `bytes` is undefined if it was deleted. */
export interface LoggedBlob {
  readonly bytes: Uint8Array | undefined;
  /** Where the change begins whose content of the blob is damaged. */
  readonly damagedAt?: number;
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
  /** Whether any record removes something that must not stay in the log, such as a way to unlock the store. */
  removes = false;
  /** Begin and end of the last record that was read. */
  begin = 0;
  end = FIRST_RECORD;
  /** CRC-32 that the next record continues. */
  crc: number;
  /** Whole records after those up to the revision that was read, as they were when the file was read last. */
  above: PlacedRecord[] = [];
  /** CRC-32 of its head. */
  readonly #headCrc: number;
  readonly #blobs: Readonly<Record<Area, Map<string, KeptContent | undefined>>> = {
    slots: new Map(),
    documents: new Map(),
  };

  private constructor(number: number, path: string, { head, crc }: { head: LogHead; crc: number }) {
    this.number = number;
    this.path = path;
    this.head = head;
    this.revision = head.base;
    this.crc = crc;
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
    copy.crc = this.crc;
    copy.revision = this.revision;
    copy.records = this.records;
    copy.lastKind = this.lastKind;
    copy.removes = this.removes;
    copy.begin = this.begin;
    copy.end = this.end;
    for (const area of areas)
      for (const [name, content] of this.#blobs[area]) copy.#blobs[area].set(name, content);
    return copy;
  }

  /**
   * Reads a file, or goes on with it.
   * @param known the file as it was read before
   * @returns undefined if there is no such file any more
   * @throws `corrupt` if its head is damaged or of another store
   */
  static read(
    {
      number,
      path,
      storeId,
    }: { readonly number: number; readonly path: string; readonly storeId: Uint8Array },
    reading: ReadingOptions,
    known?: LogFile,
  ): LogFile | undefined {
    return LogBytes.of(path, (bytes) => {
      bytes.refuseForeign(path);
      const parsed = parseHead(known === undefined ? bytes.at(0, HEAD_BYTES) : bytes.alone(0, HEAD_BYTES));
      if (parsed === undefined) throw corrupt(placed`${{ file: path }} is damaged`, { hint: REPAIR });
      const { head } = parsed;
      if (head.sequence !== number || !Buffer.from(head.storeId).equals(storeId))
        throw corrupt(placed`${{ file: path }} belongs to another store, or was renamed`, {
          hint: REPAIR,
        });
      const isSame =
        known !== undefined && Buffer.from(known.head.salt).equals(head.salt) && known.#endsIn(bytes);
      const file = isSame ? known : new LogFile(number, path, parsed);
      file.#advance(bytes, reading);
      return file;
    });
  }

  /** Where the next record begins. */
  get next(): number {
    return nextPlace(this.end);
  }

  get isFull(): boolean {
    return isFull(this.records, this.end);
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
      this.end === other.end &&
      this.crc === other.crc
    );
  }

  #advance(file: LogBytes, { upTo, isStrict = false }: ReadingOptions): void {
    this.above = [];
    let used: Used | undefined;
    for (const placed of this.#walk(file, upTo, isStrict)) {
      const { record, bytes, offset, length, kept } = placed;
      if (this.above.length > 0 || record.revision > upTo) {
        // A copy, or the whole chunk that it was read in would stay in memory.
        const all = bytes.length < length ? file.alone(offset, length) : Buffer.from(bytes);
        this.above.push({ ...placed, bytes: all, kept: undefined });
        continue;
      }
      if (kept !== used?.kept) {
        release(used);
        used = kept && { kept, begin: offset, end: offset };
      }
      if (used !== undefined) used.end = offset + length;
      this.#take(placed, false);
    }
    release(used);
  }

  /** Adds a record that this process has just written. */
  add(record: ParsedRecord, bytes: Buffer, offset: number): void {
    const { length } = bytes;
    const kept = length <= MOST_KEPT_BYTES ? { bytes, start: offset } : undefined;
    this.above = [];
    this.#take({ record, bytes, offset, length, kept }, true);
  }

  #take({ record, offset, length, kept }: PlacedRecord, isChecked: boolean): void {
    for (const { ref, place } of record.entries) {
      this.removes ||= ref.area === 'slots' || place === undefined;
      this.#blobs[ref.area].set(
        ref.name,
        place && {
          offset: offset + place.offset,
          length: place.length,
          crc: place.crc,
          record: offset,
          kept,
          isChecked,
        },
      );
    }
    this.begin = offset;
    this.end = offset + length;
    this.crc = record.crc;
    this.revision = record.revision;
    this.records++;
    this.lastKind = record.kind;
    this.removes ||= record.kind === 'rekey';
  }

  /**
   * Returns what the records say about a blob; undefined if they do not name it, or the file is gone: then its content
   * is in the documents.
   */
  find(area: Area, name: string): LoggedBlob | undefined {
    const blobs = this.#blobs[area];
    const content = blobs.get(name);
    if (content !== undefined) return this.#contentOf(content);
    return blobs.has(name) ? { bytes: undefined } : undefined;
  }

  /** Returns where the change begins whose content of a blob is damaged; undefined if there is none. */
  get damagedAt(): number | undefined {
    const unchecked = areas
      .flatMap((area) => [...this.#blobs[area].values()])
      .filter((content) => content?.isChecked === false);
    if (unchecked.length === 0) return undefined;
    // Opened once: a change may have thousands of blobs that are not kept.
    return LogBytes.of(this.path, (file) => {
      const isOwn = this.#isIn(file);
      for (const content of unchecked) {
        if (content === undefined) continue;
        const { kept, offset, length } = content;
        const found =
          kept === undefined
            ? compared(content, isOwn ? file.at(offset, length) : undefined)
            : this.#contentOf(content);
        if (found?.damagedAt !== undefined) return found.damagedAt;
      }
      return undefined;
    });
  }

  /** Returns where the content of a blob is; undefined if the records delete it or do not name it. */
  placeOf(area: Area, name: string): BlobPlace | undefined {
    const content = this.#blobs[area].get(name);
    return content && { offset: content.offset, length: content.length };
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
    return LogBytes.of(
      this.path,
      (file) =>
        this.#isIn(file) &&
        this.#endsIn(file) &&
        lengthOf(file.alone(this.next, RECORD_HEAD_BYTES)) === undefined,
    );
  }

  /** Whether an open file is this one. */
  #isIn(file: LogBytes): boolean {
    const salt = parseHead(file.alone(0, HEAD_BYTES))?.head.salt;
    return salt !== undefined && Buffer.from(salt).equals(this.head.salt);
  }

  /** Whether the last record that was read is in an open file. Copies of a store have the same heads. */
  #endsIn(file: LogBytes): boolean {
    return this.records === 0 || crcIn(file.alone(this.begin, RECORD_HEAD_BYTES)) === this.crc;
  }

  /** Returns a content if it is what was written; undefined if the file is gone. */
  #contentOf(content: KeptContent): LoggedBlob | undefined {
    const { offset, length, crc, kept } = content;
    if (kept === undefined)
      return LogBytes.of(this.path, (file) =>
        compared(content, this.#isIn(file) ? file.alone(offset, length) : undefined),
      );
    const bytes = kept.bytes.subarray(offset - kept.start, offset - kept.start + length);
    if (content.isChecked || crc32(bytes) === crc) {
      content.isChecked = true;
      return { bytes };
    }
    // The file may have been put back since.
    content.kept = undefined;
    return this.#contentOf(content);
  }

  /**
   * Yields the records that follow those that were read. A record is begun only when the one before it is on the disk,
   * and the state names only one that is there: so only a last one that it does not name may be torn, and only the
   * contents of that are compared with their checksums.
   */
  *#walk(file: LogBytes, upTo: number, isStrict: boolean): Generator<PlacedRecord> {
    let [at, crc, revision] = [this.next, this.crc, this.revision];
    let last: PlacedRecord | undefined;
    for (;;) {
      const found = placedAt(file, at);
      const isNext =
        found?.record.before === crc &&
        found.record.generation === this.head.generation &&
        found.record.revision > revision &&
        Number.isSafeInteger(found.record.revision);
      const next = isNext ? found : undefined;
      if (last !== undefined) {
        const mayBeTorn = next === undefined && last.record.revision !== upTo;
        if ((isStrict || mayBeTorn) && !isWhole(file, last)) return;
        yield last;
      }
      if (next === undefined) return;
      last = next;
      ({ crc, revision } = next.record);
      at = nextPlace(at + next.length);
    }
  }
}

/**
 * Returns a content that was read anew, if it is what was written: it may be another one each time.
 * @param bytes undefined if another file is there, or the head of this one is damaged: then nobody knows the content,
 *   and the documents may have an older one
 */
function compared(content: KeptContent, bytes: Buffer | undefined): LoggedBlob {
  if (bytes === undefined || crc32(bytes) !== content.crc)
    return { bytes: undefined, damagedAt: content.record };
  content.isChecked = true;
  return { bytes };
}

/** Returns the record that begins at an offset, if its head and list of blobs are intact, and the file has all of it. */
function placedAt(file: LogBytes, offset: number): PlacedRecord | undefined {
  const head = file.at(offset, RECORD_HEAD_BYTES);
  const length = lengthOf(head);
  // What is left of a torn record may claim any length.
  if (length === undefined || !file.reaches(offset + length)) return undefined;
  const isKept = length <= MOST_KEPT_BYTES;
  const bytes = file.at(offset, isKept ? length : Math.min(length, mostListBytes(head)));
  const record = isKept && bytes.length < length ? undefined : parseList(bytes, length);
  return record && { record, bytes, offset, length, kept: isKept ? file.chunk : undefined };
}

/** Whether the content of every blob of a record is what was written. */
function isWhole(file: LogBytes, { record, bytes, offset, length }: PlacedRecord): boolean {
  const all = bytes.length < length ? file.alone(offset, length) : bytes;
  return record.entries.every((entry) => isIntact(entry, all));
}
