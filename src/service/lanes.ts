import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { attempt, type CofferError, ownWords, unavailable } from '../ground/errors.ts';
import type { Sighting } from '../store/backends/witness.ts';
import { type CallNames, type Job, portOf, Rpc, readFrames, remote, writeFrame } from './rpc.ts';
import { printKeys, type SentUnsealKey, type UnsealKey } from './unseal-keys.ts';

/**
 * Worker pool for large requests: a few processes besides those that answer requests, shared fairly, so that a large
 * request of one caller delays others only by its share.
 */

/** Worker process. It works on one job at a time. */
export interface Worker {
  /** Resolves when the process and its memory are gone, for any reason. */
  readonly gone: Promise<void>;
  /**
   * Runs a job.
   * @throws `unavailable` if the process exits before it has answered
   */
  work(job: Job): Promise<Job>;
  /** Kills it. Resolves like `gone`. */
  close(): Promise<void>;
}

/** Maximum number of concurrent jobs, in total and of one caller, who never occupies all processes. */
const LANES = 2;
const LANES_OF_ONE = LANES - 1;
/** Maximum total size of bodies in bytes, of all callers and of one caller. */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_BYTES_OF_ONE = MAX_BYTES / 4;
/**
 * Bounds of a body's size in this calculation: a short body counts more, to limit the number of requests, and a long
 * one at most as much as is accepted.
 */
const LEAST_BYTES = 64 * 1024;
const MOST_BYTES = MAX_BYTES_OF_ONE / 4;
/** Idle time after which a process is ended, in milliseconds. */
const IDLE_MS = 60_000;

/** Reserved space for one request, acquired before its body is read. */
export interface LaneReservation {
  /**
   * Runs a job.
   * @throws `unavailable` if the process exits before it has answered, or the place was left while the job was waiting
   */
  work(job: Job): Promise<Job>;
  /**
   * Releases the space. A waiting job is dropped, and the process of a running one is killed, because its caller is
   * gone and no longer accounts for it. Must be called in any case; further calls have no effect.
   */
  leave(): void;
}

interface WaitingJob {
  readonly job: Job;
  readonly done: PromiseWithResolvers<Job>;
  /** Process that works on it; undefined before and afterwards. */
  worker?: Worker | undefined;
}

/** Resources used by one caller. */
interface CallerShare {
  readonly caller: string;
  bytes: number;
  running: number;
  waiting: readonly WaitingJob[];
  /** Start of its wait for a turn: when one of its jobs last started, or its first one arrived. */
  since: number;
}

export class Lanes {
  readonly #start: () => Worker;
  readonly #workers = new Set<Worker>();
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #busy = new Set<Worker>();
  readonly #shares = new Map<string, CallerShare>();
  #bytes = 0;
  /** Event counter, for the order of turns. */
  #now = 0;
  #isClosed = false;

  /** @param start never throws: a process that cannot be started fails its first job */
  constructor(start: () => Worker) {
    this.#start = start;
  }

  /**
   * Reserves space.
   * @param caller caller to account it to, e.g. the accessor of a token
   * @param bytes maximum length of the body
   * @throws `unavailable` if the caller, or all callers together, have used up the space
   */
  enter(caller: string, bytes: number): LaneReservation {
    const share = this.#shares.get(caller) ?? { caller, bytes: 0, running: 0, waiting: [], since: 0 };
    const room = Math.min(Math.max(bytes, LEAST_BYTES), MOST_BYTES);
    // Half of the space that the others leave, so that there is always some left for new callers.
    const most = Math.min(MAX_BYTES_OF_ONE, (MAX_BYTES - this.#bytes + share.bytes) / 2);
    if (share.bytes + room > most) throw noRoom();
    this.#shares.set(caller, share);
    this.#take(share, room);
    let mine: WaitingJob | undefined;
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

  /** Uses new processes for later jobs; running jobs finish in the existing ones. */
  renew(): void {
    for (const worker of this.#idle.keys()) this.#end(worker);
    this.#workers.clear();
  }

  /** Ends the processes permanently; running and waiting jobs fail. */
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

  #take(share: CallerShare, bytes: number): void {
    share.bytes += bytes;
    this.#bytes += bytes;
  }

  /** Gives free processes to waiting callers, round robin; the jobs of each caller run in order. */
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

  #forget(share: CallerShare): void {
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

  /** Runs a job. Never throws: errors are passed to the job. */
  async #run(worker: Worker, waiting: WaitingJob): Promise<void> {
    const { job, done } = waiting;
    waiting.worker = worker;
    this.#busy.add(worker);
    try {
      done.resolve(await worker.work(job));
      if (this.#workers.has(worker)) {
        this.#idle.set(worker, setTimeout(() => this.#end(worker), IDLE_MS).unref());
      } else this.#end(worker);
    } catch (error) {
      // It has exited, or is in an unknown state.
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
    hint: 'send fewer at once, or retry in a moment',
  });

const ended = (): CofferError => unavailable(ownWords('the workers for large requests are shutting down'));

const dropped = (): CofferError => unavailable(ownWords('the client disconnected'));

/** Start parameters of a process that works on large requests. */
export interface LaneStart {
  /** Settings of the service, as plain JSON. */
  readonly settings: object;
  readonly keys: readonly SentUnsealKey[];
  readonly seen?: Sighting | undefined;
}

/** Calls that the server makes to the process. */
export interface LaneProcess {
  /** Resolves once it accepts jobs from its pipe. */
  workOnJobs(start: LaneStart): Promise<void>;
}

export const LANE_CALLS: CallNames<LaneProcess> = { workOnJobs: true };

/** Fifth descriptor of the process, after the standard streams and Node's own channel. */
export const LANE_PIPE = 4;

/**
 * Starts a process that works on one job at a time, so that its memory use and crashes affect no other job.
 * @param command command line, after Node itself, of a process that calls `serveAsWorker`
 * @see docs/decisions/0062
 */
export function startLane(
  command: readonly string[],
  { keys, ...start }: Omit<LaneStart, 'keys'> & { readonly keys: readonly UnsealKey[] },
): Worker {
  const child = started(command);
  if (child === undefined) return stillborn();
  const pipe = child.stdio[LANE_PIPE] as Duplex;
  const rpc = new Rpc(portOf(child), {});
  let waiting: PromiseWithResolvers<Job> | undefined;
  let isOver = false;
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => {
      isOver = true;
      rpc.close();
      waiting?.reject(exited());
      resolve();
    });
  });
  // Sending to it or killing it only fails if it has exited.
  child.on('error', () => undefined);
  pipe.on('error', () => undefined);
  readFrames(pipe, (job) => waiting?.resolve(job));
  const ready = remote<LaneProcess>(rpc, LANE_CALLS).workOnJobs({ ...start, keys: printKeys(keys) });
  // The first job reports the failure.
  ready.catch(() => undefined);
  return {
    gone,
    async work(job) {
      await ready;
      if (isOver) throw exited();
      waiting = Promise.withResolvers<Job>();
      writeFrame(pipe, job);
      return waiting.promise;
    },
    close() {
      child.kill('SIGKILL');
      return gone;
    },
  };
}

/** Starts the process; undefined if the system cannot start another one: the server itself must continue. */
function started(command: readonly string[]): ChildProcess | undefined {
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'];
  // Some errors are thrown at once.
  const child = attempt(() => spawn(process.execPath, command, { stdio }));
  if (child?.pid !== undefined) return child;
  // Others are raised later, as an event that must have a listener.
  child?.once('error', () => undefined);
  return undefined;
}

const stillborn = (): Worker => ({
  gone: Promise.resolve(),
  async work() {
    throw unavailable(ownWords('cannot start a worker for large requests'));
  },
  close: async () => undefined,
});

const exited = (): CofferError => unavailable(ownWords('the worker for large requests exited'));
