import type { Worker } from 'node:worker_threads';

/*
 * Ends the process of an agent when its time is up and its event loop does not do so. The loop may be busy with one thing, or wait in a call of
 * the system; this is a thread of its own, which does nothing but wait, and has the system kill the whole process.
 * @see docs/decisions/0280
 */

/** An end on both clocks. */
export interface Deadline {
  /** Milliseconds since 1970. */
  readonly wall: number;
  /** Milliseconds from now, by the clock that nobody sets. */
  readonly leftMs: number;
}

/** So much later than the end, for an agent that ends by itself forgets its keys first, and gives those who wait their answers. */
const GRACE_MS = 1500;
/** So often the clock of the wall is looked at: it goes on while the machine sleeps, and waiting does not. */
const LOOK_EVERY_MS = 1000;
const NS_PER_MS = 1_000_000n;
/** Where the two ends stand: of the wall in milliseconds, of the other clock in nanoseconds. */
const [WALL, STEADY] = [0, 1] as const;
/** Of three such numbers the last one never changes: it is what the thread waits at. */
const BYTES = 3 * BigInt64Array.BYTES_PER_ELEMENT;

/** By text, for a single executable has no file that a thread could be started with: it refers to nothing outside of itself. */
const THREAD = `
  const ends = new BigInt64Array(require('node:worker_threads').workerData);
  const quiet = new Int32Array(ends.buffer);
  for (;;) {
    const wall = Number(Atomics.load(ends, ${WALL})) - Date.now();
    const steady = Number((Atomics.load(ends, ${STEADY}) - process.hrtime.bigint()) / ${NS_PER_MS}n);
    const left = Math.min(wall, steady);
    if (left <= 0) process.kill(process.pid, 'SIGKILL');
    Atomics.wait(quiet, quiet.length - 1, 0, Math.min(Math.max(left, 1), ${LOOK_EVERY_MS}));
  }
`;

/** Kills this process some time after an end that can be put off. */
export class Watchdog {
  readonly #ends = new BigInt64Array(new SharedArrayBuffer(BYTES));
  #thread: Worker | undefined;

  /**
   * Sets the end, in place of the one before.
   * @throws what the system says that gives no thread.
   */
  set({ wall, leftMs }: Deadline): void {
    const steady = process.hrtime.bigint() + BigInt(Math.ceil(leftMs + GRACE_MS)) * NS_PER_MS;
    Atomics.store(this.#ends, WALL, BigInt(Math.ceil(wall + GRACE_MS)));
    Atomics.store(this.#ends, STEADY, steady);
    if (this.#thread !== undefined) return;
    const { Worker } = process.getBuiltinModule('node:worker_threads');
    this.#thread = new Worker(THREAD, { eval: true, workerData: this.#ends.buffer, env: {}, execArgv: [] });
    this.#thread.unref();
  }

  /** Kills nothing any more. */
  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }
}
