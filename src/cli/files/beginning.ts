import { closeSync, openSync, readSync, statSync } from 'node:fs';

/**
 * Returns the first bytes of a regular file, with zeros behind the end of a shorter one; undefined if there is no such
 * file, or it cannot be read.
 */
export function beginningOf(path: string, bytes: number): Buffer | undefined {
  const start = Buffer.alloc(bytes);
  try {
    if (!statSync(path).isFile()) return undefined;
    const fd = openSync(path, 'r');
    try {
      readSync(fd, start, 0, start.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
  return start;
}
