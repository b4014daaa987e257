import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { type CofferError, corrupt, placed } from '../../../ground/errors.ts';
import { REPAIR } from '../../refusals.ts';
import type { Version } from '../backend.ts';
import { type Sighting, Witness } from '../witness.ts';
import { statsAt } from './disk-errors.ts';
import { deleteTree, listDirectory, moveFile, writeDurably } from './durable-files.ts';
import { prefixOf } from './layout.ts';

const STATE_FILE = /^(log|clean|dirty)-([1-9][0-9]{0,9})-(0|[1-9][0-9]{0,14})$/;
/** Number of listing attempts: a listing taken while another process renames the state file may miss both names. */
const LISTING_ATTEMPTS = 20;

/**
 * State that a file name says. `log`: the log says what is not in the documents yet. `clean` and `dirty` are of format
 * 1, which had no log: all is in the documents, or a commit was being applied.
 */
export interface StateName extends Version {
  readonly kind: 'log' | 'clean' | 'dirty';
}

export const logged = ({ generation, revision }: Version): StateName => ({
  kind: 'log',
  generation,
  revision,
});

/**
 * The directory `state`: one empty file whose *name* is the current state, `log-<generation>-<revision>`. So there is
 * no content to be damaged, a change of state is one rename, and checking for changes takes one look at a name.
 * @see docs/decisions/0005
 */
export class StateDirectory {
  readonly path: string;
  readonly #prefix: string;
  readonly witness: Witness;
  #known: StateName | undefined;
  /** Path of its file. */
  #knownPath = '';
  /**
   * State file, whose inode stays the same through all commits: a different one means a different copy of the store.
   */
  #file: Stats | undefined;
  #sighting: Sighting | undefined;

  constructor(storeDirectory: string) {
    this.witness = new Witness({ file: storeDirectory });
    this.path = join(storeDirectory, 'state');
    this.#prefix = prefixOf(this.path);
  }

  /**
   * Reads the current name; the same object as long as it is the same file with the same name.
   * @throws `corrupt` if there is none
   */
  read(): StateName {
    const known = this.#known;
    if (known !== undefined && this.isUnchanged()) return known;
    for (let attempt = 0; attempt < LISTING_ATTEMPTS; attempt++) {
      const { state } = this.list();
      if (state === undefined) continue;
      const file = statsAt(this.file(state));
      // Renamed since it was listed.
      if (file === undefined) continue;
      this.#remember(state, file);
      return state;
    }
    throw this.missing(REPAIR);
  }

  /** Whether the state file still has the name that was read or made last. */
  isUnchanged(): boolean {
    return this.#known !== undefined && isSame(this.#file, statsAt(this.#knownPath));
  }

  /** Name that was read or made last. */
  get known(): StateName | undefined {
    return this.#known;
  }

  /** Creates the error for a missing state file. */
  missing(hint: string): CofferError {
    return corrupt(placed`${{ file: this.path }} is damaged: the state file is missing`, { hint });
  }

  /**
   * ID of the history that the state file belongs to: the same through all commits, different in every copy of the
   * store. Undefined if no state was seen.
   */
  get history(): string | undefined {
    return this.#file && `${this.#file.dev}.${this.#file.ino}.${this.#file.birthtimeMs}`;
  }

  /**
   * Checks a version of the store against what this process has seen before.
   * @throws WentBack if it is older
   */
  admit({ generation, revision }: Version): void {
    const { history } = this;
    const last = this.#sighting;
    const isNew = last?.generation !== generation || last.revision !== revision || last.history !== history;
    const sighting = isNew ? { generation, revision, history } : last;
    this.#sighting = sighting;
    this.witness.check(sighting);
  }

  /**
   * Checks a version that the store is about to get, and records nothing.
   * @throws WentBack if it is older than one that this process has seen
   */
  examine({ generation, revision }: Version): void {
    this.witness.examine({ generation, revision, history: this.history });
  }

  /**
   * Returns a revision above all revisions that this process has seen, and above all used ones if the clock is right.
   * @param above revision that is known to be used
   */
  unusedRevision(above = -1): number {
    // Revisions count commits, so the time in milliseconds is always larger.
    return Math.max(Date.now(), above + 1, (this.witness.seen?.revision ?? -1) + 1);
  }

  /** Lists the state, and all other names in the directory. */
  list() {
    const names = listDirectory(this.path);
    const states = names.map(parseStateName).filter((state) => state !== undefined);
    const state = states.sort(newestFirst)[0];
    const others = state === undefined ? names : names.filter((name) => name !== printStateName(state));
    return { state, others };
  }

  /** Returns the path of the file that represents a state. */
  file(state: StateName): string {
    return `${this.#prefix}${printStateName(state)}`;
  }

  /** Changes the state to `to` in one step. The file stays the same, so it needs no look if it is known. */
  change(from: StateName, to: StateName): void {
    moveFile(this.file(from), this.file(to));
    this.#saw(to, this.#file ?? statsAt(this.file(to)));
  }

  /** Writes the first state file, or restores a missing one. */
  async create(state: StateName): Promise<void> {
    await writeDurably(this.file(state), new Uint8Array(0));
    this.#saw(state, statsAt(this.file(state)));
  }

  #saw(state: StateName, file: Stats | undefined): void {
    this.#remember(state, file);
    const { generation, revision } = state;
    this.#sighting = { generation, revision, history: this.history };
    this.witness.saw(this.#sighting);
  }

  #remember(state: StateName, file: Stats | undefined): void {
    this.#known = state;
    this.#knownPath = this.file(state);
    this.#file = file ?? this.#file;
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

function parseStateName(name: string): StateName | undefined {
  const [, kind, generation, revision] = STATE_FILE.exec(name) ?? [];
  if (kind === undefined) return undefined;
  return { kind: kind as StateName['kind'], generation: Number(generation), revision: Number(revision) };
}

const printStateName = ({ kind, generation, revision }: StateName): string =>
  `${kind}-${generation}-${revision}`;

const ORDER: readonly StateName['kind'][] = ['log', 'dirty', 'clean'];

/**
 * Sorts the newest state first; of equal ones the one with a log, then the unsettled one, because finishing a commit
 * twice is harmless.
 */
const newestFirst = (a: StateName, b: StateName): number =>
  b.generation - a.generation || b.revision - a.revision || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind);
