import { elapsedMs } from '../../../../ground/clock.ts';
import { asCofferError, placed, unavailable } from '../../../../ground/errors.ts';
import { pause } from '../../../../ground/pause.ts';
import { LOCK_WAIT_MS, type Version } from '../../backend.ts';
import { errorCode } from '../disk-errors.ts';
import type { FileLock } from '../file-lock.ts';
import type { StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { finishOld } from './upgrade.ts';

const PAUSE_MS = 10;
/** Codes of a disk that cannot be written to. */
const READ_ONLY: ReadonlySet<string | undefined> = new Set(['EROFS', 'EACCES', 'EPERM']);

/**
 * Waits until a store of format 1 is settled: its writer, of an older release, ends its commit; or, if it was killed,
 * the commit is finished here. The store stays one of format 1: only a change gives it a log.
 * @param examine called with the version that the store is about to get; throws if it must not be accepted
 * @throws `unavailable` if neither happens
 */
export async function awaitOld(
  directory: StoreDirectory,
  lock: FileLock,
  found: StateName,
  examine: (version: Version) => void,
): Promise<void> {
  const { state, layout } = directory;
  const start = elapsedMs();
  while (state.read() === found) {
    try {
      await lock.tryHold(async () => {
        if (state.read() !== found) return;
        examine({ generation: found.generation, revision: found.revision + 1 });
        await finishOld(directory, found);
      });
    } catch (error) {
      const code = errorCode(asCofferError(error)?.cause);
      if (!READ_ONLY.has(code)) throw error;
      throw unavailable(
        placed`a change of ${{ file: layout.directory }} was interrupted, and nothing can be written here`,
        {
          hint: 'make it writable once, and run any command',
          cause: error,
        },
      );
    }
    if (state.read() !== found) return;
    if (elapsedMs() - start > LOCK_WAIT_MS)
      throw unavailable(placed`a change of ${{ file: layout.directory }} does not end`, {
        hint: 'end the process that writes to it',
      });
    await pause(PAUSE_MS);
  }
}
