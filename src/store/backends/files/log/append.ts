import { closeSync, constants, fdatasync, openSync, readSync } from 'node:fs';
import { patiently } from '../../../../ground/directories.ts';
import { type CofferError, failedAfter, placed, unavailable } from '../../../../ground/errors.ts';
import { answered } from '../../../../ground/pause.ts';
import type { Change, Version } from '../../backend.ts';
import { diskError } from '../disk-errors.ts';
import { discardSyncMarkers, isThere, NO_FOLLOW, syncChanged } from '../durable-files.ts';
import { logged } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { thisBoot } from './boot.ts';
import type { LogFile } from './log-file.ts';
import { makeFile, writeAt } from './next-file.ts';
import { MOST_RECORD_BYTES, parseList, printRecord, type RecordKind, recordBytes } from './records.ts';

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
export async function rewrite(
  path: string,
  records: readonly { bytes: Buffer; offset: number }[],
): Promise<void> {
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
    { hint: 'divide it into several changes' },
  );
