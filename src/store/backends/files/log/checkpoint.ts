import {
  closeSync,
  fsync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { patiently } from '../../../../ground/directories.ts';
import { areas, LOCK_WAIT_MS, type Version } from '../../backend.ts';
import { deleteFile, FILE_MODE, isThere, readWhole, syncChanged, WRITE } from '../durable-files.ts';
import { FileLock } from '../file-lock.ts';
import { storeIdOf } from '../header-format.ts';
import { Layout, STAGED } from '../layout.ts';
import { StateDirectory } from '../state-directory.ts';
import { Log, listLog, withoutGap } from './log.ts';
import type { LogFile } from './log-file.ts';
import { makeFile, markFirst } from './next-file.ts';
import { judge, type Outcome, type PutJob, putBlobs } from './put-blobs.ts';

/** Syncs at the same time: one thread of Node's pool is left for the log. */
const PARALLEL = 3;
/** Blobs that are written before the first of them is synced. */
const TOGETHER = 50;
/** Times to list the state until a name counts as missing. */
const LOOKS = 20;

/** What a checkpoint did: a file is gone; there was nothing to do; or another process was in the way. */
export type Checkpointed = 'done' | 'nothing' | 'held';

interface CheckpointOptions {
  /** Puts the blobs into their places, or returns undefined; then, and by default, that is done in this thread. */
  readonly put?: ((job: PutJob) => Promise<Outcome | undefined>) | undefined;
  /** Whether to empty the newest file as well, for a store that is not changed any more. */
  readonly isIdle?: boolean;
  /** The log as this process has read it, so that it is not read again. */
  readonly known?: Log;
  /** Called now and then with the share of a file that is in the documents. */
  readonly progress?: (share: number) => void;
}

/**
 * Moves what the oldest file of the log says into the documents, and deletes that file. No key is needed, and no writer
 * has to wait. If it fails or is interrupted, the file is still there, and the next checkpoint does all of it again.
 * @throws `unavailable` if the disk fails
 * @see docs/decisions/0321
 */
export async function checkpoint(directory: string, options: CheckpointOptions = {}): Promise<Checkpointed> {
  const layout = new Layout(directory);
  if (!isThere(layout.log)) return 'nothing';
  const lock = new FileLock(layout.logLock, LOCK_WAIT_MS);
  try {
    const held = await lock.tryHold(() => new Checkpoint(layout, options).run());
    return held === undefined ? 'held' : held.value;
  } finally {
    lock.close();
  }
}

/** Puts blobs into their places in this thread. */
const putHere = (job: PutJob): Promise<Outcome> => {
  const fs = {
    closeSync,
    fsync,
    ftruncateSync,
    openSync,
    readdirSync,
    readSync,
    renameSync,
    statSync,
    unlinkSync,
    writeSync,
  };
  return putBlobs({ fs, patiently }, job);
};

/** One checkpoint, by whoever holds the lock of the log. */
class Checkpoint {
  readonly #layout: Layout;
  readonly #options: CheckpointOptions;
  readonly #state: StateDirectory;
  readonly #log: Log;

  constructor(layout: Layout, options: CheckpointOptions) {
    this.#options = options;
    this.#layout = layout;
    this.#state = new StateDirectory(layout.directory);
    this.#log = new Log(layout);
  }

  async run(): Promise<Checkpointed> {
    const header = readWhole(this.#layout.header);
    const name = this.#state.read();
    if (header === undefined || name.kind !== 'log') return 'nothing';
    this.#log.storeId = storeIdOf(header);
    const numbers = listLog(this.#layout);
    this.#log.history = this.#state.history;
    if (this.#options.known !== undefined) this.#log.adopt(this.#options.known);
    if (!this.#log.follow(name.revision)) return 'held';
    if ((this.#log.contradiction(name) ?? this.#log.damage()) !== undefined)
      return this.#state.read() === name ? 'nothing' : 'held';
    // Only after the look at the others: if one of them is lost, these may be needed to repair the store.
    const unneeded = numbers.filter((number) => !withoutGap(numbers).includes(number));
    if (unneeded.length > 0) return this.#drop(unneeded);
    const { newest, files } = this.#log;
    const [oldest] = files;
    if (oldest === undefined || newest === undefined) return 'nothing';
    if (oldest.head.generation < name.generation) {
      // The files of a generation that is gone: once the next one has a file, none of them counts.
      const isFollowed = newest.head.generation === name.generation;
      if (!isFollowed && !this.#options.isIdle) return 'nothing';
      return isFollowed || (await this.#close(name)) ? this.#drop([oldest.number]) : 'held';
    }
    if (oldest === newest) {
      if (!this.#options.isIdle || oldest.records === 0) return 'nothing';
      if (!(await this.#close(name))) return 'held';
    } else if (this.#log.above().some(({ file }) => file === oldest)) return 'held';
    return this.#empty(oldest, name);
  }

  /** Makes the next file, so that the newest one gets no more records. @returns false if a writer is at work */
  async #close(at: Version): Promise<boolean> {
    const lock = new FileLock(this.#layout.lock, LOCK_WAIT_MS);
    const last = this.#log.newest?.number;
    try {
      const held = await lock.tryHold(async () => {
        const name = this.#state.read();
        if (name.kind !== 'log' || name.generation !== at.generation) return false;
        if (!this.#log.follow(name.revision) || this.#log.contradiction(name) !== undefined) return false;
        // What is above the name is settled by those who look at the store: they know what it must not fall below.
        if (this.#log.above().length > 0 || this.#log.version?.revision !== name.revision) return false;
        const { newest, storeId } = this.#log;
        if (newest === undefined || newest.number !== last) return false;
        await makeFile(this.#layout, newest.number + 1, {
          isFirst: newest.head.generation !== at.generation,
          generation: at.generation,
          base: name.revision,
          storeId,
        });
        return this.#log.follow(name.revision);
      });
      return held?.value === true;
    } finally {
      lock.close();
    }
  }

  /** Deletes files that count no more. */
  async #drop(numbers: readonly number[]): Promise<Checkpointed> {
    await syncChanged(this.#state.path);
    await syncChanged(this.#layout.log);
    for (const number of numbers) deleteFile(this.#layout.logFile(number));
    await syncChanged(this.#layout.log).catch(() => undefined);
    return 'done';
  }

  /** Moves the content of a file that is followed by another one. */
  async #empty(file: LogFile, { generation }: Version): Promise<Checkpointed> {
    const next = this.#log.files.find(({ number }) => number === file.number + 1);
    if (next === undefined) return 'nothing';
    // The newer file must be on the disk before anything says that this one is not needed.
    await syncChanged(this.#layout.log);
    try {
      if (!(await this.#putAll(file, generation))) return 'held';
    } catch (error) {
      // The directory was deleted by a rekey, which needs none of this.
      if (!isThere(this.#layout.generation(generation))) return 'held';
      throw error;
    }
    markFirst(this.#layout, next.number);
    await syncChanged(this.#layout.log);
    deleteFile(file.path);
    // If this fails, the next checkpoint syncs it before it relies on it.
    await syncChanged(this.#layout.log).catch(() => undefined);
    return 'done';
  }

  /** Puts the blobs of a file into their places, some at a time. @returns false if the generation is gone */
  async #putAll(file: LogFile, generation: number): Promise<boolean> {
    const put = async (some: PutJob) => (await this.#options.put?.(some)) ?? putHere(some);
    const blobs = areas.flatMap((area) => [...file.names(area)].map(([name]) => ({ area, name })));
    const job: PutJob = {
      source: file.path,
      blobs: [],
      directories: [],
      statePath: this.#state.path,
      prefix: `log-${generation}-`,
      looks: LOOKS,
      staged: STAGED,
      flags: WRITE,
      mode: FILE_MODE,
      parallel: PARALLEL,
      platform: process.platform,
    };
    this.#options.progress?.(0);
    for (let done = 0; done < blobs.length; done += TOGETHER) {
      const some = blobs
        .slice(done, done + TOGETHER)
        .map((ref) => [this.#layout.blob(generation, ref), file.placeOf(ref.area, ref.name)] as const);
      if (!judge(await put({ ...job, blobs: some }))) return false;
      this.#options.progress?.(Math.min(1, (done + TOGETHER) / blobs.length));
    }
    const directories = areas.map((area) => this.#layout.area(generation, area));
    return judge(await put({ ...job, directories }));
  }
}
