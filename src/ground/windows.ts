/**
 * File handling of Windows. It also has no directory sync, file modes and numeric users: code that needs those checks
 * for them.
 * @see docs/decisions/0232
 */

/**
 * Error codes of a file that another process has open exclusively: a virus scanner, an indexer, or a short read by this
 * program.
 */
const HELD: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);
/** Waits between attempts, in milliseconds; less than half a second in total, because they block the thread. */
const WAITS_MS = [1, 2, 5, 10, 20, 50, 100, 200] as const;

/**
 * Runs a file operation by name. On Windows a file that is open elsewhere temporarily cannot be replaced, deleted or
 * opened: it is retried there.
 * @throws the error of the last attempt
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
