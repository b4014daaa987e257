import {
  closeSync,
  fsync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { areas, type BlobRef, LOCK_WAIT_MS, type Version } from '../../backend.ts';
import { deleteFile, FILE_MODE, isThere, readWhole, syncChanged, WRITE } from '../durable-files.ts';
import { FileLock } from '../file-lock.ts';
import { storeIdOf } from '../header-format.ts';
import { Layout, STAGED } from '../layout.ts';
import { StateDirectory } from '../state-directory.ts';
import { Log, listLog, withoutGap } from './log.ts';
import type { LogFile } from './log-file.ts';
import { makeFile, markFirst } from './next-file.ts';
import { judge, type PutJob, putBlobs } from './put-blobs.ts';

/** Files that are written at the same time: one thread of Node's pool is left for the log. */
const PARALLEL = 3;

/** What a checkpoint did: a file is gone; there was nothing to do; or another process was in the way. */
type Checkpointed = 'done' | 'nothing' | 'held';

interface CheckpointOptions {
  /** Puts the blobs into their places; by default in this thread. */
  readonly put?: (job: PutJob) => ReturnType<typeof putBlobs>;
  /** Whether to empty the newest file as well, for a store that is not changed any more. */
  readonly isIdle?: boolean;
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
const putHere = (job: PutJob): ReturnType<typeof putBlobs> =>
  putBlobs({ closeSync, fsync, openSync, readdirSync, renameSync, statSync, unlinkSync, writeSync }, job);

/** One checkpoint, by whoever holds the lock of the log. */
class Checkpoint {
  readonly #layout: Layout;
  readonly #state: StateDirectory;
  readonly #log: Log;
  readonly #put: Required<CheckpointOptions>['put'];
  readonly #isIdle: boolean;

  constructor(layout: Layout, { put = putHere, isIdle = false }: CheckpointOptions) {
    this.#put = put;
    this.#isIdle = isIdle;
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
    if (!this.#log.follow(name.revision) || this.#log.contradiction(name) !== undefined) return 'nothing';
    // Only after the look at the others: if one of them is lost, these may be needed to repair the store.
    const unneeded = numbers.filter((number) => !withoutGap(numbers).includes(number));
    if (unneeded.length > 0) return this.#drop(unneeded);
    const { newest, files } = this.#log;
    const [oldest] = files;
    if (oldest === undefined || newest === undefined) return 'nothing';
    if (oldest.head.generation < name.generation) {
      // The files of a generation that is gone: once the next one has a file, none of them counts.
      return newest.head.generation === name.generation ? this.#drop([oldest.number]) : 'nothing';
    }
    if (oldest === newest) {
      if (!this.#isIdle || oldest.records === 0) return 'nothing';
      if (!(await this.#close(name))) return 'held';
    } else if (this.#log.above().some(({ file }) => file === oldest)) return 'nothing';
    return this.#empty(oldest, name);
  }

  /** Makes the next file, so that the newest one gets no more records. @returns false if a writer is at work */
  async #close(at: Version): Promise<boolean> {
    const lock = new FileLock(this.#layout.lock, LOCK_WAIT_MS);
    try {
      const held = await lock.tryHold(async () => {
        const name = this.#state.read();
        if (name.kind !== 'log' || name.generation !== at.generation) return false;
        if (!this.#log.follow(name.revision) || this.#log.contradiction(name) !== undefined) return false;
        // What is above the name is settled by those who look at the store: they know what it must not fall below.
        if (this.#log.above().length > 0 || this.#log.version?.revision !== name.revision) return false;
        const { newest, storeId } = this.#log;
        if (newest === undefined || this.#log.files.length > 1) return false;
        await makeFile(this.#layout, newest.number + 1, {
          isFirst: false,
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
    for (const number of numbers) deleteFile(this.#layout.logFile(number));
    await syncChanged(this.#layout.log).catch(() => undefined);
    return 'done';
  }

  /** Moves the content of a file that is followed by another one. */
  async #empty(file: LogFile, { generation }: Version): Promise<Checkpointed> {
    // The newer file must be on the disk before this one goes.
    await syncChanged(this.#layout.log);
    const job: PutJob = {
      blobs: areas.flatMap((area) =>
        [...file.names(area)].map(([name]) => this.#blobOf(file, { area, name })),
      ),
      directories: areas.map((area) => this.#layout.area(generation, area)),
      statePath: this.#state.path,
      prefix: `log-${generation}-`,
      staged: STAGED,
      flags: WRITE,
      mode: FILE_MODE,
      parallel: PARALLEL,
    };
    try {
      if (!judge(await this.#put(job))) return 'nothing';
    } catch (error) {
      // The directory was deleted by a rekey, which needs none of this.
      if (!isThere(this.#layout.generation(generation))) return 'nothing';
      throw error;
    }
    const next = this.#log.files[this.#log.files.indexOf(file) + 1];
    if (next === undefined) return 'nothing';
    await markFirst(next);
    deleteFile(file.path);
    // If this fails, the next checkpoint syncs it before it relies on it.
    await syncChanged(this.#layout.log).catch(() => undefined);
    return 'done';
  }

  #blobOf(file: LogFile, ref: BlobRef): readonly [path: string, bytes: Uint8Array | undefined] {
    const found = file.find(ref.area, ref.name);
    if (found === undefined) throw new Error(`${file.path} disappeared during a checkpoint`);
    return [this.#layout.blob(file.head.generation, ref), found.bytes];
  }
}
