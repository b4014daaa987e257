import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { MAGIC } from '../../transit/envelope/header.ts';

/** Whether a regular file that can be read begins as an envelope does. */
export function isEnvelopeFile(path: string): boolean {
  const start = Buffer.alloc(MAGIC.length);
  try {
    if (!statSync(path).isFile()) return false;
    const fd = openSync(path, 'r');
    try {
      readSync(fd, start, 0, start.length, 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
  return start.equals(MAGIC);
}
