import { closeSync, constants, fdatasync, openSync, readSync } from 'node:fs';
import { patiently } from '../../../../ground/directories.ts';
import { type CofferError, corrupt, failedAfter, placed, unavailable } from '../../../../ground/errors.ts';
import { answered } from '../../../../ground/pause.ts';
import { REPAIR } from '../../../refusals.ts';
import type { Change, Version } from '../../backend.ts';
import { versionOf } from '../../witness.ts';
import { diskError } from '../disk-errors.ts';
import { discardSyncMarkers, isThere, NO_FOLLOW, syncChanged } from '../durable-files.ts';
import type { Layout } from '../layout.ts';
import { logged, type StateName } from '../state-directory.ts';
import { isOfThisBoot, thisBoot } from './boot.ts';
import { bootIn, nextPlace, RECORD_HEAD_BYTES } from './format.ts';
import type { Log, StoreDirectory } from './log.ts';
import { LogBytes } from './log-bytes.ts';
import type { LogFile } from './log-file.ts';
import { makeFile, writeAt } from './next-file.ts';
import { MOST_RECORD_BYTES, parseList, printRecord, type RecordKind, recordBytes } from './records.ts';
import { nextRecord } from './search.ts';

/** Attempts to write and sync a record. */
const ATTEMPTS = 3;

/** Files of the log whose names this process has synced. */
const synced = new WeakSet<LogFile>();

interface Append {
  /** Present version; the log and the state's name are there. */
  readonly from: Version;
  readonly to: Version;
  readonly kind: RecordKind;
  readonly changes: readonly Change[];
  /** What was done once the record is on disk, for messages. */
  readonly made: string;
}

/**
 * Adds a record to the log and shows it. Durable once resolved. Under the write lock only.
 * @throws `unavailable` if nothing was made; `unconfirmed` if the record may be on the disk
 * @see docs/decisions/0321
 */
export async function append(directory: StoreDirectory, what: Append): Promise<void> {
  const { log, state } = directory;
  const show = await addRecord(directory, what);
  try {
    state.change(logged(what.from), logged(what.to));
  } catch (error) {
    throw unconfirmedAfter(what.made, error);
  }
  show();
  log.at = log.version?.revision === what.to.revision ? state.known : undefined;
}

/**
 * Adds a record to the log, which no reader shows before the state's name says so.
 * @returns function to call when it does
 */
export async function addRecord(
  directory: StoreDirectory,
  { from, to, kind, changes, made }: Append,
): Promise<() => void> {
  if (recordBytes(changes) > MOST_RECORD_BYTES) throw tooLarge(directory);
  const file = await writableFile(directory, from);
  const record = { revision: to.revision, boot: thisBoot(), generation: from.generation, kind, changes };
  const bytes = printRecord(record, file.crc);
  const offset = file.next;
  const parsed = parseList(bytes);
  if (parsed === undefined) throw new Error('a record of the log cannot be read back');
  await writeRecord(file, bytes, offset, made);
  return () => file.add(parsed, bytes, offset);
}

/** Returns the file that takes the next record; makes it if need be. */
async function writableFile(directory: StoreDirectory, { generation, revision }: Version): Promise<LogFile> {
  const { layout, log } = directory;
  const isOver = (file: LogFile | undefined): boolean =>
    file === undefined || file.isFull || file.head.generation !== generation;
  // An earlier change of this session may have made the next file and failed then. Looked at again each time that a
  // checkpoint has deleted a file meanwhile.
  while (isOver(log.newest) && isThere(layout.logFile((log.newest?.number ?? 0) + 1)))
    if (log.follow(revision)) break;
  const { newest } = log;
  if (newest === undefined || isOver(newest)) {
    const number = (newest?.number ?? 0) + 1;
    const file = await makeFile(layout, number, {
      isFirst: newest?.head.generation !== generation,
      generation,
      base: revision,
      storeId: log.storeId,
    });
    synced.add(file);
    log.add(file);
    return file;
  }
  if (newest.records === 0 && !synced.has(newest)) {
    // Whoever made it may have been killed before its name was on the disk.
    await syncChanged(layout.log);
    if (log.files.length === 1) await syncFirst(directory);
    synced.add(newest);
  }
  return newest;
}

/**
 * Whoever made the store, or gave it a log, may have been killed before its names were on disk, or their syncs have
 * failed. They are on disk before the first record.
 */
async function syncFirst({ layout, state }: StoreDirectory): Promise<void> {
  discardSyncMarkers(layout.directory);
  await syncChanged(state.path);
  await syncChanged(layout.directory);
}

/**
 * Writes a record and waits until it is on disk. After a failed sync the pages may count as written although they are
 * not, so all bytes are written again.
 */
async function writeRecord(file: LogFile, bytes: Buffer, offset: number, made: string): Promise<void> {
  const fd = openForWriting(file.path);
  try {
    let written = false;
    for (let attempt = 1; ; attempt++) {
      try {
        writeOrCompare(fd, bytes, offset);
        written = true;
        await answered((done) => fdatasync(fd, done));
        return;
      } catch (error) {
        const known = diskError(error, 'write', file.path);
        // What is torn is written over by the next writer.
        if (!written) throw known;
        if (attempt === ATTEMPTS) throw unconfirmedAfter(made, known);
      }
    }
  } finally {
    closeSync(fd);
  }
}

/** Writes bytes. A write that failed, but left all of its bytes in the file, counts as done. */
function writeOrCompare(fd: number, bytes: Buffer, offset: number): void {
  try {
    writeAt(fd, bytes, offset);
  } catch (error) {
    const present = Buffer.alloc(bytes.length);
    if (readSync(fd, present, 0, present.length, offset) !== bytes.length || !present.equals(bytes))
      throw error;
  }
}

function openForWriting(path: string): number {
  try {
    return patiently(() => openSync(path, constants.O_RDWR | NO_FOLLOW));
  } catch (error) {
    throw diskError(error, 'write', path);
  }
}

/** Writes records again where they are, and waits until they are on disk. */
async function rewrite(path: string, records: readonly { bytes: Buffer; offset: number }[]): Promise<void> {
  const fd = openForWriting(path);
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        for (const { bytes, offset } of records) writeAt(fd, bytes, offset);
        await answered((done) => fdatasync(fd, done));
        return;
      } catch (error) {
        if (attempt === ATTEMPTS) throw diskError(error, 'write', path);
      }
    }
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns the error for a change whose record may be on the disk, although a later step failed: it must not be
 * repeated.
 * @see docs/decisions/0119
 */
export const unconfirmedAfter = (made: string, error: unknown): unknown =>
  failedAfter(
    made,
    error,
    'do not repeat the command: the next command that changes the store completes this change',
  );

const tooLarge = ({ layout }: StoreDirectory): CofferError =>
  unavailable(
    placed`cannot write ${{ file: layout.log }}: the change has more than ${MOST_RECORD_BYTES / 1024 / 1024} MiB`,
    { hint: 'divide the change into several smaller ones' },
  );

const CHUNK_BYTES = 256 * 1024;

/**
 * Looks for a change behind the end of a log that was read to its end. A record is begun only when the one before it is
 * on the disk: then the log does not end there with what was torn by a power failure, but is damaged, and a writer would
 * write over changes that were acknowledged.
 * @returns the error for that; undefined if there is none
 */
export function holeIn({ newest }: Log): CofferError | undefined {
  if (newest === undefined || newest.above.length > 0) return undefined;
  const { path, next } = newest;
  const isHole = LogBytes.of(path, (file) => mayHaveHole(file, newest) && hasRecordAfter(file, newest));
  if (isHole !== true) return undefined;
  return corrupt(placed`${{ file: path }} is damaged at offset ${next}: valid changes follow the damage`, {
    hint: REPAIR,
  });
}

/**
 * Whether something was begun there, or the last record was written before the machine was started. Where one boot
 * cannot be told from another, the latter does not count: the rest of the file would be read each time.
 */
function mayHaveHole(file: LogBytes, { records, begin, next }: LogFile): boolean {
  if (file.alone(next, RECORD_HEAD_BYTES).some((byte) => byte !== 0)) return true;
  if (records === 0 || !isOfThisBoot(thisBoot())) return false;
  return !isOfThisBoot(bootIn(file.alone(begin, RECORD_HEAD_BYTES)));
}

function hasRecordAfter(file: LogBytes, { next, revision, head: { generation } }: LogFile): boolean {
  const zeros = Buffer.alloc(CHUNK_BYTES);
  const chunks: Buffer[] = [];
  for (let at = next; ; at += CHUNK_BYTES) {
    const chunk = file.alone(at, CHUNK_BYTES);
    chunks.push(chunk);
    if (chunk.length < CHUNK_BYTES) break;
  }
  if (chunks.every((chunk) => chunk.equals(zeros.subarray(0, chunk.length)))) return false;
  const bytes = Buffer.concat(chunks);
  const bounds = { generation, from: revision, upTo: Number.MAX_SAFE_INTEGER };
  const found = nextRecord(bytes, 0, bounds);
  // What is torn may have a list that is whole.
  if (found?.offset === 0) return nextRecord(bytes, nextPlace(found.bytes.length), bounds) !== undefined;
  return found !== undefined;
}

/** Most attempts to read a log from which files are deleted meanwhile. */
export const LOOKS = 100;

/** Called with the version that is about to be made; throws if it must not be. Records nothing. */
type Examine = (version: Version) => void;

/**
 * Makes the state include everything that the log proves. Records above the state's name are written and synced again:
 * whoever wrote them may not have synced them, and after a failed sync pages may count as written although they are
 * not. Under the write lock only. Readers in this process find the log as it was until all is done.
 * @throws `corrupt` if the log ends below the state
 */
export async function settle(directory: StoreDirectory, name: StateName, examine: Examine): Promise<Version> {
  const { layout, log, state } = directory;
  const own = log.copy();
  const isAbove = await rewriteAbove(layout, own, {
    at: name,
    examine: (version) => {
      // Before anything is written: whoever finds damage looks again as long as the files change.
      const whole = readAll(layout, own.copy());
      const problem = whole.contradiction(name) ?? whole.damage() ?? holeIn(whole);
      if (problem !== undefined) throw problem;
      examine(version);
    },
  });
  if (isAbove || own.version?.revision !== name.revision) readAll(layout, own);
  const problem = own.contradiction(name) ?? own.damage() ?? (isAbove ? undefined : holeIn(own));
  if (problem !== undefined) throw problem;
  const { version } = own;
  if (version === undefined || version.revision === name.revision) {
    log.become(own, name);
    return versionOf(name);
  }
  examine(version);
  const settled = logged(version);
  state.change(name, settled);
  log.become(own, settled);
  return version;
}

/**
 * Writes all records again: for a store without a state file, which would say which of them are applied already.
 * @returns the version that the log proves, if there is one
 */
export async function settleLog(directory: StoreDirectory): Promise<Version | undefined> {
  const { layout, log } = directory;
  const own = log.copy();
  await rewriteAbove(layout, own, { at: { generation: 0, revision: -1 }, examine: () => undefined });
  log.become(readAll(layout, own), undefined);
  return log.version;
}

/** Writes the records above a version again. @returns whether there are any */
async function rewriteAbove(
  layout: Layout,
  log: Log,
  { at, examine }: { readonly at: Version; readonly examine: Examine },
): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    if (!log.follow(at.revision)) continue;
    const above = log.above();
    if (above.length === 0) return false;
    examine(log.versionWith(above) ?? at);
    for (const { file, records } of above) await rewrite(file.path, records);
    return true;
  }
  throw disappearing(layout);
}

/** Reads a log to its end. */
function readAll(layout: Layout, log: Log): Log {
  for (let look = 0; look < LOOKS; look++) if (log.follow(Number.POSITIVE_INFINITY)) return log;
  throw disappearing(layout);
}

/** Returns the error for a log that could not be read in `LOOKS` attempts. */
export const disappearing = (layout: Layout): CofferError =>
  unavailable(placed`cannot read ${{ file: layout.log }}: other processes keep replacing its files`, {
    hint: 'try again',
  });
