import { type CofferError, unavailable } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import type { Job } from './frames.ts';

/**
 * Where requests are worked on that may take long: a few processes beside those that answer, shared fairly, so that one
 * caller's large request makes another's wait for no more than its part.
 */

/** One process. It works on one job at a time. */
export interface Worker {
  /** Resolves when nothing is left of it and its memory, whoever ended it. */
  readonly gone: Promise<void>;
  /** @throws `unavailable` when it ends before it has answered. */
  work(job: Job): Promise<Job>;
  /** Ends it at once. Resolves as `gone`. */
  close(): Promise<void>;
}

/** So many work at a time, and one caller never holds all of them. */
const LANES = 2;
const LANES_OF_ONE = LANES - 1;
/** The bodies that may be taken in at a time, of all callers and of one of them. */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_BYTES_OF_ONE = MAX_BYTES / 4;
/** A short body counts as so much, so that there are not too many of those either; a longer one as no more than fits. */
const LEAST_BYTES = 64 * 1024;
const MOST_BYTES = MAX_BYTES_OF_ONE / 4;
/** A process that had nothing to do for so long ends. */
const IDLE_MS = 60_000;

/** Room for one request, taken before its body is read. */
export interface Place {
  /** @throws `unavailable` when the process ends before it has answered, or the place was left while the job was waiting. */
  work(job: Job): Promise<Job>;
  /**
   * Gives the room back. A job that is still waiting is dropped, and the process ends that works on one: nobody is there any
   * more to pay for it. To be called whatever happens; once is enough.
   */
  leave(): void;
}

interface Waiting {
  readonly job: Job;
  readonly done: PromiseWithResolvers<Job>;
  /** What works on it; undefined before and afterwards. */
  worker?: Worker | undefined;
}

/** What one caller has under way. */
interface Share {
  readonly caller: string;
  bytes: number;
  running: number;
  waiting: readonly Waiting[];
  /** Since when it has been waiting for its turn: since one of its jobs was begun last, or its first one came. */
  since: number;
}

export class Lanes {
  readonly #start: () => Worker;
  readonly #workers = new Set<Worker>();
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #busy = new Set<Worker>();
  readonly #shares = new Map<string, Share>();
  #bytes = 0;
  /** Counts what happens, for the order of turns. */
  #now = 0;
  #isClosed = false;

  /** @param start never throws: a process that can't be started is one that fails its first job. */
  constructor(start: () => Worker) {
    this.#start = start;
  }

  /**
   * @param caller whose share it is part of, e.g. the accessor of a token.
   * @param bytes how long the body may be.
   * @throws `unavailable` when the caller, or all of them, have taken all the room there is.
   */
  enter(caller: string, bytes: number): Place {
    const share = this.#shares.get(caller) ?? { caller, bytes: 0, running: 0, waiting: [], since: 0 };
    const room = Math.min(Math.max(bytes, LEAST_BYTES), MOST_BYTES);
    // Half of what the others leave, so that there is always some for whoever comes next.
    const most = Math.min(MAX_BYTES_OF_ONE, (MAX_BYTES - this.#bytes + share.bytes) / 2);
    if (share.bytes + room > most) throw noRoom();
    this.#shares.set(caller, share);
    this.#take(share, room);
    let mine: Waiting | undefined;
    let left = false;
    return {
      work: async (job) => {
        if (this.#isClosed) throw ended();
        if (left) throw dropped();
        if (share.waiting.length === 0) share.since = ++this.#now;
        mine = { job, done: Promise.withResolvers<Job>() };
        share.waiting = [...share.waiting, mine];
        this.#next();
        return mine.done.promise;
      },
      leave: () => {
        if (left) return;
        left = true;
        if (mine !== undefined && share.waiting.includes(mine)) {
          share.waiting = share.waiting.filter((waiting) => waiting !== mine);
          mine.done.reject(dropped());
        }
        const { worker } = mine ?? {};
        if (mine !== undefined && worker !== undefined) {
          mine.worker = undefined;
          mine.done.reject(dropped());
          this.#end(worker);
        }
        this.#take(share, -room);
        this.#forget(share);
      },
    };
  }

  /** Later jobs get fresh processes; what is under way ends in those that are there. */
  renew(): void {
    for (const worker of this.#idle.keys()) this.#end(worker);
    this.#workers.clear();
  }

  /** Ends the processes for good; what they have not answered fails, and so does what waits. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const share of this.#shares.values()) {
      for (const { done } of share.waiting) done.reject(ended());
      share.waiting = [];
    }
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    await Promise.all([...this.#busy, ...this.#workers].map((worker) => worker.close()));
    this.#workers.clear();
  }

  #take(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
  }

  /** Gives free lanes to those who wait: to one caller after the other, each one's in the order in which they came. */
  #next(): void {
    for (;;) {
      const [share] = [...this.#shares.values()]
        .filter(({ running, waiting }) => waiting.length > 0 && running < LANES_OF_ONE)
        .sort((a, b) => a.since - b.since);
      const [first, ...others] = share?.waiting ?? [];
      const worker = first && this.#free();
      if (share === undefined || first === undefined || worker === undefined) return;
      share.waiting = others;
      share.running += 1;
      share.since = ++this.#now;
      void this.#run(worker, first).then(() => {
        share.running -= 1;
        this.#forget(share);
        this.#next();
      });
    }
  }

  #forget(share: Share): void {
    if (share.bytes === 0 && share.running === 0) this.#shares.delete(share.caller);
  }

  #free(): Worker | undefined {
    const [idle] = this.#idle.keys();
    if (idle !== undefined) {
      clearTimeout(this.#idle.get(idle));
      this.#idle.delete(idle);
      return idle;
    }
    if (this.#workers.size >= LANES) return undefined;
    const started = this.#start();
    this.#workers.add(started);
    void started.gone.then(() => this.#drop(started));
    return started;
  }

  /** Never throws: what goes wrong is the job's. */
  async #run(worker: Worker, waiting: Waiting): Promise<void> {
    const { job, done } = waiting;
    waiting.worker = worker;
    this.#busy.add(worker);
    try {
      done.resolve(await worker.work(job));
      if (this.#workers.has(worker)) {
        this.#idle.set(worker, setTimeout(() => this.#end(worker), IDLE_MS).unref());
      } else this.#end(worker);
    } catch (error) {
      // It has ended, or nobody knows in what state it is.
      if (waiting.worker !== undefined) this.#end(worker);
      done.reject(error);
    } finally {
      waiting.worker = undefined;
      this.#busy.delete(worker);
    }
  }

  #end(worker: Worker): void {
    this.#drop(worker);
    void worker.close();
  }

  #drop(worker: Worker): void {
    clearTimeout(this.#idle.get(worker));
    this.#idle.delete(worker);
    this.#workers.delete(worker);
  }
}

const noRoom = (): CofferError =>
  unavailable(ownWords('too many large requests are waiting'), {
    hint: 'send fewer at a time, or try again in a moment',
  });

const ended = (): CofferError => unavailable(ownWords('the processes that work on large requests end'));

const dropped = (): CofferError => unavailable(ownWords('the caller has hung up'));
