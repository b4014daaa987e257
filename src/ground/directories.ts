import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

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
