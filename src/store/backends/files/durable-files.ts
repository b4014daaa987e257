import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { sep } from 'node:path';
import { type Adapter, Low } from 'lowdb';
import { alignedBuffer } from '../../../ground/aligned.ts';
import { isSurely, move, patiently } from '../../../ground/directories.ts';
import { type CofferError, placed, unavailable } from '../../../ground/errors.ts';
import { diskError, errorCode, hintForForeign, onDisk, statsAt } from './disk-errors.ts';
import { STAGED } from './layout.ts';

export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;
// Undefined on Windows, so default to 0.
export const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const READ = constants.O_RDONLY | NO_FOLLOW;
const SYNC_MARKER = /^sync-[1-9][0-9]*\.new$/;
/** Creates or empties a file. */
export const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | NO_FOLLOW;

/**
 * Reads a whole file; undefined if it does not exist. Synchronous: a small file in the page cache takes about 10 µs, a
 * trip to the thread pool several times that.
 * @throws `unavailable` if it cannot be read, or other users could have written it
 */
export function readWhole(path: string): Buffer | undefined {
  return reading(path, (fd) => {
    const stats = fstatSync(fd);
    refuseForeign(path, stats);
    return fill(fd, alignedBuffer(stats.size));
  });
}

/**
 * Runs `work` on a file that is opened for reading; undefined if it does not exist.
 * @throws `unavailable` if it cannot be read
 */
export function reading<T>(path: string, work: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = patiently(() => openSync(path, READ));
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

/** Reads from an offset of a file until the buffer is full; returns fewer bytes at the end of the file. */
export function fill(fd: number, bytes: Buffer, offset = 0): Buffer {
  let filled = 0;
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** Lists the names in a directory; nothing if there is none. */
export function listDirectory(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw diskError(error, 'read', path);
  }
}

/** Callback form: `util.promisify` would load a module in the path of every command. */
const sync = (fd: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fsync(fd, (error) => (error === null ? resolve() : reject(error)));
  });

/**
 * Creates or replaces a file and waits until its content is on disk; its directory entry is durable only after the
 * directory is synced. Only the sync uses the thread pool: everything before it ends in the page cache within
 * microseconds.
 */
export const writeDurably = (path: string, bytes: Uint8Array): Promise<void> =>
  syncOpened(path, WRITE, bytes);

/** Waits until the content of a file that another process wrote is on disk. */
export function syncFile(path: string): Promise<void> {
  // Windows syncs only files opened for writing.
  return syncOpened(path, constants.O_RDWR | NO_FOLLOW);
}

/** Waits until the entries of a directory are on disk: created, renamed and deleted files. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories; its file system journals entries on its own.
  if (process.platform !== 'win32') await syncOpened(path, constants.O_RDONLY);
}

/**
 * Waits until the entries of a directory are on disk, even if an earlier sync of it failed and left it marked as
 * written: the directory is changed, so that it has to be written again.
 */
export async function syncChanged(path: string): Promise<void> {
  const marker = `${path}${sep}sync-${process.pid}${STAGED}`;
  onDisk('write', path, () => closeSync(patiently(() => openSync(marker, WRITE, FILE_MODE))));
  deleteFile(marker);
  await syncDirectory(path);
}

/** Deletes what processes that were killed in `syncChanged` have left in a directory. */
export function discardSyncMarkers(path: string): void {
  const names = onDisk('read', path, () => readdirSync(path));
  for (const name of names) if (isSyncMarker(name)) deleteFile(`${path}${sep}${name}`);
}

/** Whether a file is what `syncChanged` makes for a moment. */
export const isSyncMarker = (name: string): boolean => SYNC_MARKER.test(name);

const syncOpened = (path: string, flags: number, bytes?: Uint8Array): Promise<void> =>
  onDisk('write', path, async () => {
    const fd = patiently(() => openSync(path, flags, FILE_MODE));
    try {
      if (bytes !== undefined) writeFileSync(fd, bytes);
      await sync(fd);
    } finally {
      closeSync(fd);
    }
  });

/**
 * Whether a path exists.
 * @throws `unavailable` if that cannot be determined
 */
export const isThere = (path: string): boolean => statsAt(path) !== undefined;

/** Moves a file within the same disk, atomically. If this throws, the file was verified not to be moved. */
export const moveFile = (from: string, to: string): void => onDisk('write', to, () => move(from, to));

/** Deletes a file if it exists. If this throws, the file was verified to exist still. */
export function deleteFile(path: string): void {
  try {
    patiently(() => unlinkSync(path));
  } catch (error) {
    if (!isSurely(path, false)) throw diskError(error, 'delete', path);
  }
}

/** Deletes a file, or a directory with its contents, if it exists. */
export const deleteTree = (path: string): void =>
  onDisk('delete', path, () => patiently(() => rmSync(path, { recursive: true, force: true })));

// Number of parallel syncs: Node's thread pool has four threads, and a few more keep them busy.
const PARALLEL = 8;

/**
 * Runs `work` on every item, several at a time. On failure, waits for all that have started, then throws the first
 * error.
 */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  try {
    for await (const item of items) {
      if (failures.length > 0) break;
      const task = work(item).then(
        () => void running.delete(task),
        (error: unknown) => {
          running.delete(task);
          failures.push(error);
        },
      );
      running.add(task);
      if (running.size >= PARALLEL) await Promise.race(running);
    }
  } finally {
    // Also if the items themselves fail: nothing must be cleaned up while it is still being written.
    await Promise.all(running);
  }
  if (failures.length > 0) throw failures[0];
}

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Refuses a file that another user could have changed: owned by another user, or writable for group or others.
 * Platforms without such owners (Windows) have nothing to check.
 * @param whenForeign what to do if it belongs to another user; default: become its owner
 * @throws `unavailable` with the remedy
 */
export function refuseForeign(path: string, stats: Pick<Stats, 'uid' | 'mode'>, whenForeign?: string): void {
  const refusal = foreign(path, stats, whenForeign);
  if (refusal !== undefined) throw refusal;
}

/** Returns what `refuseForeign` throws. */
export function foreign(
  path: string,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  whenForeign?: string,
): CofferError | undefined {
  const own = process.geteuid?.();
  if (own === undefined) return undefined;
  if (uid !== own) {
    return unavailable(placed`${{ file: path }} belongs to user ${uid}, you are user ${own}`, {
      hint:
        whenForeign ??
        hintForForeign(path, uid, `; do not run "chown -R ${own}", which would lock the owner out`),
    });
  }
  if ((mode & WRITABLE_BY_OTHERS) === 0) return undefined;
  const octal = (mode & 0o7777).toString(8).padStart(4, '0');
  return unavailable(placed`${{ file: path }} can be written by other users (mode ${octal})`, {
    hint: placed`run "chmod go-w ${{ file: path }}"`,
  });
}

/**
 * Marker for "no such file": `Low` keeps its old data if a read returns nothing, so absence needs a value of its own.
 */
const ABSENT: Uint8Array = new Uint8Array(0);

/**
 * lowdb adapter for one sealed file. New content is written, durably, to another path, from where the caller renames it
 * into place. So no reader sees half of what a `Low` has written.
 * @see docs/decisions/0008
 */
const sealedFile = (path: string): Adapter<Uint8Array> => ({
  read: async () => readWhole(path) ?? null,
  write: (bytes) => writeDurably(path, bytes),
});

/** Reads a sealed file; undefined if it does not exist. */
export async function readBlobFile(path: string): Promise<Uint8Array | undefined> {
  // Use a new Low for each read: a used one would still show a file that has been deleted since.
  const file = new Low(sealedFile(path), ABSENT);
  await file.read();
  return file.data === ABSENT ? undefined : file.data;
}

/** Writes the future content of a file to `stagedPath`, and waits until it is on disk. */
export const stageBlobFile = (stagedPath: string, bytes: Uint8Array): Promise<void> =>
  new Low(sealedFile(stagedPath), bytes).write();
