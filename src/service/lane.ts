import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { unavailable } from '../ground/errors.ts';
import { type Job, readFrames, writeFrame } from './frames.ts';
import type { Lane } from './lanes.ts';
import { type Calls, portOf, Rpc, remote } from './rpc.ts';
import { printKeys, type SentUnsealKey, type UnsealKey } from './unseal-keys.ts';

/** What a process that works on large requests is told at its start. */
export interface LaneStart {
  /** Of the service, as plain JSON. */
  readonly settings: object;
  readonly keys: readonly SentUnsealKey[];
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
 * Starts a process that opens the same store and works on jobs. A thread would take the server along when it runs out of memory.
 * @param command what follows Node itself on the command line of a process that calls `serveAsWorker`.
 * @see docs/decisions/0062
 */
export function openLane(command: readonly string[], settings: object, keys: readonly UnsealKey[]): Lane {
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
  });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  child.once('close', () => resolve());
  child.on('error', () => {
    if (child.pid === undefined) resolve();
  });
  // There is none when the process could not be started.
  const pipe = child.stdio?.[LANE_PIPE] as Duplex | undefined;
  // Whatever goes wrong with it, the process ends as well.
  pipe?.on('error', () => undefined);
  const rpc = new Rpc(portOf(child), {});
  let answered: PromiseWithResolvers<Job> | undefined;
  let isOver = false;
  void ended.then(() => {
    isOver = true;
    rpc.close();
    answered?.reject(gone());
  });
  if (pipe !== undefined) readFrames(pipe, (job) => answered?.resolve(job));
  return {
    ready: remote<LaneProcess>(rpc, LANE_CALLS).workOnJobs({ settings, keys: printKeys(keys) }),
    ended,
    async work(job) {
      if (isOver || pipe === undefined) throw gone();
      answered = Promise.withResolvers();
      writeFrame(pipe, job);
      return answered.promise;
    },
    end() {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

const gone = () => unavailable('the process that works on large requests ended');
