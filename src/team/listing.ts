import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Names and states of the files of a keyring, which tell without reading them whether one was changed. */

/** A directory with more files, or deeper ones, is read as it always is, and refused there. */
const MOST_FILES = 50_000;
const DEPTH = 4;

/** State of a directory. */
export interface Listing {
  /** A line for each file: its path, its size, the times of its changes, and its inode number. */
  readonly text: string;
  readonly count: number;
  /** Time of the latest change, in milliseconds since 1970. */
  readonly newest: number;
}

/**
 * Lists a keyring's directory. Two equal listings have the same files with the same content, as long as none was changed
 * within the resolution of the file system's clock: no program can set the time of a change.
 * @returns undefined if there is no such directory, it has too many files, or it is changed meanwhile
 */
export function listingOf(directory: string): Listing | undefined {
  try {
    return listed(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

function listed(directory: string): Listing | undefined {
  // A link in the place of the directory is refused where the files are read.
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const lines: string[] = [];
  let newest = 0;
  const walk = (below: string, depth: number): void => {
    for (const entry of readdirSync(join(directory, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      const { size, ctimeMs, mtimeMs, ino } = lstatSync(join(directory, path));
      // A name has no zero byte, and what follows it no line break: no two directories have the same text.
      lines.push(`${path}\0${size} ${ctimeMs} ${mtimeMs} ${ino}`);
      newest = Math.max(newest, ctimeMs, mtimeMs);
      if (lines.length > MOST_FILES) return;
      if (entry.isDirectory() && depth <= DEPTH) walk(path, depth + 1);
    }
  };
  walk('', 0);
  const count = lines.length;
  return count > MOST_FILES ? undefined : { text: lines.join('\n'), count, newest };
}
