import { elapsedMs } from '../../../../ground/clock.ts';
import { asCofferError } from '../../../../ground/errors.ts';
import { pause } from '../../../../ground/pause.ts';
import type { Version } from '../../backend.ts';
import { versionOf } from '../../version.ts';
import { WentBack } from '../../witness.ts';
import type { FileLock } from '../file-lock.ts';
import type { StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { isOfThisBoot } from './boot.ts';
import type { Above, Log } from './log.ts';
import { settle } from './settle.ts';

/** Time to wait for a writer that makes the state include what the log proves, in milliseconds. */
const PATIENCE_MS = 2000;
const LONGEST_PAUSE_MS = 50;

/**
 * Looks at the log for the first time in this process, and shows what it found. Usually the log ends with the
 * state's name. If it goes on, a writer was killed or the power failed, and what is there is made part of the state; or
 * a writer is at work, and the state before its change is shown. Neither the lock nor a writer that has it is waited
 * for, except shortly after a power failure.
 * @param examine called with a version that is about to be made; throws if it must not be, and records nothing
 * @returns the version that is shown; undefined if the state has no log
 * @throws `corrupt` if the log ends below the state
 */
export async function firstLook(
  directory: StoreDirectory,
  lock: FileLock,
  examine: (version: Version) => void,
): Promise<Version | undefined> {
  const { state, log } = directory;
  const start = elapsedMs();
  for (let longest = 1; ; longest = Math.min(longest * 2, LONGEST_PAUSE_MS)) {
    const name = state.read();
    if (name.kind !== 'log') return undefined;
    // Of its own, because changes of this process use the other one while it waits here.
    const own = log.copy();
    if (!own.follow(name.revision)) continue;
    const above = own.above();
    const proven = own.versionWith(above);
    if (proven === undefined || proven.revision <= name.revision) {
      const problem = own.contradiction(name);
      if (state.read() !== name) continue;
      if (problem !== undefined) throw problem;
      log.become(own, name);
      return versionOf(name);
    }
    const outcome = await trySettling(directory, lock, name, examine);
    if (outcome === 'settled') continue;
    const lasting = lastingVersion(own, name, above);
    const isLasting = lasting.revision > name.revision;
    if (state.read() !== name) continue;
    if (!isLasting || outcome === 'impossible' || elapsedMs() - start > PATIENCE_MS) {
      if (isLasting && !own.follow(lasting.revision)) continue;
      const problem = own.contradiction(lasting);
      if (state.read() !== name) continue;
      if (problem !== undefined) throw problem;
      log.become(own, name, isLasting ? lasting : undefined);
      return lasting;
    }
    await pause(1 + Math.random() * longest);
  }
}

/**
 * Returns the newest version that no power failure takes back: that of the name, of a base, or of a record of another
 * boot. A record of this boot may still be in the hands of its writer.
 */
function lastingVersion(log: Log, name: StateName, above: readonly Above[]): Version {
  let lasting = versionOf(name);
  for (const { head, revision } of log.files) {
    if (revision > lasting.revision) lasting = { generation: head.generation, revision };
  }
  for (const { record } of above.flatMap(({ records }) => records)) {
    if (isOfThisBoot(record.boot)) break;
    if (record.revision <= lasting.revision) continue;
    lasting = {
      generation: record.generation + (record.kind === 'rekey' ? 1 : 0),
      revision: record.revision,
    };
  }
  return lasting;
}

/**
 * Settles if the write lock is free.
 * @returns `impossible` if nothing can be written here
 */
async function trySettling(
  directory: StoreDirectory,
  lock: FileLock,
  name: StateName,
  examine: (version: Version) => void,
): Promise<'settled' | 'busy' | 'impossible'> {
  try {
    const held = await lock.tryHold(async () => {
      if (directory.state.read() === name) await settle(directory, name, examine);
    });
    return held === undefined ? 'busy' : 'settled';
  } catch (error) {
    if (error instanceof WentBack || asCofferError(error)?.kind !== 'unavailable') throw error;
    return 'impossible';
  }
}
