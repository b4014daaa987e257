import { accessSync, closeSync, constants, openSync, type Stats, utimesSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { elapsedMs } from '../../../ground/clock.ts';
import { attempt, type CofferError, closing, corrupt, placed, unavailable } from '../../../ground/errors.ts';
import { inTime, pause } from '../../../ground/pause.ts';
import { REPAIR } from '../../refusals.ts';
import { diskError, errorCode, statsAt } from './disk-errors.ts';
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
 * Interval at which the file's time is set while the lock is taken again and again, in milliseconds; the message of a
 * waiting process has whole seconds.
 */
const NOTED_EVERY_MS = 1000;
/**
 * Time for which the file stays open after the last hold, in milliseconds. An idle store must not keep its disk
 * mounted.
 */
const REST_MS = 200;

/**
 * Mutual exclusion among all processes that use one file. SQLite does the locking: it is the part of Node that can use
 * the kernel's file locks, and it handles their pitfalls (POSIX drops all locks of a process when *any* descriptor of
 * the file is closed). The kernel releases the lock when a process exits for any reason, so locks are never stale.
 * Nothing is written: the file stays empty, and no other file is created. Its modification time tells since when the
 * lock is held. Never open the file by other means than this class.
 *
 * The connection stays open between holds, because opening one costs several times as much as locking. If another file
 * has replaced the open one, that is noticed, and the new one is opened. The connection is closed after a moment
 * without holds.
 * @see docs/decisions/0006
 */
export class FileLock {
  readonly #path: string;
  readonly #waitMs: number;
  /** Resolves when everyone queued in this process is done; undefined if the queue is empty. */
  #queue: Promise<void> | undefined;
  #connection: Connection | undefined;
  /** When the file's time was set last, in milliseconds since the epoch. */
  #notedMs = 0;
  /** Closes the connection when it was not used for a while. */
  #rest: NodeJS.Timeout | undefined;

  constructor(path: string, waitMs: number) {
    this.#path = path;
    this.#waitMs = waitMs;
  }

  /** Like `hold`, but leaves nothing open afterwards. */
  static holdOnce<T>(path: string, waitMs: number, work: () => Promise<T>): Promise<T> {
    return closing(new FileLock(path, waitMs), (lock) => lock.hold(work));
  }

  /**
   * Runs `work` while holding the lock exclusively, across all processes. First come, first served within a process;
   * random between processes.
   * @param waitMs time to wait, if shorter than usual
   * @param start when that time began, on the clock of `elapsedMs`
   * @throws `unavailable` if the lock cannot be acquired in time, or the file cannot be opened for writing
   */
  async hold<T>(work: () => Promise<T>, waitMs = this.#waitMs, start = elapsedMs()): Promise<T> {
    const wait: Wait = { start, waitMs };
    return this.#queued(async (before) => {
      if (before !== undefined)
        await inTime(before, start + waitMs - elapsedMs(), async () => {
          throw await this.#timeout(wait);
        });
      return this.#holding(await this.#acquire(wait), work);
    });
  }

  /**
   * Runs `work` while holding the lock if that is possible at once.
   * @returns undefined if another holder has it
   */
  async tryHold<T>(work: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    if (this.#queue !== undefined) return undefined;
    return this.#queued(async () => {
      const { database } = this.#connect();
      if (this.#tryBegin(database)) return { value: await this.#holding(database, work) };
      this.#closeLater();
      return undefined;
    });
  }

  /** Queues `run`, which waits for everyone before it in this process. */
  async #queued<T>(run: (before: Promise<void> | undefined) => Promise<T>): Promise<T> {
    const before = this.#queue;
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    const queue = before === undefined ? done : before.then(() => done);
    this.#queue = queue;
    try {
      return await run(before);
    } finally {
      finish();
      // After a wait in vain, those before it still hold the lock, or wait for it.
      void queue.then(() => {
        if (this.#queue === queue) this.#queue = undefined;
      });
    }
  }

  /**
   * Closes the connection, once this process neither holds the lock nor waits for it; the next hold opens another one.
   */
  close(): void {
    if (this.#queue === undefined) this.#disconnect();
    else void this.#queue.then(() => this.close());
  }

  #disconnect(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    this.#connection?.database.close();
    this.#connection = undefined;
  }

  async #acquire(wait: Wait): Promise<DatabaseSync> {
    for (;;) {
      const { database } = this.#connect();
      if (this.#tryBegin(database)) return database;
      const waited = elapsedMs() - wait.start;
      if (waited > wait.waitMs) throw await this.#timeout(wait);
      const longest = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, waited * PAUSE_SHARE));
      await pause(1 + Math.random() * (longest - 1));
    }
  }

  /** Runs `work` with the lock, and releases it. */
  async #holding<T>(database: DatabaseSync, work: () => Promise<T>): Promise<T> {
    this.#noteHolder();
    try {
      return await work();
    } finally {
      database.exec('ROLLBACK');
      this.#closeLater();
    }
  }

  #closeLater(): void {
    if (this.#rest !== undefined) this.#rest.refresh();
    else this.#rest = setTimeout(() => this.close(), REST_MS).unref();
  }

  #connect(): Connection {
    const known = this.#connection;
    if (known !== undefined && isSameFile(statsAt(this.#path), known.file)) return known;
    this.#disconnect();
    const database = this.#open();
    const file = statsAt(this.#path);
    if (file === undefined) {
      database.close();
      throw unavailable(placed`${{ file: this.#path }} disappeared`);
    }
    this.#connection = { database, file };
    return this.#connection;
  }

  #open(): DatabaseSync {
    this.#ensureWritable();
    // Loaded here because only writers need it.
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    try {
      const database = new DatabaseSync(this.#path, { timeout: 0 });
      // Keep the rollback journal in memory; otherwise SQLite creates a file for it.
      database.exec('PRAGMA journal_mode=MEMORY');
      return database;
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #tryBegin(database: DatabaseSync): boolean {
    try {
      database.exec('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (resultCode(error) === SQLITE_BUSY) return false;
      // Whatever is wrong with the file, the next attempt opens it again.
      this.#disconnect();
      throw this.#explain(error);
    }
  }

  /**
   * Records the time since which the lock is held, for error messages of processes whose wait for the lock fails: only
   * the file's modification time is set. Holds within one second count as one.
   */
  #noteHolder(): void {
    const nowMs = Date.now();
    if (Math.abs(nowMs - this.#notedMs) < NOTED_EVERY_MS) return;
    // Only used for a message.
    attempt(() => {
      utimesSync(this.#path, nowMs / 1000, nowMs / 1000);
      this.#notedMs = nowMs;
    });
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

interface Connection {
  readonly database: DatabaseSync;
  /** The file that it has open. */
  readonly file: Stats;
}

/** How long somebody waits. */
export interface Wait {
  /** Start time, on the clock of `elapsedMs`. */
  readonly start: number;
  readonly waitMs: number;
}

const isSameFile = (a: Stats | undefined, b: Stats): boolean => a?.ino === b.ino && a.dev === b.dev;

/** Returns SQLite's primary result code of an error, or undefined. */
function resultCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
