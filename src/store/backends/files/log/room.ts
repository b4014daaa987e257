import { elapsedMs } from '../../../../ground/clock.ts';
import { asCofferError, placed, unavailable } from '../../../../ground/errors.ts';
import { pause } from '../../../../ground/pause.ts';
import type { Version } from '../../backend.ts';
import { Layout } from '../layout.ts';
import { isHalfFull } from './format.ts';
import { type Log, listLog } from './log.ts';
import { makeSpare } from './next-file.ts';
import type { PutJob, PutThread } from './put-blobs.ts';

/** Time without a change after which the log is emptied, in milliseconds. */
const IDLE_MS = 5000;
const LONGEST_PAUSE_MS = 50;
/** Sessions after which a process counts as one that will make more changes. */
const MANY_SESSIONS = 8;
/** Most files of a generation; a change that needs another one waits until the oldest is empty. */
const MOST_FILES = 2;

/** Keeps the log of a store short: empties full files in the background, and lets writers wait for room. */
export class Room {
  readonly #layout: Layout;
  readonly #waitMs: number;
  /** Checkpoint of this process that is in progress. */
  #running: Promise<unknown> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #sessions = 0;
  #isClosed = false;
  #thread: PutThread | undefined;

  constructor(directory: string, waitMs: number) {
    this.#layout = new Layout(directory);
    this.#waitMs = waitMs;
  }

  /** Whether the next record has no room until the oldest file is empty. */
  isNeeded({ newest, files }: Log, { generation }: Version): boolean {
    const own = files.filter(({ head }) => head.generation === generation);
    return newest?.isFull === true && newest.head.generation === generation && own.length >= MOST_FILES;
  }

  /**
   * Runs `attempt` until it finds room, and makes room in between, without any lock that a writer needs.
   * @param attempt returns undefined if there is no room; receives the time left to wait, in milliseconds
   * @throws `unavailable` if there is no room in time
   */
  async whenThereIs<T>(
    log: Log,
    waitMs: number | undefined,
    attempt: (restMs: number) => Promise<{ readonly value: T } | undefined>,
  ): Promise<T> {
    const start = elapsedMs();
    const wait = waitMs ?? this.#waitMs;
    for (;;) {
      const outcome = await attempt(Math.max(0, wait - (elapsedMs() - start)));
      if (outcome !== undefined) return outcome.value;
      await this.#makeRoom(log.files[0]?.number ?? 0, () => elapsedMs() - start > wait);
    }
  }

  async #makeRoom(oldest: number, isLate: () => boolean): Promise<void> {
    const { checkpoint } = await import('./checkpoint.ts');
    for (
      let longest = 1;
      listLog(this.#layout)[0] === oldest;
      longest = Math.min(longest * 2, LONGEST_PAUSE_MS)
    ) {
      await this.#running;
      let trouble: unknown;
      try {
        if ((await checkpoint(this.#layout.directory)) === 'done') return;
      } catch (error) {
        trouble = error;
      }
      if (isLate()) throw await this.#noRoom(trouble);
      await pause(1 + Math.random() * longest);
    }
  }

  async #noRoom(trouble: unknown): Promise<unknown> {
    const known = asCofferError(trouble);
    if (known !== undefined) {
      return unavailable(
        placed`${{ file: this.#layout.log }} is full, and cannot be emptied: ${known.texts.message}`,
        { cause: trouble, hint: known.texts.hint },
      );
    }
    if (trouble !== undefined) return trouble;
    const { heldByOther } = await import('../lock-holder.ts');
    return heldByOther(this.#layout.logLock, this.#waitMs);
  }

  /** Called after each session: begins with what keeps the next ones from waiting. */
  afterSession({ newest, files }: Log): void {
    this.#sessions++;
    if (newest === undefined || this.#isClosed) return;
    if (this.#idle !== undefined) this.#idle.refresh();
    else this.#idle = setTimeout(() => this.#begin(true), IDLE_MS).unref();
    if (this.#sessions < MANY_SESSIONS) return;
    if (files.length > 1) this.#begin(false);
    else if (newest.records > 0 && isHalfFull(newest.records, newest.end)) this.#prepare();
  }

  #begin(isIdle: boolean): void {
    this.#inBackground(async () => {
      // Loaded here because most commands end before.
      const { checkpoint } = await import('./checkpoint.ts');
      const { PutThread: Thread } = await import('./put-blobs.ts');
      if (this.#isClosed) return;
      this.#thread ??= new Thread();
      const thread = this.#thread;
      // A thread is worth its start only to a process that makes many changes.
      const options =
        this.#sessions < MANY_SESSIONS ? { isIdle } : { isIdle, put: (job: PutJob) => thread.run(job) };
      while ((await checkpoint(this.#layout.directory, options)) === 'done');
    });
  }

  #prepare(): void {
    this.#inBackground(() => makeSpare(this.#layout));
  }

  #inBackground(work: () => Promise<unknown>): void {
    if (this.#running !== undefined || this.#isClosed) return;
    // A failure is said to a writer that needs room.
    this.#running = work()
      .catch(() => undefined)
      .finally(() => {
        this.#running = undefined;
      });
  }

  close(): void {
    this.#isClosed = true;
    this.#thread?.close();
    clearTimeout(this.#idle);
    this.#idle = undefined;
  }
}
