import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { elapsedMs } from '../../../ground/clock.ts';
import { type CofferError, type Place, placed, unavailable } from '../../../ground/errors.ts';
import { pause } from '../../../ground/pause.ts';
import { missing, noStore, REPAIR, RESTORE } from '../../refusals.ts';
import {
  type Area,
  areas,
  type Backend,
  type Blob,
  type BlobRef,
  type Change,
  type ChooseGeneration,
  type ExclusiveOptions,
  type Flaw,
  type FollowedState,
  LOCK_WAIT_MS,
  type Mend,
  type StoreState,
  type Version,
  type WriteSession,
} from '../backend.ts';
import type { BackendOptions } from '../backend-kind.ts';
import { WentBack, type Witness } from '../witness.ts';
import { afterDecision, commitChanges, recover, type StoreDirectory } from './commit.ts';
import { diskError, errorCode } from './disk-errors.ts';
import { isThere, readBlobFile, readWhole, refuseForeign, syncDirectory } from './durable-files.ts';
import { FileLock } from './file-lock.ts';
import { deleteGeneration, deleteNeighbours, listGenerations, writeGeneration } from './generation-files.ts';
import { HEADER, Layout, parseBlobFileName, parseGeneration, STAGED } from './layout.ts';
import { DECIDED, StateDirectory, settled, unsettled } from './state-directory.ts';

/** Time within which most commits are done, in milliseconds. */
const PATIENCE_MS = 8;

/** Store in a directory of files, shared by any number of processes. Layout: docs/format.md. */
export class FilesBackend implements Backend {
  readonly place: Place;
  readonly headerPlace: Place;
  readonly #directory: StoreDirectory;
  readonly #lock: FileLock;
  /** Last generation whose directories were checked to be writable by us only. */
  #checkedGeneration = 0;
  /** Header of the opened store. */
  #header: Buffer | undefined;
  /** Base revision of a commit that has taken longer than `PATIENCE_MS`. */
  #waitedFor: number | undefined;

  constructor(directory: string, options: BackendOptions = {}) {
    const layout = new Layout(directory);
    this.place = { file: directory };
    this.headerPlace = { file: layout.header };
    this.#directory = { layout, state: new StateDirectory(directory) };
    this.#lock = new FileLock(layout.lock, options.lockWaitMs ?? LOCK_WAIT_MS);
  }

  get witness(): Witness {
    return this.#directory.state.witness;
  }

  locate(generation: number, ref: BlobRef): Place {
    return { file: this.#directory.layout.blob(generation, ref) };
  }

  async header(): Promise<Uint8Array> {
    const { layout, state } = this.#directory;
    refuseForeignDirectory(layout.directory, () => noStore(this.place, MAKE_OR_NAME));
    const bytes = readWhole(layout.header);
    if (bytes !== undefined) {
      this.#header ??= bytes;
      return bytes;
    }
    if (isThere(state.path) && listGenerations(layout).length > 0 && !isThere(layout.header + STAGED)) {
      throw missing(this.headerPlace, RESTORE);
    }
    throw noStore(this.place, MAKE_OR_NAME);
  }

  async state(): Promise<StoreState> {
    const state = await this.#read();
    this.#admit(state);
    this.#checkDirectories(state.generation);
    return state;
  }

  /**
   * Reads the state.
   * @throws `corrupt` only if there is a store: an inaccessible store is not damaged
   */
  async #read(): Promise<StoreState> {
    try {
      return this.#directory.state.read();
    } catch (error) {
      await this.header();
      throw error;
    }
  }

  async follow(): Promise<FollowedState> {
    const { followCommit } = await import('./unfinished.ts');
    return followCommit(this, this.#directory, () => this.#stateInAMoment());
  }

  /** Returns the state after waiting a moment, at most once per commit, for a commit in progress. */
  async #stateInAMoment(): Promise<StoreState> {
    const start = elapsedMs();
    for (;;) {
      const state = await this.state();
      if (state.settled || state.revision === this.#waitedFor) return state;
      if (elapsedMs() - start > PATIENCE_MS) this.#waitedFor = state.revision;
      else await pause(1);
    }
  }

  async read(generation: number, ref: BlobRef): Promise<Uint8Array | undefined> {
    return readBlobFile(this.#directory.layout.blob(generation, ref));
  }

  async has(generation: number, ref: BlobRef): Promise<boolean> {
    return isThere(this.#directory.layout.blob(generation, ref));
  }

  async names(generation: number, area: Area): Promise<string[]> {
    const path = this.#directory.layout.area(generation, area);
    try {
      return readdirSync(path)
        .map((fileName) => parseBlobFileName(area, fileName))
        .filter((name) => name !== undefined);
    } catch (error) {
      throw diskError(error, 'read', path);
    }
  }

  async strays(): Promise<Place[]> {
    return findStrays(this.#directory).map((file) => ({ file }));
  }

  async flaws(): Promise<readonly Flaw[]> {
    const { flawsOf } = await import('./repair-files.ts');
    return flawsOf(this.#directory);
  }

  async repair(choose: ChooseGeneration): Promise<readonly Mend[]> {
    const { repairFiles } = await import('./repair-files.ts');
    const mended = await repairFiles(this.#directory, this.#lock, choose);
    // Acquiring the write lock finishes decided commits.
    await this.exclusive(async () => undefined);
    return mended;
  }

  async exclusive<T>(
    work: (session: WriteSession) => Promise<T>,
    { waitMs }: ExclusiveOptions = {},
  ): Promise<T> {
    return this.#lock.hold(
      async () => work(new FilesSession(this.#directory, await this.#prepare())),
      waitMs,
    );
  }

  close(): void {
    this.#lock.close();
  }

  /** Brings the store to a settled state, whatever the last session left behind. */
  async #prepare(): Promise<Version> {
    const { layout, state } = this.#directory;
    const { state: found, others } = state.list();
    let present = found ?? (await this.#replaceMissingState(others));
    this.#admit(present);
    if (!present.settled) {
      present = settled(await recover(this.#directory, present));
      state.discard(state.list().others);
    } else if (others.length > 0) {
      // A commit directory next to a settled state was not decided, or is already applied.
      state.discard(others);
      await syncDirectory(state.path);
    }
    await deleteNeighbours(layout, state.path, present.generation);
    return { generation: present.generation, revision: present.revision };
  }

  async #replaceMissingState(others: readonly string[]): Promise<StoreState> {
    const { layout, state } = this.#directory;
    const [generation, ...more] = listGenerations(layout);
    if (generation === undefined || more.length > 0 || others.length > 0) {
      throw state.missing(REPAIR);
    }
    const replacement = unsettled({ generation, revision: state.unusedRevision() });
    const { seen } = state.witness;
    if (seen !== undefined) state.witness.check({ ...seen, ...replacement });
    await state.create(replacement);
    return replacement;
  }

  /**
   * Checks a state against the last-seen revision.
   * @throws WentBack if it is older; another error if it is not even the same store
   */
  #admit(present: StoreState): void {
    const { layout, state } = this.#directory;
    try {
      state.admit(present);
    } catch (error) {
      const isOther = this.#header !== undefined && readWhole(layout.header)?.equals(this.#header) !== true;
      if (!(error instanceof WentBack) || !isOther) throw error;
      throw unavailable(placed`the store in ${this.place} was replaced by another store`, {
        hint: 'put the old store back, or restart the processes that use it',
      });
    }
  }

  #checkDirectories(generation: number): void {
    if (this.#checkedGeneration === generation) return;
    const { layout, state } = this.#directory;
    const directories = [layout.directory, state.path, layout.generation(generation)];
    directories.push(...areas.map((area) => layout.area(generation, area)));
    for (const file of directories) {
      refuseForeignDirectory(file, () => missing({ file }, RESTORE));
    }
    this.#checkedGeneration = generation;
  }
}

class FilesSession implements WriteSession {
  readonly #directory: StoreDirectory;
  version: Version;

  constructor(directory: StoreDirectory, version: Version) {
    this.#directory = directory;
    this.version = version;
  }

  async commit(changes: readonly Change[]): Promise<Version> {
    if (changes.length > 0) this.version = await commitChanges(this.#directory, this.version, changes);
    return this.version;
  }

  async replaceGeneration(blobs: AsyncIterable<Blob>): Promise<Version> {
    const { layout, state } = this.#directory;
    const from = this.version;
    const next: Version = { generation: from.generation + 1, revision: from.revision + 1 };
    await writeGeneration(layout, next.generation, blobs);
    state.change(settled(from), settled(next));
    this.version = next;
    return afterDecision('the store was re-encrypted with a new root key', async () => {
      await syncDirectory(state.path);
      await deleteGeneration(layout, from.generation);
      await syncDirectory(layout.directory);
      return next;
    });
  }

  async raise(revision: number): Promise<void> {
    const { state } = this.#directory;
    const next: Version = { ...this.version, revision };
    state.change(settled(this.version), settled(next));
    this.version = await afterDecision('the state is accepted', async () => {
      await syncDirectory(state.path);
      return next;
    });
  }
}

const MAKE_OR_NAME = 'run "coffer init" to create one, or use --store or COFFER_STORE';

function refuseForeignDirectory(path: string, whenMissing: () => CofferError): void {
  try {
    const stats = statSync(path);
    if (!stats.isDirectory()) throw noStore({ file: path }, 'it is a file: use the directory of the store');
    refuseForeign(path, stats);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') throw whenMissing();
    throw diskError(error, 'read', path);
  }
}

const OWN_NAMES = new Set([HEADER, 'lock', 'state']);

/**
 * Finds paths in a store directory that do not belong to the store. Files of a current or killed writer are not
 * reported: the next writer removes them.
 */
function findStrays({ layout, state }: StoreDirectory): string[] {
  const { state: present, others } = state.list();
  const strays = others
    .filter((name) => name !== DECIDED && !name.endsWith(STAGED))
    .map((name) => join(state.path, name));
  const known = (name: string): boolean => OWN_NAMES.has(name) || isNear(name, present?.generation);
  strays.push(...unknownIn(layout.directory, known));
  if (present === undefined) return strays;
  const generation = layout.generation(present.generation);
  strays.push(...unknownIn(generation, (name) => areas.some((area) => area === name)));
  for (const area of areas) {
    const directory = layout.area(present.generation, area);
    strays.push(...unknownIn(directory, (name) => parseBlobFileName(area, name) !== undefined));
  }
  return strays;
}

/** Whether a name is the directory of the current generation, or of one that a rekey is creating or deleting. */
function isNear(name: string, present: number | undefined): boolean {
  const generation = parseGeneration(name);
  return generation !== undefined && present !== undefined && Math.abs(generation - present) <= 1;
}

function unknownIn(directory: string, isKnown: (name: string) => boolean): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => !isKnown(name))
      .map((name) => join(directory, name));
  } catch (error) {
    throw diskError(error, 'read', directory);
  }
}
