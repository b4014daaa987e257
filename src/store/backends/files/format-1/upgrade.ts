import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { elapsedMs } from '../../../../ground/clock.ts';
import { asCofferError, placed, unavailable } from '../../../../ground/errors.ts';
import { pause } from '../../../../ground/pause.ts';
import { LOCK_WAIT_MS, type Version } from '../../backend.ts';
import { errorCode, onDisk } from '../disk-errors.ts';
import { deleteTree, isThere, moveFile, readWhole, syncChanged, writeDurably } from '../durable-files.ts';
import type { FileLock } from '../file-lock.ts';
import { makeDirectory } from '../generation-files.ts';
import { type DirectoryFormat, WITH_LOG, WITHOUT_LOG, withFormat } from '../header-format.ts';
import { STAGED } from '../layout.ts';
import type { StoreDirectory } from '../log/log.ts';
import { makeFile } from '../log/next-file.ts';
import { logged, type StateName } from '../state-directory.ts';
import { recoverOld } from './recovery.ts';

/**
 * Gives a store of format 1 a log, in the session that makes the first change. Until the state has its new name the log
 * counts for nothing, so an upgrade that was interrupted is begun again, whatever a server of an older release has
 * written in between.
 * @see docs/decisions/0321
 */
export async function upgrade(directory: StoreDirectory, { generation, revision }: Version): Promise<void> {
  const { layout, state, log } = directory;
  const present: StateName = { kind: 'clean', generation, revision };
  discardOthers(directory);
  // Of an attempt that was interrupted. A header of format 2 says that the log has a file.
  await writeHeader(directory, WITHOUT_LOG);
  emptyLog(directory);
  log.forget();
  const first = await makeFile(layout, 1, {
    isFirst: true,
    generation,
    base: revision,
    storeId: log.storeId,
  });
  await syncChanged(layout.directory);
  await writeHeader(directory, WITH_LOG);
  state.change(present, logged(present));
  log.add(first);
  log.at = state.known;
  log.isKnown = true;
  await syncChanged(state.path);
}

/** Finishes the commit in whose midst a store of format 1 is. Under the write lock. @returns the state after it */
export async function finishOld(directory: StoreDirectory, found: StateName): Promise<StateName> {
  const { state } = directory;
  const version = await recoverOld(directory, found);
  discardOthers(directory);
  // The journal must be gone from the disk before its commit counts as done.
  await syncChanged(state.path);
  const present: StateName = { ...version, kind: 'clean' };
  state.change(found, present);
  return present;
}

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
        placed`a change of ${{ file: layout.directory }} was interrupted, and cannot be completed because the directory is not writable`,
        {
          hint: 'make the directory writable, then run the command again',
          cause: error,
        },
      );
    }
    if (state.read() !== found) return;
    if (elapsedMs() - start > LOCK_WAIT_MS)
      throw unavailable(placed`another process does not finish its change of ${{ file: layout.directory }}`, {
        hint: 'stop the process that writes to the store',
      });
    await pause(PAUSE_MS);
  }
}

function discardOthers({ state }: StoreDirectory): void {
  state.discard(state.list().others);
}

/** Makes the directory of the log, or deletes everything in it but its lock, which another process may have open. */
function emptyLog({ layout }: StoreDirectory): void {
  if (!isThere(layout.log)) makeDirectory(layout.log);
  const names = onDisk('read', layout.log, () => readdirSync(layout.log));
  for (const name of names) if (name !== 'lock') deleteTree(join(layout.log, name));
}

/** Gives the header a format, durably. */
async function writeHeader({ layout }: StoreDirectory, format: DirectoryFormat): Promise<void> {
  const header = readWhole(layout.header);
  const next = header && withFormat(header, format);
  if (next === undefined || header === undefined) return;
  if (!next.equals(header)) {
    await writeDurably(layout.header + STAGED, next);
    moveFile(layout.header + STAGED, layout.header);
  }
  // Also one that an earlier attempt has put there: its sync may have failed.
  await syncChanged(layout.directory);
}
