import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { type CofferError, unavailable } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import type { Sighting } from '../store/backends/witness.ts';
import { type Job, readFrames, writeFrame } from './frames.ts';
import type { Worker } from './lanes.ts';
import { type Calls, portOf, Rpc, remote } from './rpc.ts';
import { printKeys, type SentUnsealKey, type UnsealKey } from './unseal-keys.ts';

/** What a process that works on large requests is told at its start. */
export interface LaneStart {
  /** Of the service, as plain JSON. */
  readonly settings: object;
  readonly keys: readonly SentUnsealKey[];
  readonly seen?: Sighting | undefined;
}

/** What the server asks of it. */
export interface LaneProcess {
  /** Resolves once it takes jobs from its pipe. */
  workOnJobs(start: LaneStart): Promise<void>;
}

export const LANE_CALLS: Calls<LaneProcess> = { workOnJobs: true };

/** The fifth descriptor of the process, after the standard streams and Node's own channel. */
export const LANE_PIPE = 4;

/**
 * A process that works on one job at a time, so that what it takes, and what it may break, is nobody else's.
 * @param command what follows Node itself on the command line of a process that calls `serveAsWorker`.
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
      waiting?.reject(ended());
      resolve();
    });
  });
  // What keeps it from being told or ended is that it has ended.
  child.on('error', () => undefined);
  pipe.on('error', () => undefined);
  readFrames(pipe, (job) => waiting?.resolve(job));
  const ready = remote<LaneProcess>(rpc, LANE_CALLS).workOnJobs({ ...start, keys: printKeys(keys) });
  // Whoever brings the first job learns of it.
  ready.catch(() => undefined);
  return {
    gone,
    async work(job) {
      await ready;
      if (isOver) throw ended();
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

/** Undefined when the machine has no room for a further process: then the server must live on. */
function started(command: readonly string[]): ChildProcess | undefined {
  try {
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'] });
    if (child.pid !== undefined) return child;
    // Some reasons are raised later, and by nothing but an event that nobody may leave alone.
    child.once('error', () => undefined);
  } catch {
    // Others at once.
  }
  return undefined;
}

const stillborn = (): Worker => ({
  gone: Promise.resolve(),
  async work() {
    throw unavailable(ownWords('no process can be started to work on large requests'));
  },
  close: async () => undefined,
});

const ended = (): CofferError => unavailable(ownWords('the process that works on large requests ended'));
