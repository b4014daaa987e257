/** Records of the log: what writes them, and reads any. A glance has a reader of its own, which is loaded alone. */
import type { BlobRef, Change } from '../../backend.ts';
import {
  bootIn,
  crc32,
  DELETED,
  ENTRY_HEAD_BYTES,
  MOST_DIGITS,
  RECORD_HEAD_BYTES,
  readNumber,
  SLOT,
  writeNumber,
} from './format.ts';

/** Largest record. */
export const MOST_RECORD_BYTES = 256 * 1024 * 1024;

/**
 * `rekey`: the last record of its generation; the blobs of the next one are in its directory. `raise`: makes the
 * revision larger, and may have blobs as well.
 */
export type RecordKind = 'commit' | 'rekey' | 'raise';
const KINDS: readonly RecordKind[] = ['commit', 'rekey', 'raise'];

/** One change of the store. */
export interface LogRecord {
  /** Revision that it makes. */
  readonly revision: number;
  /** What identifies the boot of the machine in which it was written; zeros if that is unknown. */
  readonly boot: Uint8Array;
  readonly generation: number;
  readonly kind: RecordKind;
  readonly changes: readonly Change[];
}

/** Blob of a record: where its content is in it, and the CRC-32 of that; undefined if it was deleted. */
interface LogEntry {
  readonly ref: BlobRef;
  readonly place: { readonly offset: number; readonly length: number; readonly crc: number } | undefined;
}

/** Record without the content of its blobs. */
export interface ParsedRecord extends Omit<LogRecord, 'changes'> {
  readonly entries: readonly LogEntry[];
  /** Its CRC-32, which covers those of its blobs. */
  readonly crc: number;
  /** CRC-32 of the record or head that it follows. */
  readonly before: number;
}

/**
 * Prints a record.
 * @param before CRC-32 of the record or head before it
 */
export function printRecord(record: LogRecord, before: number): Buffer {
  const { revision, boot, generation, kind, changes } = record;
  const bytes = Buffer.allocUnsafe(recordBytes(changes));
  writeNumber(bytes, revision, 8);
  bytes.set(boot, 16);
  bytes.writeUInt32BE(generation, 24);
  bytes.writeUIntBE(changes.length, 28, 3);
  bytes.writeUInt8(KINDS.indexOf(kind), 31);
  bytes.writeUInt32BE(before, 32);
  let listEnd = RECORD_HEAD_BYTES;
  for (const change of changes) listEnd = printEntry(bytes, listEnd, change);
  let at = listEnd;
  for (const { bytes: content } of changes) {
    if (content === undefined) continue;
    bytes.set(content, at);
    at += content.length;
  }
  bytes.writeUInt32BE(at, 0);
  bytes.writeUInt32BE(crcOf(bytes, listEnd), 4);
  return bytes;
}

/** Size of a record with these changes. */
export const recordBytes = (changes: readonly Change[]): number =>
  changes.reduce(
    (sum, { ref, bytes }) => sum + ENTRY_HEAD_BYTES + nameBytes(ref.name.length) + (bytes?.length ?? 0),
    RECORD_HEAD_BYTES,
  );

function printEntry(bytes: Buffer, at: number, { ref, bytes: content }: Change): number {
  const { area, name } = ref;
  bytes.writeUInt8((area === 'slots' ? SLOT : 0) + (content === undefined ? DELETED : 0), at);
  bytes.writeUInt8(name.length, at + 1);
  bytes.writeUInt32BE(content?.length ?? 0, at + 2);
  bytes.writeUInt32BE(content === undefined ? 0 : crc32(content), at + 6);
  const end = at + ENTRY_HEAD_BYTES + nameBytes(name.length);
  bytes.write(name.length % 2 === 0 ? name : `${name}0`, at + ENTRY_HEAD_BYTES, 'hex');
  return end;
}

/** Length of the record that begins with these bytes, as it says itself; undefined if no record begins here. */
export function lengthOf(bytes: Buffer): number | undefined {
  if (bytes.length < RECORD_HEAD_BYTES) return undefined;
  const length = bytes.readUInt32BE(0);
  return length < RECORD_HEAD_BYTES || length > MOST_RECORD_BYTES ? undefined : length;
}

/** CRC-32 of the record that begins with these bytes; undefined if no record begins here. */
export const crcIn = (bytes: Buffer): number | undefined =>
  lengthOf(bytes) === undefined ? undefined : bytes.readUInt32BE(4);

/** Most bytes of the head and the list of blobs of the record that begins with these bytes. */
export const mostListBytes = (bytes: Buffer): number =>
  RECORD_HEAD_BYTES + bytes.readUIntBE(28, 3) * (ENTRY_HEAD_BYTES + nameBytes(MOST_DIGITS));

/**
 * Parses the head of a record and its list of blobs, whatever comes before and after them.
 * @param bytes at least these
 * @param length length of the record
 * @returns undefined if any byte of them was changed
 */
export function parseList(bytes: Buffer, length = bytes.length): ParsedRecord | undefined {
  const found = parseUnchecked(bytes, length);
  return found !== undefined && crcOf(bytes, found.listEnd) === found.record.crc ? found.record : undefined;
}

/**
 * Parses the head of a record and its list of blobs without comparing their CRC-32.
 * @returns undefined if they contradict themselves
 */
export function parseUnchecked(
  bytes: Buffer,
  length = bytes.length,
): { readonly record: ParsedRecord; readonly listEnd: number } | undefined {
  const kind = KINDS[bytes.readUInt8(31)];
  const list = kind && parseEntries(bytes, length);
  if (kind === undefined || list === undefined) return undefined;
  const record: ParsedRecord = {
    revision: readNumber(bytes, 8),
    boot: bootIn(bytes),
    generation: bytes.readUInt32BE(24),
    kind,
    entries: list.entries,
    crc: bytes.readUInt32BE(4),
    before: bytes.readUInt32BE(32),
  };
  return { record, listEnd: list.end };
}

/** Whether the content of a blob is what was written; that of a deletion always is. */
export const isIntact = ({ place }: LogEntry, bytes: Buffer): boolean =>
  place === undefined || crc32(bytes.subarray(place.offset, place.offset + place.length)) === place.crc;

/** @returns the blobs, and where their list ends */
function parseEntries(
  bytes: Buffer,
  total: number,
): { readonly entries: readonly LogEntry[]; readonly end: number } | undefined {
  const found: { readonly ref: BlobRef; readonly length: number | undefined; readonly crc: number }[] = [];
  const count = bytes.readUIntBE(28, 3);
  let end = RECORD_HEAD_BYTES;
  for (let i = 0; i < count; i++) {
    const at = end;
    if (at + ENTRY_HEAD_BYTES > bytes.length) return undefined;
    const kind = bytes.readUInt8(at);
    const digits = bytes.readUInt8(at + 1);
    end = at + ENTRY_HEAD_BYTES + nameBytes(digits);
    if (kind > SLOT + DELETED || digits === 0 || digits > MOST_DIGITS || end > bytes.length) return undefined;
    const name = bytes.toString('hex', at + ENTRY_HEAD_BYTES, end).slice(0, digits);
    const length = (kind & DELETED) === 0 ? bytes.readUInt32BE(at + 2) : undefined;
    const area = (kind & SLOT) === 0 ? 'documents' : 'slots';
    found.push({ ref: { area, name }, length, crc: bytes.readUInt32BE(at + 6) });
  }
  let at = end;
  const entries = found.map(({ ref, length, crc }): LogEntry => {
    if (length === undefined) return { ref, place: undefined };
    const offset = at;
    at += length;
    return { ref, place: { offset, length, crc } };
  });
  return at === total ? { entries, end } : undefined;
}

/** The length and everything after the CRC, up to the end of the list of blobs. */
const crcOf = (bytes: Buffer, listEnd: number): number =>
  crc32(bytes.subarray(8, listEnd), crc32(bytes.subarray(0, 4)));

const nameBytes = (digits: number): number => Math.ceil(digits / 2);
