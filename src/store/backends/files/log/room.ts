import { beforeExit } from '../../../../ground/before-exit.ts';
import { elapsedMs } from '../../../../ground/clock.ts';
import { asCofferError, placed, unavailable } from '../../../../ground/errors.ts';
import { pause } from '../../../../ground/pause.ts';
import type { Version } from '../../backend.ts';
import { isThere } from '../durable-files.ts';
import type { Wait } from '../file-lock.ts';
import type { Layout } from '../layout.ts';
import type { StateDirectory, StateName } from '../state-directory.ts';
import type { Checkpointed } from './checkpoint.ts';
import { FILE_BYTES, isHalfFull, MOST_RECORDS } from './format.ts';
import { type Log, listLog, type StoreDirectory, withoutGap } from './log.ts';
import { makeSpare } from './next-file.ts';
import { Pace } from './pace.ts';
import type { Outcome, PutJob } from './put-blobs.ts';
import type { PutThread } from './put-thread.ts';

/** Time without a change after which the log is emptied, in milliseconds: at first, and at most. */
const IDLE_MS = 5000;
const LONGEST_IDLE_MS = 300_000;
/** A store that was left alone for so many times as long is emptied soon again. */
const QUIET = 4;
const LONGEST_PAUSE_MS = 50;
/** Time after which a checkpoint that failed is tried again, in milliseconds. */
const FAILED_MS = 1000;
/** Time that a writer waits at most, while there is room, for the oldest file to become emptier. */
const LONGEST_PACE_MS = 250;
/** Sessions or time after which a process counts as one that will make more changes. */
const MANY_SESSIONS = 8;
const LASTING_MS = 2000;
/** Records that a process with few changes leaves in the log at most: each process that only reads has to read them. */
const FEW_RECORDS = 32;
/** Most files of a generation; a change that needs another one waits until the oldest is empty. */
const MOST_FILES = 2;

/** Keeps the log of a store short: empties full files in the background, and lets writers wait for room. */
export class Room {
  readonly #layout: Layout;
  readonly #log: Log;
  readonly #state: StateDirectory;
  readonly #waitMs: number;
  readonly #openedMs = elapsedMs();
  /** What is in progress in the background. */
  #running: Promise<void> | undefined;
  /** How the last checkpoint of this process ended, and why it failed. */
  #outcome: Checkpointed | undefined;
  #trouble: unknown;
  /** When the last one failed. */
  #failedMs = Number.NEGATIVE_INFINITY;
  readonly #pace = new Pace();
  #idle: NodeJS.Timeout | undefined;
  #idleMs = IDLE_MS;
  #sessionMs = elapsedMs();
  #sessions = 0;
  /** Whether nothing is left in the log when this process ends. */
  #endsEmpty = false;
  #isClosed = false;
  #thread: PutThread | undefined;

  /** State that the last session of this process left. */
  #left: StateName | undefined;

  /** @param directory as the sessions of this process read it */
  constructor({ layout, log, state }: StoreDirectory, waitMs: number) {
    this.#log = log;
    this.#layout = layout;
    this.#state = state;
    this.#waitMs = waitMs;
  }

  /** Whether the next record has no room until the oldest file is empty. */
  isNeeded({ generation }: Version): boolean {
    const { newest } = this.#log;
    if (newest?.isFull !== true || newest.head.generation !== generation) return false;
    this.#log.forgetDeleted();
    return this.#log.files.filter(({ head }) => head.generation === generation).length >= MOST_FILES;
  }

  /**
   * Runs `attempt` until it finds room, and makes room in between, without any lock that a writer needs.
   * @param attempt returns undefined if there is no room; receives the time that may be waited in all, and when it began
   * @throws `unavailable` if there is no room in time
   */
  async whenThereIs<T>(
    waitMs: number | undefined,
    attempt: (waitMs: number, start: number) => Promise<{ readonly value: T } | undefined>,
  ): Promise<T> {
    const wait: Wait = { start: elapsedMs(), waitMs: waitMs ?? this.#waitMs };
    // A disk that stands still must not hold up those for whom there is room.
    await this.#pace.keep(() => this.#filled(), wait.start + Math.min(LONGEST_PACE_MS, wait.waitMs / 2));
    for (;;) {
      const outcome = await attempt(wait.waitMs, wait.start);
      if (outcome !== undefined) return outcome.value;
      await this.#makeRoom(wait);
    }
  }

  /**
   * Makes room for one more record of a session. It has the write lock, which no checkpoint waits for.
   * @throws `unavailable` if there is no room in time
   */
  async forOneMore(version: Version): Promise<void> {
    const wait: Wait = { start: elapsedMs(), waitMs: this.#waitMs };
    while (this.isNeeded(version)) await this.#makeRoom(wait);
  }

  #filled(): number {
    const { newest, files } = this.#log;
    return newest === undefined || files.length < MOST_FILES
      ? 0
      : Math.max(newest.records / MOST_RECORDS, newest.end / FILE_BYTES);
  }

  /** Waits until the oldest file is gone, and empties it if no other process does. */
  async #makeRoom({ start, waitMs }: Wait): Promise<void> {
    const oldest = this.#log.files[0]?.number;
    for (let longest = 1; ; longest = Math.min(longest * 2, LONGEST_PAUSE_MS)) {
      // Other work of this process goes on, whatever happens.
      await pause(1 + Math.random() * longest);
      if (withoutGap(listLog(this.#layout))[0] !== oldest) return;
      await Promise.race([this.#begin(false), this.#pace.moved, pause(LONGEST_PAUSE_MS)]);
      if (withoutGap(listLog(this.#layout))[0] !== oldest) return;
      if (elapsedMs() - start >= waitMs || this.#isClosed) throw await this.#noRoom(elapsedMs() - start);
    }
  }

  async #noRoom(waitedMs: number): Promise<unknown> {
    if (this.#isClosed)
      return unavailable(placed`${{ file: this.#layout.log }} is full, and this process has closed it`);
    const trouble = this.#trouble;
    if (trouble !== undefined) {
      const texts = asCofferError(trouble)?.texts;
      const why = texts?.message ?? (trouble instanceof Error ? trouble.message : String(trouble));
      return unavailable(placed`${{ file: this.#layout.log }} is full, and cannot be emptied: ${why}`, {
        cause: trouble,
        hint: texts === undefined ? TRY_AGAIN : texts.hint,
      });
    }
    if (this.#running === undefined && this.#outcome === 'nothing') {
      return unavailable(placed`${{ file: this.#layout.log }} is full, and was not emptied in time`, {
        hint: TRY_AGAIN,
      });
    }
    const { heldByOther } = await import('../lock-holder.ts');
    return heldByOther(this.#layout.logLock, waitedMs);
  }

  /**
   * Called after each session: begins with what keeps the next ones from waiting.
   * @param removed whether something was removed that must not stay in the log
   */
  afterSession(removed: boolean): void {
    const { newest, files } = this.#log;
    this.#sessions++;
    this.#left = this.#log.at;
    if (newest === undefined || this.#isClosed) return;
    this.#awaitIdleness();
    // Whoever removed something may have been killed before the log was emptied.
    this.#endsEmpty ||= removed || this.#isLasting || files.some(({ removes }) => removes);
    const isLong = files.length > 1 || newest.records > FEW_RECORDS;
    if (this.#endsEmpty || isLong)
      beforeExit(this.#layout.log, this.#endsEmpty, (isAll) => this.#emptiedAtExit(isAll));
    if (this.#sessions < MANY_SESSIONS) return;
    if (files.length > 1) this.#beginAfterPause();
    else if (newest.records > 0 && isHalfFull(newest.records, newest.end))
      void this.#inBackground(() => makeSpare(this.#layout));
  }

  /**
   * @param isAll whether nothing may be left. If not, the newest file is left to others if they have changed the store
   * meanwhile: that is a server, which empties it, or one of many commands, of which the last one will
   */
  async #emptiedAtExit(isAll: boolean): Promise<void> {
    const left = this.#left;
    await emptied(this.#layout, {
      isIdle: isAll || (left !== undefined && isThere(this.#state.file(left))),
      attempts: isAll ? ATTEMPTS : 1,
    });
  }

  /**
   * Empties the log when nothing changes for a while. That writes a megabyte for the next file: a store that is changed
   * again and again after such pauses is given more time.
   */
  #awaitIdleness(): void {
    const now = elapsedMs();
    const before = this.#idleMs;
    if (now - this.#sessionMs > QUIET * this.#idleMs) this.#idleMs = IDLE_MS;
    this.#sessionMs = now;
    if (this.#idle !== undefined && before === this.#idleMs) this.#idle.refresh();
    else this.#setTimer();
  }

  #setTimer(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#whenIdle(), this.#idleMs).unref();
  }

  async #whenIdle(): Promise<void> {
    this.#idle = undefined;
    this.#idleMs = Math.min(2 * this.#idleMs, LONGEST_IDLE_MS);
    // Something else may be in progress, which does less.
    await this.#running;
    await this.#begin(true);
    if (this.#isClosed || this.#running !== undefined) return;
    this.#thread?.rest();
    const isEmpty = this.#outcome !== 'held' && this.#trouble === undefined;
    if (!isEmpty && this.#idle === undefined) this.#setTimer();
  }

  get #isLasting(): boolean {
    return this.#sessions >= MANY_SESSIONS || elapsedMs() - this.#openedMs > LASTING_MS;
  }

  /** What fails would fail again for each change; whoever needs room does not wait for it. */
  #beginAfterPause(): void {
    if (elapsedMs() - this.#failedMs >= FAILED_MS) void this.#begin(false);
  }

  #begin(isIdle: boolean): Promise<void> {
    return this.#inBackground(async () => {
      // Loaded here because most commands end before.
      const { checkpoint } = await import('./checkpoint.ts');
      const put = this.#isLasting ? await this.#putElsewhere() : undefined;
      const progress = (share: number): void => this.#pace.advance(share);
      // From here on, although it takes a moment until the first of it is moved.
      if (this.#log.files.length >= MOST_FILES) progress(0);
      const isOver = emptiedUpTo(this.#layout);
      do {
        if (this.#isClosed) return;
        this.#outcome = await checkpoint(this.#layout.directory, {
          isIdle,
          known: this.#log,
          progress,
          put,
        });
        this.#trouble = undefined;
        this.#pace.advance(undefined);
      } while (this.#outcome === 'done' && !(isIdle && isOver()));
    });
  }

  /** A thread is worth its start only to a process that makes many changes. */
  async #putElsewhere(): Promise<(job: PutJob) => Promise<Outcome | undefined>> {
    const { PutThread: Thread } = await import('./put-thread.ts');
    this.#thread ??= new Thread();
    const thread = this.#thread;
    if (this.#isClosed) thread.close();
    return (job) => thread.run(job);
  }

  /** Does one thing at a time; returns when that is done. */
  #inBackground(work: () => Promise<unknown>): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#running ??= this.#run(work);
    return this.#running;
  }

  async #run(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // It is said to a writer that needs room.
      this.#trouble = error;
      this.#failedMs = elapsedMs();
    } finally {
      this.#running = undefined;
      this.#pace.advance(undefined);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#thread?.close();
    clearTimeout(this.#idle);
    this.#idle = undefined;
  }
}

const TRY_AGAIN = 'try again; if that does not help, run "coffer doctor"';

/** Times that it is tried to empty a log that others are at. */
const ATTEMPTS = 20;

/**
 * Returns a function that tells whether everything is emptied that is in the log now: a busy process adds to it all the
 * time, and empties that itself.
 */
function emptiedUpTo(layout: Layout): () => boolean {
  const last = listLog(layout).at(-1) ?? 0;
  return () => (withoutGap(listLog(layout))[0] ?? 0) > last;
}

/** Empties the log of a store, or its full files, before a process ends. */
async function emptied(
  layout: Layout,
  { isIdle, attempts }: { readonly isIdle: boolean; readonly attempts: number },
): Promise<void> {
  const { checkpoint } = await import('./checkpoint.ts');
  const isOver = emptiedUpTo(layout);
  for (let attempt = 0; attempt < attempts; ) {
    const outcome = await checkpoint(layout.directory, { isIdle });
    if (outcome === 'nothing' || isOver()) return;
    if (outcome === 'done') continue;
    if (++attempt < attempts) await pause(Math.random() * LONGEST_PAUSE_MS);
  }
}
