import type { Worker } from 'node:worker_threads';
import { patiently } from '../../../../ground/directories.ts';
import { type Outcome, type PutJob, putBlobs } from './put-blobs.ts';

/** Source text of the thread, because a single executable has no file to start one from. */
const threadText = (): string => `
  const { parentPort } = require('node:worker_threads');
  const tools = { fs: require('node:fs'), patiently: ${patiently} };
  const putBlobs = ${putBlobs};
  parentPort.on('message', async (job) => parentPort.postMessage(await putBlobs(tools, job)));
`;

/** A thread of its own for the blobs of a server: opening and renaming thousands of files would hold up its answers. */
export class PutThread {
  #thread: Worker | undefined;
  /** The job in progress. */
  #job:
    | { thread: Worker; resolve(outcome: Outcome | undefined): void; reject(error: unknown): void }
    | undefined;
  #isClosed = false;

  /**
   * Runs a job; one at a time.
   * @returns undefined if no thread can be started, or it ends by itself: then the job has to be done elsewhere
   * @throws Error if this was closed
   */
  async run(job: PutJob): Promise<Outcome | undefined> {
    if (this.#isClosed) throw new Error('the thread that writes documents is closed');
    try {
      this.#thread ??= this.#started();
    } catch {
      // There is no memory for it, or a limit to the number of threads.
      return undefined;
    }
    const thread = this.#thread;
    const { promise, resolve, reject } = Promise.withResolvers<Outcome | undefined>();
    this.#job = { thread, resolve, reject };
    thread.ref();
    thread.postMessage(job);
    try {
      return await promise;
    } finally {
      thread.unref();
      this.#job = undefined;
    }
  }

  #started(): Worker {
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads');
    const thread = new Thread(threadText(), { eval: true, env: {}, execArgv: [] });
    const ended = (error: unknown): void => {
      // It may end while it has nothing to do, too: then the next job starts another one.
      if (this.#thread === thread) this.#thread = undefined;
      if (this.#job?.thread !== thread) return;
      if (this.#isClosed) this.#job.reject(error);
      else this.#job.resolve(undefined);
    };
    thread.on('message', (outcome: Outcome) => this.#job?.resolve(outcome));
    thread.on('error', ended);
    thread.on('exit', () => ended(new Error('the thread that writes documents ended')));
    return thread;
  }

  /** Ends the thread until there is another job. */
  rest(): void {
    void this.#thread?.terminate();
    this.#thread = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.rest();
  }
}
