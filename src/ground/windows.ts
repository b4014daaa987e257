/**
 * What Windows does in its own way with files. It has no sync of directories, no rights by mode and no users by number either: who
 * needs those looks whether they are there.
 * @see docs/decisions/0232
 */

/** Somebody has the file open who does not share it: a virus scanner, an indexer, a reader of ours for some microseconds. */
const HELD: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);
/** Tries are so far apart; less than half a second together, for nothing else runs meanwhile. */
const WAITS_MS = [1, 2, 5, 10, 20, 50, 100, 200] as const;

/**
 * Does something to a file by its name. On Windows a file that somebody has open can't be replaced, deleted or opened for a
 * moment: there it is tried some more times.
 * @throws what the last try has thrown.
 */
export function patiently<T>(work: () => T, platform: string = process.platform): T {
  for (const wait of platform === 'win32' ? WAITS_MS : []) {
    try {
      return work();
    } catch (error) {
      if (!HELD.has((error as NodeJS.ErrnoException).code)) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, wait);
    }
  }
  return work();
}
