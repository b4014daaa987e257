import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { corrupt } from '../../errors.ts';
import type { State, Version } from './backend.ts';
import { diskError, errorCode } from './disk-errors.ts';
import { deleteTree, moveFile, writeDurably } from './durable-files.ts';
import { STAGED } from './layout.ts';

const STATE_FILE = /^(clean|dirty)-([1-9][0-9]{0,9})-(0|[1-9][0-9]{0,14})$/;
/** Name of the directory of a decided commit. */
export const DECIDED = 'commit';
/** A listing taken while another process renames the state file may miss both names. */
const LISTING_ATTEMPTS = 20;

interface Listing {
  readonly state: State | undefined;
  /** Every other name in the directory. */
  readonly others: readonly string[];
}

/**
 * The directory `state`: one empty file whose *name* is the present state, `clean-<generation>-<revision>` or
 * `dirty-…` while a commit is applied. So there is no content to be damaged, a change of state is one rename, and
 * asking whether anything changed is one look at a name. What is on its way into the store (`*.new`) and the
 * directory of a decided commit lie here too, so that one sync decides a commit.
 */
export class StateDirectory {
  readonly path: string;
  #known: State | undefined;

  constructor(storeDirectory: string) {
    this.path = join(storeDirectory, 'state');
  }

  /** The present state. @throws `corrupt` when there is none. */
  read(): State {
    const known = this.#known;
    if (known?.settled === true && existsSync(this.file(known))) return known;
    for (let attempt = 0; attempt < LISTING_ATTEMPTS; attempt++) {
      const { state } = this.list();
      if (state !== undefined) {
        this.#known = state;
        return state;
      }
    }
    throw corrupt(`${this.path} is damaged: the file that names the present state is missing`, {
      hint: 'any command that writes puts it back; or restore a backup with "coffer store restore"',
    });
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

  /** Path of the file that stands for a state. */
  file(state: State): string {
    return join(this.path, stateName(state));
  }

  /** Makes `to` the present state in one step. */
  change(from: State, to: State): void {
    moveFile(this.file(from), this.file(to));
    this.#known = to;
  }

  /** Writes the first state file, or one that has gone missing. */
  async create(state: State): Promise<void> {
    await writeDurably(this.file(state), new Uint8Array(0));
    this.#known = state;
  }

  /** Deletes what killed sessions left, given the names of everything but the state. */
  discard(names: readonly string[]): void {
    for (const name of names) deleteTree(join(this.path, name));
  }

  /** Where a commit of several changes is prepared. */
  get preparing(): string {
    return this.decided + STAGED;
  }

  /** What that becomes when the commit is decided. */
  get decided(): string {
    return join(this.path, DECIDED);
  }
}

export const settled = (version: Version): State => ({ ...version, settled: true });
export const unsettled = (version: Version): State => ({ ...version, settled: false });

function parseStateName(name: string): State | undefined {
  const [, word, generation, revision] = STATE_FILE.exec(name) ?? [];
  if (word === undefined) return undefined;
  return { generation: Number(generation), revision: Number(revision), settled: word === 'clean' };
}

const stateName = (state: State): string =>
  `${state.settled ? 'clean' : 'dirty'}-${state.generation}-${state.revision}`;

/** The newest, and of equals the unsettled one: to finish a commit twice does no harm. */
const newestFirst = (a: State, b: State): number =>
  b.generation - a.generation || b.revision - a.revision || Number(a.settled) - Number(b.settled);
