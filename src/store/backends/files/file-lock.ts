import { accessSync, closeSync, constants, openSync, utimesSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { elapsedMs } from '../../../ground/clock.ts';
import { type CofferError, corrupt, placed, unavailable } from '../../../ground/errors.ts';
import { pause } from '../../../ground/pause.ts';
import { REPAIR } from '../../refusals.ts';
import { diskError, errorCode } from './disk-errors.ts';
import { FILE_MODE } from './durable-files.ts';

// SQLite result codes, https://www.sqlite.org/rescode.html
const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;
/**
 * Polling pause as a share of the time waited so far, within bounds: a short hold is noticed soon after its end, and
 * many waiting processes do not take the CPU from the lock's holder.
 */
const PAUSE_SHARE = 1 / 8;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/**
 * Mutual exclusion among all processes that use one file. SQLite does the locking: it is the part of Node that can use
 * the kernel's file locks, and it handles their pitfalls (POSIX drops all locks of a process when *any* descriptor of
 * the file is closed). The kernel releases the lock when a process exits for any reason, so locks are never stale.
 * Nothing is written: the file stays empty, and no other file is created. Its modification time tells since when the
 * lock is held. Never open the file by other means than this class.
 * @see docs/decisions/0006
 */
export class FileLock {
  readonly #path: string;
  readonly #waitMs: number;
  /** Resolves when everyone queued in this process is done; undefined if the queue is empty. */
  #queue: Promise<void> | undefined;

  constructor(path: string, waitMs: number) {
    this.#path = path;
    this.#waitMs = waitMs;
  }

  /**
   * Runs `work` while holding the lock exclusively, across all processes. First come, first served within a process;
   * random between processes.
   * @param waitMs time to wait, if shorter than usual
   * @throws `unavailable` if the lock cannot be acquired in time, or the file cannot be opened for writing
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

  /**
   * Acquires the lock.
   * @returns function that releases it
   */
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
      // Keep the rollback journal in memory; otherwise SQLite creates a file for it.
      database.exec('PRAGMA journal_mode=MEMORY; BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (resultCode(error) === SQLITE_BUSY) return false;
      throw this.#explain(error);
    }
  }

  /**
   * Checks that the lock file is writable. SQLite would create a missing file with wider permissions, and would accept
   * a read-only file without locking anything.
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
  /** Start time, on the clock of `elapsedMs`. */
  readonly start: number;
  readonly waitMs: number;
}

/** Records since when the lock is held, for processes that wait in vain: only the file's modification time is set. */
function noteHolder(path: string): void {
  const now = Date.now() / 1000;
  try {
    utimesSync(path, now, now);
  } catch {
    // Only used for a message.
  }
}

/** Returns SQLite's primary result code of an error, or undefined. */
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
