import { accessSync, closeSync, constants, openSync, utimesSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { elapsedMs } from '../../../ground/clock.ts';
import { type CofferError, corrupt, placed, unavailable } from '../../../ground/errors.ts';
import { pause } from '../../../ground/pause.ts';
import { REPAIR } from '../../refusals.ts';
import { diskError, errorCode } from './disk-errors.ts';
import { FILE_MODE } from './durable-files.ts';

// Result codes of SQLite, https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;
/**
 * A pause is at most this part of the time waited so far, within bounds: a short hold is noticed soon after its end, and a crowd
 * does not keep the processors from whoever holds the lock with its tries.
 */
const PAUSE_SHARE = 1 / 8;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/**
 * Mutual exclusion among all processes that use one file. SQLite does the locking: it is the part of Node that
 * reaches the kernel's file locks, and it handles their traps (POSIX drops all locks of a process when *any*
 * descriptor of the file is closed). The kernel lets go when a process ends, however it ends, so no lock is ever stale.
 * Nothing is written: the file stays empty, and no other file appears. Its time of change says since when it is held. Never open the file by other means than this.
 * @see docs/decisions/0006
 */
export class FileLock {
  readonly #path: string;
  readonly #waitMs: number;
  /** Resolves when everyone who queued in this process is done; undefined when nobody has. */
  #queue: Promise<void> | undefined;

  constructor(path: string, waitMs: number) {
    this.#path = path;
    this.#waitMs = waitMs;
  }

  /**
   * Runs `work` while no one else holds the lock, in this process or any other. First come, first served within the
   * process; between processes by chance.
   * @param waitMs how long to wait, where it is less than usual.
   * @throws `unavailable` when the lock is not to be had in time, or the file can't be opened for writing.
   */
  async hold<T>(work: () => Promise<T>, waitMs = this.#waitMs): Promise<T> {
    const wait: Wait = { start: elapsedMs(), waitMs };
    const before = this.#queue;
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    const queue = before === undefined ? done : before.then(() => done);
    this.#queue = queue;
    try {
      if (before !== undefined) await this.#inTime(before, wait);
      const release = await this.#acquire(wait);
      try {
        return await work();
      } finally {
        release();
      }
    } finally {
      finish();
      if (this.#queue === queue) this.#queue = undefined;
    }
  }

  async #inTime(turn: Promise<void>, wait: Wait): Promise<void> {
    let alarm: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      alarm = setTimeout(() => this.#timeout(wait).then(reject, reject), wait.waitMs);
    });
    try {
      await Promise.race([turn, late]);
    } finally {
      clearTimeout(alarm);
    }
  }

  /** @returns how to let go again. */
  async #acquire(wait: Wait): Promise<() => void> {
    const database = this.#open();
    try {
      while (!this.#tryBegin(database)) {
        const waited = elapsedMs() - wait.start;
        if (waited > wait.waitMs) throw await this.#timeout(wait);
        const longest = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, waited * PAUSE_SHARE));
        await pause(1 + Math.random() * (longest - 1));
      }
    } catch (error) {
      database.close();
      throw error;
    }
    noteHolder(this.#path);
    return () => database.close();
  }

  #open(): DatabaseSync {
    this.#ensureWritable();
    // Loaded here because only writers need it.
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    try {
      return new DatabaseSync(this.#path, { timeout: 0 });
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #tryBegin(database: DatabaseSync): boolean {
    try {
      // The roll-back journal in memory, or else SQLite makes a file for it.
      database.exec('PRAGMA journal_mode=MEMORY; BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (resultCode(error) === SQLITE_BUSY) return false;
      throw this.#explain(error);
    }
  }

  /**
   * SQLite would create a missing file with wider permissions than ours, and would take a file that it can't write
   * as well, but then without locking anything.
   */
  #ensureWritable(): void {
    try {
      accessSync(this.#path, constants.R_OK | constants.W_OK);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw diskError(error, 'write', this.#path);
      this.#create();
    }
  }

  #create(): void {
    try {
      closeSync(openSync(this.#path, 'wx', FILE_MODE));
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw diskError(error, 'create', this.#path);
    }
  }

  #explain(error: unknown): CofferError {
    if (resultCode(error) === SQLITE_NOTADB) {
      return corrupt(placed`${{ file: this.#path }} is damaged: it must be empty`, {
        cause: error,
        hint: REPAIR,
      });
    }
    return unavailable(placed`cannot lock ${{ file: this.#path }}`, { cause: error });
  }

  async #timeout({ start }: Wait): Promise<CofferError> {
    const { heldByOther } = await import('./lock-holder.ts');
    return heldByOther(this.#path, elapsedMs() - start);
  }
}

interface Wait {
  /** As `elapsedMs` counts. */
  readonly start: number;
  readonly waitMs: number;
}

/** Lets those who wait in vain know since when: nothing but the time is written, and not into the file. */
function noteHolder(path: string): void {
  const now = Date.now() / 1000;
  try {
    utimesSync(path, now, now);
  } catch {
    // It is for a message only.
  }
}

/** SQLite's primary result code of an error, or undefined. */
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
