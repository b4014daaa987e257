import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { diskError, errorCode } from './disk-errors.ts';
import { refuseForeign } from './ownership.ts';

export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;
// Absent on Windows, where they are 0.
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const READ = constants.O_RDONLY | NO_FOLLOW;
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | NO_FOLLOW;

/**
 * A whole file, or undefined when there is none. Synchronous: a small file in the page cache costs about 10 µs,
 * a trip to the thread pool several times that.
 * @throws `unavailable` when it can't be read, or others could have written it.
 */
export function readWhole(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw diskError(error, 'read', path);
  }
  try {
    const stats = fstatSync(fd);
    refuseForeign(path, stats);
    return readToEnd(fd, stats.size);
  } catch (error) {
    throw diskError(error, 'read', path);
  } finally {
    closeSync(fd);
  }
}

function readToEnd(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  while (filled < size) {
    const count = readSync(fd, bytes, filled, size - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

/** Creates or replaces a file and waits until its content is on disk. Its directory entry is not, until the directory is synced. */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  try {
    const file = await open(path, WRITE, FILE_MODE);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw diskError(error, 'write', path);
  }
}

/** Waits until the entries of a directory are on disk: what was created, renamed or deleted in it. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows can't open directories; its file system journals entries by itself.
  if (process.platform === 'win32') return;
  try {
    const directory = await open(path, constants.O_RDONLY);
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  } catch (error) {
    throw diskError(error, 'write', path);
  }
}

// Node's thread pool has four threads; a few more keep them busy while others sync.
const PARALLEL = 8;

/** Runs `work` on every item, several at a time. When one fails, the first error is thrown after all that began have ended. */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
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
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
