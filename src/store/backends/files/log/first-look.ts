import { statSync } from 'node:fs';
import { elapsedMs } from '../../../../ground/clock.ts';
import { asCofferError, placed, unavailable } from '../../../../ground/errors.ts';
import { pause } from '../../../../ground/pause.ts';
import type { Version } from '../../backend.ts';
import { versionOf, WentBack } from '../../witness.ts';
import { diskError } from '../disk-errors.ts';
import type { FileLock } from '../file-lock.ts';
import type { Layout } from '../layout.ts';
import type { StateName } from '../state-directory.ts';
import { holeIn, settle } from './append.ts';
import { isOfThisBoot } from './boot.ts';
import { type Above, type Log, listing, type StoreDirectory } from './log.ts';

/** Time to wait for a writer that makes the state include what the log proves, in milliseconds. */
const PATIENCE_MS = 2000;
/** Time after which a log counts as one that nobody can read, because it is another one at each look. */
const LONGEST_MS = 10_000;
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
  const { layout, state } = directory;
  const start = elapsedMs();
  for (let longest = 1; ; longest = Math.min(longest * 2, LONGEST_PAUSE_MS)) {
    const name = state.read();
    if (name.kind !== 'log') return undefined;
    const waitedMs = elapsedMs() - start;
    const isLast = waitedMs > PATIENCE_MS;
    const version = await lookAt(directory, name, {
      isLast,
      settles: () => trySettling(directory, lock, name, examine),
    });
    if (version !== undefined) return version;
    if (waitedMs > LONGEST_MS)
      throw unavailable(placed`cannot read ${{ file: layout.log }}: other processes keep writing to it`, {
        hint: 'try again',
      });
    await pause(1 + Math.random() * longest);
  }
}

interface Looking {
  /** Whether a writer that is at work is not waited for any longer. */
  readonly isLast: boolean;
  readonly settles: () => ReturnType<typeof trySettling>;
}

/** Looks once. @returns undefined if the state has changed meanwhile, or is about to */
async function lookAt(
  { state, log }: StoreDirectory,
  name: StateName,
  { isLast, settles }: Looking,
): Promise<Version | undefined> {
  // Of its own, because changes of this process use the other one while it waits here.
  const own = log.copy();
  if (!own.follow(name.revision)) return undefined;
  const above = own.above();
  const proven = own.versionWith(above);
  if (proven === undefined || proven.revision <= name.revision) {
    const problem = own.contradiction(name) ?? holeIn(own);
    if (problem !== undefined && state.read() !== name) return undefined;
    if (problem !== undefined) throw problem;
    log.become(own, name);
    return versionOf(name);
  }
  const outcome = await settles();
  if (outcome === 'settled') return undefined;
  const lasting = lastingVersion(own, name, above);
  const isLasting = lasting.revision > name.revision;
  if (isLasting && outcome === 'busy' && !isLast) return undefined;
  if (isLasting && !own.follow(lasting.revision)) return undefined;
  const problem = own.contradiction(lasting) ?? (isLasting ? holeIn(own) : undefined);
  // A session of this process may have changed the state, and goes on with what it has read.
  if (state.read() !== name) return undefined;
  if (problem !== undefined) throw problem;
  log.become(own, name, isLasting ? lasting : undefined);
  return lasting;
}

/**
 * Returns the newest version that no power failure takes back: the one in the name of the state file, the one that a
 * log file starts from (its base), or that of a record written before this boot of the machine. A record of this boot
 * may not be synced by its writer yet.
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
  let isHeld = false;
  try {
    const held = await lock.tryHold(async () => {
      isHeld = true;
      if (directory.state.read() === name) await settle(directory, name, examine);
    });
    return held === undefined ? 'busy' : 'settled';
  } catch (error) {
    const kind = asCofferError(error)?.kind;
    // That of a damaged lock says nothing about the log.
    const isOfLock = !isHeld && kind === 'corrupt';
    if (error instanceof WentBack || (kind !== 'unavailable' && !isOfLock)) throw error;
    return 'impossible';
  }
}

interface Found {
  readonly state: Version;
  readonly files: string;
  /** Error of those who need the whole log. */
  readonly error: unknown;
}

/**
 * Damage of the log as it was found last. It is remembered as long as neither the state nor a file of the log is
 * another one: a log may have many megabytes, and everybody who asks would have them searched anew.
 */
export class Damage {
  readonly #directory: StoreDirectory;
  #found: Found | undefined;
  /** Whether what can be shown of the log was looked for. */
  #isKnown = false;

  constructor(directory: StoreDirectory) {
    this.#directory = directory;
  }

  /** Whether the log was damaged when it was read last. */
  get isThere(): boolean {
    return this.#found !== undefined;
  }

  forget(): void {
    this.#found = undefined;
    this.#isKnown = false;
  }

  /**
   * Returns what is shown of the damaged log; undefined if it has to be read, because it may be whole again.
   * @throws `corrupt` if nothing can be shown
   */
  shownAt(state: StateName): Version | undefined {
    if (!this.#isKnown || !this.#isAt(state)) return undefined;
    const { rescued } = this.#directory.log;
    if (rescued === undefined) throw this.#found?.error;
    return rescued.version;
  }

  /** @throws `corrupt` if the log of the present state is known to be damaged */
  refuse(): void {
    const { state } = this.#directory;
    if (this.#isKnown && state.known !== undefined && state.isUnchanged() && this.#isAt(state.known))
      throw this.#found?.error;
  }

  /**
   * Looks for what can be shown of a log that was read and found damaged.
   * @returns undefined if it has to be read again, because it may have been put back meanwhile
   * @throws `error` if nothing can be shown
   */
  async rescue(name: StateName, error: unknown): Promise<Version | undefined> {
    const { layout, state, log } = this.#directory;
    const { rescue } = await import('./rescued.ts');
    if (!this.#isAt(name)) {
      this.#found = { state: name, files: looksOf(layout), error };
      this.#isKnown = false;
      return undefined;
    }
    const rescued = rescue(layout, log.storeId, name);
    if (state.read() !== name || !this.#isAt(name)) return undefined;
    log.rescued = rescued;
    this.#isKnown = true;
    if (rescued === undefined) throw error;
    return rescued.version;
  }

  /** Whether all is as it was when the damage was found. */
  #isAt(state: Version): boolean {
    return state === this.#found?.state && looksOf(this.#directory.layout) === this.#found.files;
  }
}

/** Text that changes whenever a file of the log is changed, deleted or put back. */
function looksOf(layout: Layout): string {
  const { numbers, firsts } = listing(layout);
  const looks = numbers.map((number) => {
    const path = layout.logFile(number);
    try {
      const { ino, size, mtimeMs, ctimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
      return [number, ino, size, mtimeMs, ctimeMs].join(' ');
    } catch (error) {
      throw diskError(error, 'read', path);
    }
  });
  return [...looks, ...firsts].join('\n');
}
