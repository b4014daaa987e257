import type { BlobRef, Version } from '../../backend.ts';
import { readWhole } from '../durable-files.ts';
import type { Layout } from '../layout.ts';
import { crc32, FIRST_RECORD, HEAD_BYTES, type LogHead, nextPlace, parseHead, printHead } from './format.ts';
import { listing } from './log.ts';
import { isIntact, type ParsedRecord, parseUnchecked } from './records.ts';
import { nextRecord, recordAt } from './search.ts';

/** Record of a damaged log whose head and list of blobs are intact. */
export interface Piece {
  readonly path: string;
  readonly offset: number;
  readonly bytes: Buffer;
  readonly record: ParsedRecord;
}

/** Part of a log that cannot be read: nobody knows which blobs it had. */
export interface LostPart {
  readonly path: string;
  /** Where it begins; undefined if the file is missing. */
  readonly offset: number | undefined;
  /** Last revision before it that is known; undefined if there is none. */
  readonly after: number | undefined;
  /** What the bytes there say, if that makes sense, although their checksum is wrong. */
  readonly guess?: { readonly record: ParsedRecord; readonly bytes: Buffer } | undefined;
  /** Blobs of the guess that are authentic, and whether those are all that is lost here. */
  readonly opened?: { readonly blobs: readonly Salvaged[]; readonly isAll: boolean };
}

/** File of a log as far as it can be read. */
interface SalvagedFile {
  readonly number: number;
  readonly head: Partial<LogHead>;
  /** In the order in which they are in the file. */
  readonly parts: readonly (Piece | LostPart)[];
}

/** Content of a blob in a piece, or that it was deleted. */
export interface Salvaged {
  readonly ref: BlobRef;
  readonly bytes: Buffer | undefined;
  readonly isIntact: boolean;
  readonly piece: Pick<Piece, 'path' | 'offset'>;
}

interface Bounds {
  /** State that the log must include; undefined if it is missing. */
  readonly state: Version | undefined;
  readonly generation: number;
  /** Whether to use a record with a higher revision than the state's; the first one refused ends the log. */
  readonly takes: (record: ParsedRecord) => boolean;
}

/** Everything that can be read of a log that was damaged, or whose files are missing or exchanged. */
export class Salvage {
  /** Numbers in the names of all files of the log. */
  readonly numbers: readonly number[];
  /** Whether all files that can be told apart are of another store. */
  readonly isForeign: boolean;
  /** Number of the file before which none is needed; 0 if all are. */
  readonly first: number;
  /** Last revision that is known of. */
  readonly revision: number;
  /** The oldest first. */
  readonly parts: readonly (Piece | LostPart)[];

  constructor(layout: Layout, storeId: Uint8Array, bounds: Bounds) {
    const { numbers, firsts } = listing(layout);
    this.numbers = numbers;
    this.first = firsts.at(-1) ?? 0;
    const files = ownFiles(layout, this.numbers, storeId);
    this.isForeign =
      files.every(({ head }) => head === undefined) && files.some(({ bytes }) => isOfAnother(bytes, storeId));
    const bases = files.map(({ head }) => (head?.generation === bounds.generation ? (head.base ?? -1) : -1));
    const upTo = Math.max(bounds.state?.revision ?? -1, ...bases);
    const parts: (Piece | LostPart)[] = [];
    let next: SalvagedFile | undefined;
    for (const file of files.reverse()) {
      if (next !== undefined && next.number > file.number + 1)
        parts.unshift(missingFile(layout, next.number - 1));
      const isNewest = next === undefined;
      // Without a state nobody knows how far the log went.
      const newestReach = bounds.state === undefined ? undefined : upTo;
      const reach = next === undefined ? newestReach : baseOf(next);
      const salvaged = salvageFile(file, {
        reach,
        takes: bounds.takes,
        generation: bounds.generation,
      });
      const { generation } = salvaged.head;
      if (generation !== undefined && generation !== bounds.generation) {
        if (isNewest) parts.unshift(...lossAfter(layout, salvaged, bounds));
        next = undefined;
        break;
      }
      // Whoever made the next file may have failed then, and others went on in this one.
      if (next !== undefined && lastIn(salvaged) >= upTo && hasNothing(next)) parts.shift();
      parts.unshift(...salvaged.parts);
      next = salvaged;
      if (!this.#needsOlder(salvaged)) break;
    }
    if (next !== undefined && this.#needsOlder(next) && next.number > 1)
      parts.unshift(missingFile(layout, next.number - 1));
    if (files.length === 0) parts.push(missingFile(layout, Math.max(1, this.first)));
    this.parts = parts;
    this.revision = Math.max(upTo, ...parts.filter(isPiece).map(({ record }) => record.revision));
  }

  /** Whether something is in the file before one that may be nowhere else. */
  #needsOlder({ number, head }: SalvagedFile): boolean {
    return head.isFirst !== true && number > this.first;
  }

  get losses(): readonly LostPart[] {
    return this.parts.filter((part): part is LostPart => !isPiece(part));
  }

  /** Blobs whose content is damaged, and that no later piece has. */
  get damagedBlobs(): readonly Salvaged[] {
    const last = new Map<string, Salvaged>();
    for (const part of this.parts) {
      if (isPiece(part)) for (const blob of blobsOf(part)) last.set(keyOf(blob.ref), blob);
    }
    return [...last.values()].filter((blob) => !blob.isIntact);
  }
}

/** If the generation has no file yet, none was lost if the log of the one before ends with the state. */
function lossAfter(layout: Layout, { number, head, parts }: SalvagedFile, { state }: Bounds): LostPart[] {
  const last = parts.findLast(isPiece)?.record;
  const revision = last?.revision ?? head.base ?? -1;
  // What is damaged can only be the rekey.
  const isOver = revision === (state?.revision ?? 0) - 1 && last?.kind !== 'rekey';
  return state === undefined || revision >= state.revision || isOver ? [] : [missingFile(layout, number + 1)];
}

/** Last revision of a file that can be read. */
const lastIn = ({ parts }: SalvagedFile): number => parts.findLast(isPiece)?.record.revision ?? -1;

/** Whether a file has no record, and no trace of one. */
const hasNothing = ({ parts: [first, second] }: SalvagedFile): boolean =>
  first !== undefined && !isPiece(first) && first.offset === FIRST_RECORD && !first.guess && !second;

export const isPiece = (part: Piece | LostPart | undefined): part is Piece =>
  part !== undefined && 'record' in part;

/** Key of a blob in a map. */
export const keyOf = ({ area, name }: BlobRef): string => `${area}/${name}`;

/** The blobs of a piece. */
export function* blobsOf({ record, bytes, path, offset }: Piece): Generator<Salvaged> {
  for (const entry of record.entries) {
    const { ref, place } = entry;
    const content = place && bytes.subarray(place.offset, place.offset + place.length);
    yield { ref, bytes: content, isIntact: isIntact(entry, bytes), piece: { path, offset } };
  }
}

const missingFile = (layout: Layout, number: number): LostPart => ({
  path: layout.logFile(number),
  offset: undefined,
  after: undefined,
});

/** Revision before the first record of a file. */
function baseOf({ head, parts }: SalvagedFile): number | undefined {
  if (head.base !== undefined) return head.base;
  const [first] = parts;
  return isPiece(first) && first.record.kind === 'commit' ? first.record.revision - 1 : undefined;
}

interface OwnFile {
  readonly number: number;
  readonly path: string;
  readonly bytes: Buffer;
  /** As far as it is intact; undefined if nothing says that the file is of this store. */
  readonly head: Partial<LogHead> | undefined;
}

/** Returns the files of a log in their order: that of their heads, should they have other names. */
function ownFiles(layout: Layout, numbers: readonly number[], storeId: Uint8Array): OwnFile[] {
  const files = numbers.map((number): OwnFile => {
    const path = layout.logFile(number);
    const bytes = readWhole(path) ?? Buffer.alloc(0);
    const head = headOf(bytes, number, storeId);
    return { number: head?.sequence ?? number, path, bytes, head };
  });
  const isCopy = ({ number, path }: OwnFile): boolean =>
    path !== layout.logFile(number) &&
    files.some((each) => each.path === layout.logFile(number) && each.number === number);
  return files
    .map((file, index) => (isCopy(file) ? { ...file, number: numbers[index] ?? 0, head: undefined } : file))
    .sort((a, b) => a.number - b.number);
}

/** Whether a file is certainly one of another store. */
function isOfAnother(bytes: Buffer, storeId: Uint8Array): boolean {
  const head = parseHead(bytes)?.head;
  return head !== undefined && !Buffer.from(head.storeId).equals(storeId);
}

/**
 * Reads the head of a file, as far as it is intact.
 * @returns undefined if it is of another store, or nothing says that it is of this one
 */
function headOf(bytes: Buffer, number: number, storeId: Uint8Array): Partial<LogHead> | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const parsed = parseHead(bytes);
  if (parsed !== undefined) return Buffer.from(parsed.head.storeId).equals(storeId) ? parsed.head : undefined;
  // Every field that is known is put back; if that was all, the checksum is right again.
  const printed = printHead({
    isFirst: bytes.readUInt8(9) === 1,
    generation: bytes.readUInt32BE(12),
    storeId,
    sequence: number,
    base: 0,
    salt: bytes.subarray(48, 64),
  });
  const base = bytes.subarray(40, 48);
  const known = Buffer.concat([
    printed.subarray(0, 40),
    base,
    printed.subarray(48, 64),
    bytes.subarray(64, 68),
  ]);
  const mended = parseHead(known)?.head;
  if (mended !== undefined) return mended;
  const isOwn = bytes.subarray(16, 32).equals(storeId) && bytes.readUInt32BE(36) === number;
  return isOwn ? {} : undefined;
}

interface Reach {
  /** Revision that the file must reach; undefined if that is not known. */
  readonly reach: number | undefined;
  /** Whether to use a record with a higher revision than `reach`. */
  readonly takes: (record: ParsedRecord) => boolean;
  readonly generation: number;
}

function salvageFile(
  { number, path, bytes, head }: OwnFile,
  { reach, takes, generation }: Reach,
): SalvagedFile {
  if (head === undefined) return { number, head: {}, parts: [{ path, offset: 0, after: undefined }] };
  const parts: (Piece | LostPart)[] = [];
  const expected = head.generation ?? generation;
  const seeds = [bytes.readUInt32BE(64), crc32(bytes.subarray(0, 64))];
  let revision = head.base;
  let before: readonly number[] = seeds;
  const lose = (at: number): void => {
    parts.push({ path, offset: at, after: revision, guess: guessAt(bytes, at) });
  };
  for (let at = FIRST_RECORD; reach === undefined || (revision ?? -1) < reach; ) {
    const bounds = { generation: expected, from: revision ?? -1, upTo: reach ?? Number.MAX_SAFE_INTEGER };
    const found = nextRecord(bytes, at, bounds);
    if (found === undefined) {
      if (reach !== undefined) lose(at);
      break;
    }
    const { offset, record } = found;
    if (offset > at) lose(at);
    else if (!before.includes(record.before)) {
      // What was read before this is not what this was written after.
      const previous = parts.pop();
      lose(isPiece(previous) ? previous.offset : at);
    }
    parts.push({ path, ...found });
    revision = record.revision;
    before = [record.crc];
    at = nextPlace(offset + found.bytes.length);
  }
  const last = parts.at(-1);
  // Torn: nobody was told that it was made.
  if (reach === undefined && isPiece(last) && ![...blobsOf(last)].every((blob) => blob.isIntact)) parts.pop();
  if (reach !== undefined)
    parts.push(
      ...partsAbove({ path, bytes }, parts, { before, from: revision ?? -1, generation: expected, takes }),
    );
  const isFirst = head.isFirst ?? bytes.readUInt8(9) === 1;
  return { number, head: { generation: expected, ...head, isFirst }, parts };
}

/**
 * Returns the records that follow the last part, up to a rekey: that had not been done. A record is begun only when the
 * one before it is on the disk, so whatever is missing before one of them was there once.
 */
function partsAbove(
  { path, bytes }: { readonly path: string; readonly bytes: Buffer },
  parts: readonly (Piece | LostPart)[],
  above: {
    readonly before: readonly number[];
    readonly from: number;
    readonly generation: number;
    readonly takes: (record: ParsedRecord) => boolean;
  },
): (Piece | LostPart)[] {
  const last = parts.at(-1);
  const found: (Piece | LostPart)[] = [];
  let { from, before } = above;
  let isLost = last !== undefined && !isPiece(last);
  let at = isPiece(last) ? nextPlace(last.offset + last.bytes.length) : (last?.offset ?? FIRST_RECORD);
  for (;;) {
    const next = nextRecord(bytes, at, { ...above, from, upTo: Number.MAX_SAFE_INTEGER });
    if (next === undefined || next.record.kind === 'rekey' || !above.takes(next.record)) break;
    if (!isLost && next.offset > at) found.push({ path, offset: at, after: from, guess: guessAt(bytes, at) });
    else if (!isLost && !before.includes(next.record.before)) break;
    found.push({ path, ...next });
    from = next.record.revision;
    before = [next.record.crc];
    isLost = false;
    at = nextPlace(next.offset + next.bytes.length);
  }
  const end = found.at(-1);
  // Torn: nobody was told that it was made.
  if (isPiece(end) && ![...blobsOf(end)].every((blob) => blob.isIntact)) found.pop();
  return found;
}

function guessAt(bytes: Buffer, at: number): LostPart['guess'] {
  const own = recordAt(bytes, at);
  const found = own && parseUnchecked(own);
  return own && found && { record: found.record, bytes: own };
}
