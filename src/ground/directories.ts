import { mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { attempt } from './errors.ts';

/**
 * Creates a directory and its missing parents. Node's own function reports a read-only disk as a missing directory, and
 * loops forever in `/proc`, or for a relative path in a deleted working directory.
 * @param mode mode of each created directory
 * @returns the first one created; undefined if all existed
 */
export function makeWithParents(directory: string, mode: number): string | undefined {
  const missing: string[] = [];
  for (let path = resolve(directory); !isThere(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      // Another process may be creating the same one.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return missing[0];
}

/** Whether a path exists. Unlike `existsSync`, it throws disk errors instead of returning false. */
export const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Whether a word is the path of an existing file: one that is too long for a path, or cannot be looked up, is not. */
export const isRegularFile = (word: string): boolean => attempt(() => statSync(word).isFile(), false);

/**
 * Moves a file or directory within the same disk, atomically. A network file system may report a failure of an
 * operation that succeeded: if this throws, it was verified not to be done.
 */
export function move(from: string, to: string): void {
  try {
    patiently(() => renameSync(from, to));
  } catch (error) {
    const isDone =
      (error as NodeJS.ErrnoException).code !== 'ENOENT' && isSurely(from, false) && isSurely(to, true);
    if (!isDone) throw error;
  }
}

/** Whether it is certain that a path exists, or does not. */
export const isSurely = (path: string, there: boolean): boolean =>
  attempt(() => isThere(path) === there, false);

/**
 * Runs a file operation by name. Windows also has no directory sync, file modes and numeric users: code that needs
 * those checks for them.
 *
 * On Windows a file that is open elsewhere temporarily (a virus scanner, an indexer, a
 * short read by this program) cannot be replaced, deleted or opened: it is retried there, for less than half a second in
 * total, because the waits block the thread.
 *
 * Its source text runs in other threads as well, so it uses no names from outside.
 * @throws the error of the last attempt
 * @see docs/decisions/0232
 */
export function patiently<T>(work: () => T, platform: string = process.platform): T {
  for (const waitMs of platform === 'win32' ? [1, 2, 5, 10, 20, 50, 100, 200] : []) {
    try {
      return work();
    } catch (error) {
      if (!['EPERM', 'EACCES', 'EBUSY'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
    }
  }
  return work();
}
