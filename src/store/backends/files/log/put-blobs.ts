import type * as fileSystem from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { diskError } from '../disk-errors.ts';

/** Blobs to put into their places. Plain data, for another thread. */
export interface PutJob {
  /** Paths, and contents; an undefined one is deleted. */
  readonly blobs: readonly (readonly [path: string, bytes: Uint8Array | undefined])[];
  /** Directories to sync afterwards. */
  readonly directories: readonly string[];
  /** Directory of the state, and how its name begins for as long as the paths are those of the present generation. */
  readonly statePath: string;
  readonly prefix: string;
  readonly staged: string;
  readonly flags: number;
  readonly mode: number;
  readonly parallel: number;
}

/** Outcome; `gone` if another generation has taken the place of this one. */
type Outcome =
  | 'done'
  | 'gone'
  | { readonly code: string | undefined; readonly message: string; readonly path: string };

/** Functions of `node:fs` that are used. */
type Files = Pick<
  typeof fileSystem,
  'closeSync' | 'fsync' | 'openSync' | 'readdirSync' | 'renameSync' | 'statSync' | 'unlinkSync' | 'writeSync'
>;

/**
 * Puts blobs into their places, durably. Nothing is left out because it is there already, and a deletion that finds
 * nothing makes a file first: the sync of an earlier attempt may have failed.
 *
 * Its source text runs in another thread as well, so it uses only its parameters.
 */
export async function putBlobs(fs: Files, job: PutJob): Promise<Outcome> {
  const sync = (fd: number): Promise<void> =>
    new Promise((resolve, reject) => {
      fs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
    });
  const syncPath = async (path: string): Promise<void> => {
    const fd = fs.openSync(path, 'r');
    try {
      await sync(fd);
    } finally {
      fs.closeSync(fd);
    }
  };
  const write = async (path: string, bytes: Uint8Array): Promise<void> => {
    const fd = fs.openSync(path, job.flags, job.mode);
    try {
      for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done);
      await sync(fd);
    } finally {
      fs.closeSync(fd);
    }
  };
  const put = async (path: string, bytes: Uint8Array | undefined): Promise<void> => {
    if (bytes !== undefined) {
      await write(path + job.staged, bytes);
      fs.renameSync(path + job.staged, path);
      return;
    }
    if (fs.statSync(path, { throwIfNoEntry: false }) === undefined) await write(path, new Uint8Array(0));
    fs.unlinkSync(path);
  };
  let next = 0;
  let outcome: Outcome = 'done';
  const work = async (): Promise<void> => {
    for (let item = job.blobs[next++]; item !== undefined && outcome === 'done'; item = job.blobs[next++]) {
      const [path, bytes] = item;
      try {
        if (!fs.readdirSync(job.statePath).some((name) => name.startsWith(job.prefix))) outcome = 'gone';
        else await put(path, bytes);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        outcome = { code, message, path };
      }
    }
  };
  await Promise.all(Array.from({ length: job.parallel }, work));
  for (const path of outcome === 'done' ? job.directories : []) {
    try {
      await syncPath(path);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      outcome = { code, message, path };
    }
  }
  return outcome;
}

/**
 * Returns whether everything is in its place; false if the generation is gone.
 * @throws `unavailable` if the disk fails
 */
export function judge(outcome: Outcome): boolean {
  if (typeof outcome === 'string') return outcome === 'done';
  const { code, message, path } = outcome;
  throw diskError(Object.assign(new Error(message), { code }), 'write', path);
}

/** Source text of the thread, because a single executable has no file to start one from. */
const threadText = (): string => `
  const { parentPort } = require('node:worker_threads');
  const putBlobs = ${putBlobs};
  parentPort.on('message', async (job) => parentPort.postMessage(await putBlobs(require('node:fs'), job)));
`;

/** A thread of its own for the blobs of a server: opening and renaming thousands of files would hold up its answers. */
export class PutThread {
  #thread: Worker | undefined;

  /**
   * Runs a job; one at a time.
   * @throws Error if the thread ends by itself
   */
  async run(job: PutJob): Promise<Outcome> {
    const thread = this.#started();
    thread.ref();
    try {
      return await new Promise<Outcome>((resolve, reject) => {
        const ended = (): void => reject(new Error('the thread that writes documents ended'));
        thread.once('message', (outcome: Outcome) => {
          thread.off('exit', ended);
          thread.off('error', reject);
          resolve(outcome);
        });
        thread.once('error', reject);
        thread.once('exit', ended);
        thread.postMessage(job);
      });
    } catch (error) {
      this.#thread = undefined;
      throw error;
    } finally {
      thread.unref();
    }
  }

  #started(): Worker {
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads');
    this.#thread ??= new Thread(threadText(), { eval: true, env: {}, execArgv: [] });
    return this.#thread;
  }

  close(): void {
    void this.#thread?.terminate();
    this.#thread = undefined;
  }
}
