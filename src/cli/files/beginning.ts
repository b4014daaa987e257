import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { attempt } from '../../ground/errors.ts';
import { CIPHERTEXT } from '../parse/operation-spec.ts';

/**
 * Returns the first bytes of a regular file, with zeros behind the end of a shorter one; undefined if there is no such
 * file, or it cannot be read.
 */
export function beginningOf(path: string, bytes: number): Buffer | undefined {
  return attempt(() => {
    if (!statSync(path).isFile()) return undefined;
    const fd = openSync(path, 'r');
    const start = Buffer.alloc(bytes);
    try {
      readSync(fd, start, 0, start.length, 0);
      return start;
    } finally {
      closeSync(fd);
    }
  });
}

/** Maximum length of the beginning of a file by which a ciphertext is recognized, in bytes. */
const BEGINNING = 64;

/** Whether a file has a ciphertext of `transit encrypt`. */
export const isCiphertext = (path: string): boolean =>
  CIPHERTEXT.test(beginningOf(path, BEGINNING)?.toString('latin1') ?? '');
