import { mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { patiently } from './windows.ts';

/**
 * Makes a directory and those above it that are missing. Node's own way calls a read-only disk a missing directory, and tries
 * for ever in `/proc`, or given a relative path where the working directory was deleted.
 * @param mode of each that is made.
 * @returns the first that was made; undefined when all were there.
 */
export function makeWithParents(directory: string, mode: number): string | undefined {
  const missing: string[] = [];
  for (let path = resolve(directory); !isThere(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    try {
      mkdirSync(path, { mode });
    } catch (error) {
      // Another process may be making the same one.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return missing[0];
}

/** Whether there is anything at a path. Unlike `existsSync` it takes no failure of the disk for a no, but throws it. */
export const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * Gives a file or directory another place on the same disk, atomically. A disk far away may report a failure of what it has
 * done: when this throws, it was seen not to be done.
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

/** Whether it is certain that there is something at a path, or nothing. */
export function isSurely(path: string, there: boolean): boolean {
  try {
    return isThere(path) === there;
  } catch {
    return false;
  }
}
