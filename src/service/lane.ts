import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { type CofferError, unavailable } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import type { Sighting } from '../store/backends/witness.ts';
import { type Job, readFrames, writeFrame } from './frames.ts';
import type { Worker } from './lanes.ts';
import { type CallNames, portOf, Rpc, remote } from './rpc.ts';
import { printKeys, type SentUnsealKey, type UnsealKey } from './unseal-keys.ts';

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
      waiting?.reject(ended());
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

/** Starts the process; undefined if the system cannot start another one: the server itself must continue. */
function started(command: readonly string[]): ChildProcess | undefined {
  try {
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'] });
    if (child.pid !== undefined) return child;
    // Some errors are raised later, as an event that must have a listener.
    child.once('error', () => undefined);
  } catch {
    // Others are thrown at once.
  }
  return undefined;
}

const stillborn = (): Worker => ({
  gone: Promise.resolve(),
  async work() {
    throw unavailable(ownWords('cannot start a worker for large requests'));
  },
  close: async () => undefined,
});

const ended = (): CofferError => unavailable(ownWords('the worker for large requests exited'));
