/**
 * File handling of Windows. It also has no directory sync, file modes and numeric users: code that needs those checks
 * for them.
 * @see docs/decisions/0232
 */

/**
 * Runs a file operation by name. On Windows a file that is open elsewhere temporarily (a virus scanner, an indexer, a
 * short read by this program) cannot be replaced, deleted or opened: it is retried there, for less than half a second in
 * total, because the waits block the thread.
 *
 * Its source text runs in other threads as well, so it uses no names from outside.
 * @throws the error of the last attempt
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
