import { join } from 'node:path';
import { type Place, placed, unavailable } from '../../../ground/errors.ts';
import {
  type Area,
  areas,
  type Backend,
  type BlobRef,
  type ChooseGeneration,
  type Flaw,
  type FollowedState,
  type Mend,
  type StoreState,
  type Version,
  type WriteSession,
} from '../backend.ts';
import type { Witness } from '../witness.ts';
import { readJournal, type StoreDirectory, stagedName } from './commit.ts';
import { errorCode } from './disk-errors.ts';
import { isThere, readBlobFile, syncDirectory } from './durable-files.ts';
import type { Journal, JournalEntry } from './journal.ts';

/** Maximum number of attempts; each failed attempt means that another process has completed a commit. */
const ATTEMPTS = 1000;

/**
 * Reads a consistent state during or after an interrupted commit, without the write lock, writing or waiting. An
 * undecided commit has changed nothing. For a decided commit of several changes, the journal lists the new blobs and
 * where they are until they are moved into place. A commit of a single change is either done or not; this cannot be
 * distinguished, and either state is valid. The returned state is on disk first: nothing may be built on data that a
 * power cut would take back.
 * @see docs/decisions/0120
 */
export async function followCommit(
  backend: Backend,
  directory: StoreDirectory,
  look: () => Promise<StoreState>,
): Promise<FollowedState> {
  const { layout, state } = directory;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await look();
    if (found.settled) return { state: found, view: backend };
    // In this order: a commit goes from prepared to decided, never back.
    const isUndecided = isThere(state.preparing);
    let journal: Journal | undefined;
    try {
      journal = isUndecided ? undefined : readJournal(directory, found);
    } catch (error) {
      // The journal belongs to a later commit if this one has been finished in the meantime.
      if (!isThere(state.file(found))) continue;
      throw error;
    }
    const isApplied = journal === undefined && isThere(state.decided);
    if (!isThere(state.file(found))) continue;
    if (isUndecided) return { state: { ...found, settled: true }, view: backend };
    const next: StoreState = {
      ...found,
      revision: found.revision + 1,
      settled: journal !== undefined || isApplied,
    };
    if (journal !== undefined) await makeDurable(state.path);
    if (!next.settled) {
      const changed = areas.map((area) => layout.area(found.generation, area));
      // Sync the store directory last: a new store may not have its name on disk yet.
      for (const path of [...changed, state.path, layout.directory]) await makeDurable(path);
    }
    return {
      state: next,
      view: journal === undefined ? backend : new DecidedView(backend, directory, journal),
    };
  }
  throw unavailable(placed`cannot copy ${backend.place}: other processes keep writing to it`, {
    hint: 'try again',
  });
}

/** Flushes a directory to disk. Ignores read-only file systems: their contents are already durable. */
async function makeDurable(path: string): Promise<void> {
  try {
    await syncDirectory(path);
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    if (errorCode(cause) !== 'EROFS') throw error;
  }
}

/** View of a store as a decided commit will leave it, even while another process applies that commit. */
class DecidedView implements Backend {
  readonly place: Place;
  readonly headerPlace: Place;
  readonly witness: Witness;
  readonly #backend: Backend;
  readonly #directory: StoreDirectory;
  readonly #from: Version;
  readonly #entries: ReadonlyMap<string, JournalEntry>;

  constructor(backend: Backend, directory: StoreDirectory, { from, entries }: Journal) {
    this.place = backend.place;
    this.headerPlace = backend.headerPlace;
    this.witness = backend.witness;
    this.#backend = backend;
    this.#directory = directory;
    this.#from = from;
    this.#entries = new Map(entries.map((entry) => [stagedName(entry.ref), entry]));
  }

  locate(generation: number, ref: BlobRef): Place {
    return this.#backend.locate(generation, ref);
  }

  header(): Promise<Uint8Array> {
    return this.#backend.header();
  }

  state(): Promise<StoreState> {
    return this.#backend.state();
  }

  async read(generation: number, ref: BlobRef): Promise<Uint8Array | undefined> {
    const entry = this.#entryOf(generation, ref);
    if (entry === undefined) return this.#backend.read(generation, ref);
    if (entry.sha256 === undefined) return undefined;
    // If it is no longer staged, it has been moved into place.
    const staged = await readBlobFile(join(this.#directory.state.decided, stagedName(ref)));
    return staged ?? this.#backend.read(generation, ref);
  }

  async has(generation: number, ref: BlobRef): Promise<boolean> {
    const entry = this.#entryOf(generation, ref);
    return entry === undefined ? this.#backend.has(generation, ref) : entry.sha256 !== undefined;
  }

  async names(generation: number, area: Area): Promise<string[]> {
    const names = new Set(await this.#backend.names(generation, area));
    for (const { ref, sha256 } of generation === this.#from.generation ? this.#entries.values() : []) {
      if (ref.area !== area) continue;
      if (sha256 === undefined) names.delete(ref.name);
      else names.add(ref.name);
    }
    return [...names];
  }

  strays(): Promise<Place[]> {
    return this.#backend.strays();
  }

  flaws(): Promise<readonly Flaw[]> {
    return this.#backend.flaws();
  }

  repair(choose: ChooseGeneration): Promise<readonly Mend[]> {
    return this.#backend.repair(choose);
  }

  exclusive<T>(work: (session: WriteSession) => Promise<T>): Promise<T> {
    return this.#backend.exclusive(work);
  }

  close(): void {
    this.#backend.close();
  }

  #entryOf(generation: number, ref: BlobRef): JournalEntry | undefined {
    return generation === this.#from.generation ? this.#entries.get(stagedName(ref)) : undefined;
  }
}
