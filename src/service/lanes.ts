import { type CofferError, unavailable } from '../ground/errors.ts';
import type { Job } from './frames.ts';

/** Where large requests are worked on, one at a time, so that small ones don't wait. */
export interface Lane {
  /** Resolves once it can work. @throws what kept it from it. */
  readonly ready: Promise<void>;
  /** Resolves when nothing is left of it and its memory, whoever ended it. */
  readonly ended: Promise<void>;
  /** @throws `unavailable` when it ends before it has answered. */
  work(job: Job): Promise<Job>;
  /** Ends it at once. Resolves as `ended`. */
  end(): Promise<void>;
}

export interface LanesOptions {
  /** How many there are at most; one caller has all but one of them at most. From 2. */
  readonly count: number;
  /** Ends a lane that had nothing to do for so long. */
  readonly idleMs: number;
  /** Room for the bodies of all jobs that wait or are worked on. */
  readonly roomBytes: number;
}

const DEFAULTS: LanesOptions = { count: 2, idleMs: 60_000, roomBytes: 256 * 1024 * 1024 };
/** A job with a short body takes up as much, so that there are not too many of those either. */
const LEAST_BYTES = 64 * 1024;
/** As many of the longest bodies fit in; where longer ones are allowed, they count as these. */
const LONGEST_FIT = 8;

interface WaitingJob {
  readonly job: Job;
  readonly answered: PromiseWithResolvers<Job>;
}

interface Open {
  readonly lane: Lane;
  state: 'opening' | 'idle' | 'busy';
  /** It is to end once it has done what it is at. */
  isRetired: boolean;
  idle?: NodeJS.Timeout;
}

/**
 * Shares a few lanes among callers: each has its jobs done in their order, callers take turns, and none has all lanes,
 * so that nobody waits for another one's jobs but the first of them. Lanes are opened when there is work for them, and one that ends is
 * replaced. A caller is whoever shares one name; a token's accessor does.
 */
export class Lanes {
  readonly #openLane: () => Lane;
  readonly #options: LanesOptions;
  readonly #lanes = new Set<Open>();
  /** By caller, in the order of their turns. */
  readonly #waiting = new Map<string, WaitingJob[]>();
  /** How many lanes work for a caller. */
  readonly #working = new Map<string, number>();
  /** How much room a caller's jobs take up. */
  readonly #held = new Map<string, number>();
  #isClosed = false;

  /** @param openLane is called when one more is wanted; never after `close`. */
  constructor(openLane: () => Lane, options: Partial<LanesOptions> = {}) {
    this.#openLane = openLane;
    this.#options = { ...DEFAULTS, ...options };
  }

  /**
   * Takes room for a job, before its body is read. A caller may take half of what the others leave, so that there is some
   * for whoever comes next.
   * @param bytes of its body at most.
   * @throws `unavailable` when there is not enough room.
   */
  enter(caller: string, bytes: number): Ticket {
    const { roomBytes } = this.#options;
    const roomFor = (length: number): number =>
      Math.min(Math.max(length, LEAST_BYTES), roomBytes / LONGEST_FIT);
    const mine = this.#held.get(caller) ?? 0;
    const others = [...this.#held.values()].reduce((sum, held) => sum + held, -mine);
    if (mine + roomFor(bytes) > (roomBytes - others) / 2) throw full();
    let taken = 0;
    const take = (room: number): void => {
      this.#hold(caller, room - taken);
      taken = room;
    };
    take(roomFor(bytes));
    return {
      work: (job, signal) => {
        take(roomFor(bodyBytes(job)));
        return this.#work(caller, job, signal);
      },
      leave: () => take(0),
    };
  }

  /** Has no further job done by a lane that is open now. What is being worked on is finished. */
  async renew(): Promise<void> {
    const idle: Promise<void>[] = [];
    for (const open of this.#lanes) {
      open.isRetired = true;
      if (open.state === 'idle') idle.push(open.lane.end());
    }
    await Promise.all(idle);
  }

  /** Ends all lanes at once and for good; jobs that are not done fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#refuse(closed());
    await Promise.all([...this.#lanes].map(({ lane }) => lane.end()));
  }

  #hold(caller: string, bytes: number): void {
    const held = (this.#held.get(caller) ?? 0) + bytes;
    if (held === 0) this.#held.delete(caller);
    else this.#held.set(caller, held);
  }

  async #work(caller: string, job: Job, signal: AbortSignal | undefined): Promise<Job> {
    if (this.#isClosed) throw closed();
    if (signal?.aborted) throw hungUp();
    const waiting: WaitingJob = { job, answered: Promise.withResolvers() };
    const hangUp = (): void => this.#drop(caller, waiting);
    signal?.addEventListener('abort', hangUp);
    const jobs = this.#waiting.get(caller);
    if (jobs === undefined) this.#waiting.set(caller, [waiting]);
    else jobs.push(waiting);
    this.#proceed();
    try {
      return await waiting.answered.promise;
    } finally {
      signal?.removeEventListener('abort', hangUp);
    }
  }

  #drop(caller: string, gone: WaitingJob): void {
    const jobs = this.#waiting.get(caller);
    const at = jobs?.indexOf(gone) ?? -1;
    if (jobs === undefined || at === -1) return;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#waiting.delete(caller);
    gone.answered.reject(hungUp());
  }

  /** Gives jobs to idle lanes, and opens as many as there are jobs that one could work on. */
  #proceed(): void {
    for (const open of this.#lanes) {
      if (open.state !== 'idle' || open.isRetired) continue;
      const caller = this.#nextCaller();
      if (caller === undefined) return;
      void this.#do(open, caller, this.#take(caller));
    }
    let wanted = this.#workable() - this.#count('opening');
    while (wanted > 0 && this.#lanes.size < this.#options.count) {
      wanted -= 1;
      void this.#open();
    }
  }

  #nextCaller(): string | undefined {
    for (const caller of this.#waiting.keys()) if (this.#share(caller) > 0) return caller;
    return undefined;
  }

  /** How many lanes more may work for a caller. */
  #share(caller: string): number {
    return this.#options.count - 1 - (this.#working.get(caller) ?? 0);
  }

  /** How many of the jobs that wait could be worked on at once. */
  #workable(): number {
    let sum = 0;
    for (const [caller, jobs] of this.#waiting) sum += Math.min(jobs.length, this.#share(caller));
    return sum;
  }

  #count(state: Open['state']): number {
    return [...this.#lanes].filter((open) => open.state === state).length;
  }

  /** The first job of a caller, who then has the last turn. */
  #take(caller: string): WaitingJob {
    const jobs = this.#waiting.get(caller) ?? [];
    const first = jobs.shift();
    if (first === undefined) throw new Error('nobody waits without a job');
    this.#waiting.delete(caller);
    if (jobs.length > 0) this.#waiting.set(caller, jobs);
    return first;
  }

  async #do(open: Open, caller: string, { job, answered }: WaitingJob): Promise<void> {
    clearTimeout(open.idle);
    open.state = 'busy';
    this.#working.set(caller, (this.#working.get(caller) ?? 0) + 1);
    try {
      answered.resolve(await open.lane.work(job));
    } catch (error) {
      answered.reject(error);
      open.isRetired = true;
    }
    const working = (this.#working.get(caller) ?? 0) - 1;
    if (working > 0) this.#working.set(caller, working);
    else this.#working.delete(caller);
    this.#rest(open);
    this.#proceed();
  }

  #rest(open: Open): void {
    open.state = 'idle';
    if (open.isRetired) void open.lane.end();
    else open.idle = setTimeout(() => this.#retire(open), this.#options.idleMs).unref();
  }

  #retire(open: Open): void {
    open.isRetired = true;
    void open.lane.end();
  }

  async #open(): Promise<void> {
    const open: Open = { lane: this.#openLane(), state: 'opening', isRetired: false };
    this.#lanes.add(open);
    void open.lane.ended.then(() => {
      clearTimeout(open.idle);
      this.#lanes.delete(open);
      // What kept one from coming to work would keep the next one from it, too.
      if (open.state !== 'opening') this.#proceed();
    });
    try {
      await open.lane.ready;
    } catch (error) {
      await open.lane.end();
      // While others work, jobs wait for them.
      if (this.#lanes.size === 0) this.#refuse(error);
      return;
    }
    this.#rest(open);
    this.#proceed();
  }

  /** Nobody waits for lanes that can't be opened. */
  #refuse(error: unknown): void {
    const refused = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const { answered } of refused) answered.reject(error);
  }
}

/** Room for one job. */
export interface Ticket {
  /**
   * @param signal of a caller who hangs up: a job that still waits is dropped.
   * @throws `unavailable` when it was not done.
   */
  work(job: Job, signal?: AbortSignal): Promise<Job>;
  /** Gives the room back. */
  leave(): void;
}

const bodyBytes = ({ body }: Job): number => body.reduce((sum, chunk) => sum + chunk.length, 0);

const full = (): CofferError =>
  unavailable('too many large requests are waiting', {
    hint: 'send fewer at a time, or try again in a moment',
  });
const closed = (): CofferError => unavailable('the server stopped working on large requests');
const hungUp = (): CofferError => unavailable('the caller hung up');
