import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { type CofferError, unavailable } from '../ground/errors.ts';
import { type Job, readFrames, writeFrame } from './frames.ts';
import { type Calls, portOf, Rpc, remote } from './rpc.ts';
import { forget, printKeys, type SentUnsealKey, type UnsealKey } from './unseal-keys.ts';

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

/** The head of a frame in either direction; bodies travel beside it. */
export interface NumberedHead {
  readonly number: number;
  readonly head: object;
}

/** The fifth descriptor of the process, after the standard streams and Node's own channel. */
export const LANE_PIPE = 4;
const IDLE_MS = 60_000;

interface Running {
  readonly child: ChildProcess;
  readonly pipe: Duplex;
  readonly waiting: Map<number, PromiseWithResolvers<Job>>;
}

/**
 * Takes large requests to a process of their own, so that parsing and computing them never holds up the others.
 * The process starts with the first such request and ends when none has come for a minute.
 */
export class Lane {
  readonly #command: readonly string[];
  readonly #settings: object;
  readonly #keys: readonly UnsealKey[];
  #running: Promise<Running> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #count = 0;

  /** @param command what follows Node itself on the command line of a process that calls `serveAsWorker`. */
  constructor(command: readonly string[], settings: object, keys: readonly UnsealKey[]) {
    this.#command = command;
    this.#settings = settings;
    this.#keys = keys;
  }

  /** @throws `unavailable` when the process ends before it has answered. */
  async work({ head, body }: Job): Promise<Job> {
    clearTimeout(this.#idle);
    this.#running ??= this.#start();
    const { pipe, waiting } = await this.#running;
    const number = ++this.#count;
    const answered = Promise.withResolvers<Job>();
    waiting.set(number, answered);
    const numbered: NumberedHead = { number, head };
    writeFrame(pipe, { head: numbered, body });
    try {
      return await answered.promise;
    } finally {
      if (waiting.size === 0) this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
    }
  }

  /** Ends the process; requests that it has not answered fail. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const running = await this.#running?.catch(() => undefined);
    this.#running = undefined;
    if (running !== undefined) await end(running.child);
  }

  /** Closes for good, and overwrites the keys that a further process would have been given. */
  async seal(): Promise<void> {
    await this.close();
    forget(this.#keys);
  }

  async #start(): Promise<Running> {
    const child = spawn(process.execPath, this.#command, {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
    });
    const pipe = child.stdio[LANE_PIPE] as Duplex;
    const running: Running = { child, pipe, waiting: new Map() };
    const rpc = new Rpc(portOf(child), {});
    child.once('close', () => {
      rpc.close();
      this.#ended(running);
    });
    child.once('error', () => rpc.close());
    pipe.on('error', () => undefined);
    readFrames(pipe, (frame) => settle(running, frame));
    const start: LaneStart = { settings: this.#settings, keys: printKeys(this.#keys) };
    try {
      await remote<LaneProcess>(rpc, LANE_CALLS).workOnJobs(start);
    } catch (error) {
      this.#running = undefined;
      child.kill('SIGKILL');
      throw error;
    }
    return running;
  }

  #ended({ waiting }: Running): void {
    this.#running = undefined;
    for (const answered of waiting.values()) answered.reject(ended());
  }
}

/** When it resolves, nothing is left of the process and its memory. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

function settle({ waiting }: Running, { head: numbered, body }: Job): void {
  const { number, head } = numbered as NumberedHead;
  const answered = waiting.get(number);
  waiting.delete(number);
  answered?.resolve({ head, body });
}

const ended = (): CofferError => unavailable('the process that works on large requests ended');
