import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { type CofferError, corrupt, placed } from '../../../ground/errors.ts';
import { REPAIR } from '../../refusals.ts';
import type { StoreState, Version } from '../backend.ts';
import { type Sighting, Witness } from '../witness.ts';
import { diskError, errorCode } from './disk-errors.ts';
import { deleteTree, moveFile, writeDurably } from './durable-files.ts';
import { prefixOf, STAGED } from './layout.ts';

const STATE_FILE = /^(clean|dirty)-([1-9][0-9]{0,9})-(0|[1-9][0-9]{0,14})$/;
/** Name of the directory of a decided commit. */
export const DECIDED = 'commit';
/** Number of listing attempts: a listing taken while another process renames the state file may miss both names. */
const LISTING_ATTEMPTS = 20;

interface Listing {
  readonly state: StoreState | undefined;
  /** All other names in the directory. */
  readonly others: readonly string[];
}

/**
 * The directory `state`: one empty file whose *name* is the current state, `clean-<generation>-<revision>`, or
 * `dirty-…` while a commit is applied. So there is no content to be damaged, a change of state is one rename, and
 * checking for changes takes one look at a name. Staged files (`*.new`) and the directory of a decided commit are here
 * as well, so that one sync decides a commit.
 * @see docs/decisions/0005
 */
export class StateDirectory {
  readonly path: string;
  /** Path where a commit of several changes is prepared. */
  readonly preparing: string;
  /** Path that the preparation is renamed to when the commit is decided. */
  readonly decided: string;
  readonly #prefix: string;
  readonly witness: Witness;
  #known: StoreState | undefined;
  /**
   * State file, whose inode stays the same through all commits: a different one means a different copy of the store.
   */
  #file: Stats | undefined;
  #sighting: Sighting | undefined;

  constructor(storeDirectory: string) {
    this.witness = new Witness({ file: storeDirectory });
    this.path = join(storeDirectory, 'state');
    this.#prefix = prefixOf(this.path);
    this.decided = this.#prefix + DECIDED;
    this.preparing = this.decided + STAGED;
  }

  /**
   * Reads the current state.
   * @throws `corrupt` if there is none
   */
  read(): StoreState {
    const known = this.#known;
    if (known?.settled === true && isSame(this.#file, this.#look(known))) return known;
    for (let attempt = 0; attempt < LISTING_ATTEMPTS; attempt++) {
      const { state } = this.list();
      if (state === undefined) continue;
      const file = this.#look(state);
      // Renamed since it was listed.
      if (file === undefined) continue;
      this.#remember(state, file);
      return state;
    }
    throw this.missing(REPAIR);
  }

  /** Creates the error for a missing state file. */
  missing(hint: string): CofferError {
    return corrupt(placed`${{ file: this.path }} is damaged: the state file is missing`, { hint });
  }

  /**
   * Checks a state that was read or listed against what this process has seen before.
   * @throws WentBack if it is older
   */
  admit(present: StoreState): void {
    if (present !== this.#known) this.#remember(present, this.#look(present));
    if (this.#sighting !== undefined) this.witness.check(this.#sighting);
  }

  /**
   * Returns a revision above all revisions that this process has seen, and above all used ones if the clock is right.
   */
  unusedRevision(): number {
    // Revisions count commits, so the time in milliseconds is always larger.
    return Math.max(Date.now(), (this.witness.seen?.revision ?? -1) + 1);
  }

  list(): Listing {
    let names: string[];
    try {
      names = readdirSync(this.path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return { state: undefined, others: [] };
      throw diskError(error, 'read', this.path);
    }
    const states = names.map(parseStateName).filter((state) => state !== undefined);
    const state = states.sort(newestFirst)[0];
    const others = state === undefined ? names : names.filter((name) => name !== stateName(state));
    return { state, others };
  }

  /** Returns the path of the file that represents a state. */
  file(state: StoreState): string {
    return `${this.#prefix}${stateName(state)}`;
  }

  /** Changes the state to `to` in one step. The file stays the same, so it needs no look if it is known. */
  change(from: StoreState, to: StoreState): void {
    moveFile(this.file(from), this.file(to));
    this.witness.saw(this.#remember(to, this.#file ?? this.#look(to)));
  }

  /** Writes the first state file, or restores a missing one. */
  async create(state: StoreState): Promise<void> {
    await writeDurably(this.file(state), new Uint8Array(0));
    this.witness.saw(this.#remember(state, this.#look(state)));
  }

  #remember(state: StoreState, file: Stats | undefined): Sighting {
    const { generation, revision } = state;
    this.#known = state;
    this.#file = file ?? this.#file;
    const history = this.#file && `${this.#file.dev}.${this.#file.ino}.${this.#file.birthtimeMs}`;
    this.#sighting = { generation, revision, history };
    return this.#sighting;
  }

  #look(state: StoreState): Stats | undefined {
    try {
      return statSync(this.file(state), { throwIfNoEntry: false });
    } catch (error) {
      throw diskError(error, 'read', this.file(state));
    }
  }

  /**
   * Deletes leftovers of killed sessions.
   * @param names all names in the directory except the state
   */
  discard(names: readonly string[]): void {
    for (const name of names) deleteTree(join(this.path, name));
  }
}

const isSame = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a !== undefined && a.ino === b?.ino && a.dev === b.dev && a.birthtimeMs === b.birthtimeMs;

export const settled = (version: Version): StoreState => ({ ...version, settled: true });
export const unsettled = (version: Version): StoreState => ({ ...version, settled: false });

function parseStateName(name: string): StoreState | undefined {
  const [, word, generation, revision] = STATE_FILE.exec(name) ?? [];
  if (word === undefined) return undefined;
  return { generation: Number(generation), revision: Number(revision), settled: word === 'clean' };
}

const stateName = (state: StoreState): string =>
  `${state.settled ? 'clean' : 'dirty'}-${state.generation}-${state.revision}`;

/** Sorts the newest state first; of equal ones the unsettled one, because finishing a commit twice is harmless. */
const newestFirst = (a: StoreState, b: StoreState): number =>
  b.generation - a.generation || b.revision - a.revision || Number(a.settled) - Number(b.settled);
