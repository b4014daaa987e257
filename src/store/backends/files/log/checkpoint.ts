
import { type Area, areas, LOCK_WAIT_MS, type Version } from '../../backend.ts';
import {
  deleteFile,
  inParallel,
  isThere,
  moveFile,
  readWhole,
  stageBlobFile,
  syncChanged,
  syncDirectory,
  writeDurably,
} from '../durable-files.ts';
import { FileLock } from '../file-lock.ts';
import { storeIdOf } from '../header-format.ts';
import { Layout, STAGED } from '../layout.ts';
import { StateDirectory } from '../state-directory.ts';
import { listLog, Log, withoutGap } from './log.ts';
import type { LogFile } from './log-file.ts';
import { makeFile } from './next-file.ts';
import { settle } from './settle.ts';

/** Files that are written at the same time. */
const PARALLEL = 3;

/** What a checkpoint did: a file is gone; there was nothing to do; or another process was in the way. */
export type Checkpointed = 'done' | 'nothing' | 'held';

export interface CheckpointOptions {
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
    const held = await lock.tryHold(() => new Checkpoint(layout).run(options));
    return held === undefined ? 'held' : held.value;
  } finally {
    lock.close();
  }
}

/** One checkpoint, by whoever holds the lock of the log. */
class Checkpoint {
  readonly #layout: Layout;
  readonly #state: StateDirectory;
  readonly #log: Log;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#state = new StateDirectory(layout.directory);
    this.#log = new Log(layout);
  }

  async run({ isIdle = false }: CheckpointOptions): Promise<Checkpointed> {
    const header = readWhole(this.#layout.header);
    const name = this.#state.read();
    if (header === undefined || name.kind !== 'log') return 'nothing';
    this.#log.storeId = storeIdOf(header);
    const numbers = listLog(this.#layout);
    const counting = withoutGap(numbers);
    if (counting.length < numbers.length) return this.#drop(numbers.filter((number) => !counting.includes(number)));
    if (!this.#log.follow(name.revision) || this.#log.contradiction(name) !== undefined) return 'nothing';
    const { newest, files } = this.#log;
    const [oldest] = files;
    if (oldest === undefined || newest === undefined) return 'nothing';
    if (oldest.head.generation < name.generation) {
      // The files of a generation that is gone: once the next one has a file, none of them counts.
      return newest.head.generation === name.generation ? this.#drop([oldest.number]) : 'nothing';
    }
    if (oldest === newest) {
      if (!isIdle || oldest.records === 0) return 'nothing';
      if (!(await this.#close(name))) return 'held';
    } else if (this.#log.above().some(({ file }) => file === oldest)) return 'nothing';
    return this.#empty(oldest, name);
  }

  /** Makes the next file, so that the newest one gets no more records. @returns false if a writer is at work */
  async #close(at: Version): Promise<boolean> {
    const lock = new FileLock(this.#layout.lock, LOCK_WAIT_MS);
    try {
      const held = await lock.tryHold(async () => {
        const directory = { layout: this.#layout, state: this.#state, log: this.#log };
        const name = this.#state.read();
        if (name.kind !== 'log' || name.generation !== at.generation) return false;
        const version = await settle(directory, name, () => undefined);
        const { newest, storeId } = this.#log;
        if (newest === undefined || this.#log.files.length > 1 || version.generation !== at.generation) return false;
        await makeFile(this.#layout, newest.number + 1, { generation: at.generation, base: version.revision, storeId });
        return true;
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
    const blobs = areas.flatMap((area) => [...file.names(area)].map(([name]) => ({ area, name })));
    let isGone = false;
    const put = async ({ area, name }: { readonly area: Area; readonly name: string }): Promise<void> => {
      isGone ||= this.#state.list().state?.generation !== generation;
      if (!isGone) await this.#put(file, generation, area, name);
    };
    try {
      await inParallel(blobs, put, PARALLEL);
      if (isGone) return 'nothing';
      for (const area of areas) await syncDirectory(this.#layout.area(generation, area));
    } catch (error) {
      // The directory was deleted by a rekey, which needs none of this.
      if (!isThere(this.#layout.generation(generation))) return 'nothing';
      throw error;
    }
    deleteFile(file.path);
    // If this fails, the next checkpoint syncs it before it relies on it.
    await syncChanged(this.#layout.log).catch(() => undefined);
    return 'done';
  }

  /**
   * Puts one blob into its place, or deletes it. Nothing is left out because it is there already: the sync of an
   * earlier attempt may have failed.
   */
  async #put(file: LogFile, generation: number, area: Area, name: string): Promise<void> {
    const path = this.#layout.blob(generation, { area, name });
    const found = file.find(area, name);
    if (found === undefined) throw new Error(`${file.path} disappeared during a checkpoint`);
    if (found.bytes !== undefined) {
      await stageBlobFile(path, path + STAGED, found.bytes);
      moveFile(path + STAGED, path);
      return;
    }
    if (!isThere(path)) await writeDurably(path, new Uint8Array(0));
    deleteFile(path);
  }
}
