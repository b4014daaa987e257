import { closeSync, constants, fsync, openSync, statSync, writeSync } from 'node:fs';
import { patiently } from '../../../../ground/directories.ts';
import { attempt } from '../../../../ground/errors.ts';
import { answered } from '../../../../ground/pause.ts';
import { systemRandom } from '../../../../ground/random.ts';
import { diskError } from '../disk-errors.ts';
import { deleteFile, FILE_MODE, isThere, moveFile, NO_FOLLOW, syncChanged } from '../durable-files.ts';
import { type Layout, STAGED } from '../layout.ts';
import { FILE_BYTES, type LogHead, printHead, SALT_BYTES } from './format.ts';
import { listing } from './log.ts';
import { LogFile } from './log-file.ts';

const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
/** Attempts to make a file, or to sync its name. */
const ATTEMPTS = 2;

/**
 * Makes a file of the log, whole and durable with its name. Under the write lock only, and only if the log includes
 * nothing above the state, and has no such file.
 * @throws `unavailable`; then the file may be there, as one that whoever uses it next syncs before its first record
 */
export async function makeFile(
  layout: Layout,
  number: number,
  about: Omit<LogHead, 'sequence' | 'salt'>,
): Promise<LogFile> {
  const path = layout.logFile(number);
  // A checkpoint may have deleted what came before it.
  if (isThere(path)) throw new Error(`file ${number} of the log already exists`);
  const head = printHead({ ...about, sequence: number, salt: systemRandom.bytes(SALT_BYTES) });
  await stage(layout, path + STAGED, head);
  moveFile(path + STAGED, path);
  // From here on others rely on it: it must neither be deleted nor be replaced by another one.
  await syncInAttempts(layout.log, ATTEMPTS);
  return LogFile.made(number, path, head);
}

/** As `syncChanged`, tried again if it fails. */
export async function syncInAttempts(path: string, attempts: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await syncChanged(path);
      return;
    } catch (error) {
      if (attempt === attempts) throw error;
    }
  }
}

async function stage(layout: Layout, path: string, head: Buffer): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      deleteFile(path);
      const isSpare = attempt === 1 && takeSpare(layout, path);
      const bytes = isSpare ? head : Buffer.concat([head, Buffer.alloc(FILE_BYTES - head.length)]);
      await writeAndSync(path, isSpare ? constants.O_RDWR | NO_FOLLOW : CREATE, bytes);
      return;
    } catch (error) {
      discard(path);
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

/** Moves the prepared file to a path. @returns whether there was one */
function takeSpare(layout: Layout, path: string): boolean {
  if (statSync(layout.spare, { throwIfNoEntry: false })?.size !== FILE_BYTES) return false;
  moveFile(layout.spare, path);
  return true;
}

async function writeAndSync(path: string, flags: number, bytes: Uint8Array): Promise<void> {
  try {
    const fd = patiently(() => openSync(path, flags, FILE_MODE));
    try {
      writeAt(fd, bytes, 0);
      await answered((done) => fsync(fd, done));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw diskError(error, 'write', path);
  }
}

/** Writes all bytes at an offset. */
export function writeAt(fd: number, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, offset + done);
  }
}

/**
 * Notes that the documents have what is in the files before one: once the directory is synced, those may be missing.
 * The note is the name of an empty file, and not a byte in the file that it is about, because writers append to that:
 * after a failed sync of theirs the byte would count as written although it is not, and after a failed one here their
 * records would. Under the lock of the log only.
 */
export function markFirst(layout: Layout, number: number): void {
  const path = layout.firstMark(number);
  const others = listing(layout).firsts.filter((first) => first !== number);
  const last = others.pop();
  try {
    if (last !== undefined) moveFile(layout.firstMark(last), path);
    else if (!isThere(path)) closeSync(patiently(() => openSync(path, CREATE, FILE_MODE)));
  } catch (error) {
    throw diskError(error, 'write', path);
  }
  // One with a higher number than that of any file would count for a file that is made later.
  for (const other of others) deleteFile(layout.firstMark(other));
}

function discard(path: string): void {
  // The next writer deletes it if that fails; the original error is more useful.
  attempt(() => deleteFile(path));
}

/**
 * Prepares the file that the next one is made from, so that no writer has to wait for a megabyte to be written. Several
 * processes may do so at the same time: one of their files remains.
 */
export async function makeSpare(layout: Layout): Promise<void> {
  if (isThere(layout.spare)) return;
  const path = `${layout.spare}-${process.pid}${STAGED}`;
  try {
    deleteFile(path);
    await writeAndSync(path, CREATE, Buffer.alloc(FILE_BYTES));
    if (isThere(layout.spare)) deleteFile(path);
    else moveFile(path, layout.spare);
  } catch {
    // Whoever needs the next file makes it.
    discard(path);
  }
}
