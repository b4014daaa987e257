import { hash } from 'node:crypto';
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { move } from '../ground/directories.ts';
import { attempt, type Place } from '../ground/errors.ts';
import {
  AFTER_ROLLBACK,
  isLower,
  printVersion,
  type Sighting,
  type Version,
} from '../store/backends/witness.ts';
import type { SealedStore } from '../store/sealed/sealed-store.ts';
import type { Environment } from './given.ts';
import type { Session } from './session.ts';
import { makeOwnDirectory, namesIn, stateDirectory } from './state-directory.ts';

/** Number of stores that are remembered; if there are more, the least recently used ones are forgotten. */
const MOST_STORES = 500;
const KEPT_STORES = 250;
const FILE_MODE = 0o600;
const ATTEMPTS = 8;
const NAME = /^([1-9]\d{0,9})-(\d{1,15})-([\d.]{0,80})$/;

/**
 * Latest version of a store that the commands of this user have seen. As for the state of a store, it is stored in the
 * *name* of an empty file and only ever changed by renaming, so that simultaneous commands neither damage nor lose it.
 * It is only used for a warning, so failures to store it are ignored.
 * @see docs/decisions/0111
 */
export class LastSeen {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Returns the memory of a store; undefined if this user has no state directory.
   * @param place location of the store: copies of a store have the same ID
   */
  static of(environment: Environment, id: string, place: Place): LastSeen | undefined {
    const directory = stateDirectory(environment);
    if (directory === undefined) return undefined;
    const where = 'file' in place ? resolve(place.file) : place.database;
    return new LastSeen(join(directory, 'seen', hash('sha256', `${id}\n${where}`).slice(0, 32)));
  }

  get version(): Sighting | undefined {
    let newest: Sighting | undefined;
    for (const name of namesIn(this.#directory)) {
      const seen = parse(name);
      if (seen !== undefined && (newest === undefined || isLower(newest, seen))) newest = seen;
    }
    return newest;
  }

  /** Remembers a version, unless a newer one is remembered. */
  note(seen: Sighting): void {
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const { version } = this;
        if (version !== undefined && (isLower(seen, version) || !isLower(version, seen))) return;
        if (this.#move(version, seen)) return;
      }
    } catch {
      // The home directory is not writable, or does not exist.
    }
  }

  /**
   * Replaces a remembered version.
   * @returns whether it was unchanged until then
   */
  #move(from: Sighting | undefined, to: Sighting): boolean {
    try {
      if (from === undefined) closeSync(openSync(this.#file(to), 'wx', FILE_MODE));
      else move(this.#file(from), this.#file(to));
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
      if (from === undefined && code === 'ENOENT') this.#make();
      return false;
    }
  }

  #make(): void {
    makeOwnDirectory(this.#directory);
    forgetOldest(dirname(this.#directory));
  }

  forget(): void {
    // A file that remains only causes an unnecessary warning.
    attempt(() => rmSync(this.#directory, { recursive: true, force: true }));
  }

  #file({ generation, revision, history = '' }: Sighting): string {
    return join(this.#directory, `${generation}-${revision}-${history}`);
  }
}

/**
 * Compares a store that was opened with its last seen version, and remembers the version seen at the end.
 * @throws errors of reading the store
 */
export async function compareWithLastSeen(
  session: Pick<Session, 'environment' | 'warn' | 'atEnd'>,
  { id, backend }: Pick<SealedStore, 'id' | 'backend'>,
): Promise<void> {
  const last = LastSeen.of(session.environment, id, backend.place);
  let { seen } = backend.witness;
  if (last === undefined || seen === undefined) return;
  const before = last.version;
  const isBehind = (now: Sighting): boolean =>
    before !== undefined && isLower(now, before) && !isAfterPowerCut(now, before);
  if (isBehind(seen)) {
    // Simultaneous commands may have changed the store after it was read, and remembered that: a read that starts now
    // finds their changes.
    await backend.state();
    ({ seen } = backend.witness);
  }
  if (before !== undefined && seen !== undefined && isBehind(seen)) {
    session.warn(
      `the store was rolled back from ${printVersion(before)} to ${printVersion(seen)} (${AFTER_ROLLBACK})`,
    );
  }
  session.atEnd(() => {
    const now = backend.witness.seen;
    if (now !== undefined && now.revision !== before?.revision) last.note(now);
  });
}

/**
 * Whether a power failure explains the older version. The last step of a commit, the rename of the state file, is not
 * synced: only its number can be lost.
 */
const isAfterPowerCut = (now: Sighting, before: Sighting): boolean =>
  now.history !== undefined &&
  now.history === before.history &&
  now.generation === before.generation &&
  now.revision === before.revision - 1;

function parse(name: string): (Version & { readonly history: string }) | undefined {
  const [, generation, revision, history] = NAME.exec(name) ?? [];
  if (generation === undefined || history === undefined) return undefined;
  return { generation: Number(generation), revision: Number(revision), history };
}

function forgetOldest(directory: string): void {
  const names = namesIn(directory);
  if (names.length <= MOST_STORES) return;
  names
    .map((name) => ({ path: join(directory, name), usedAt: statSync(join(directory, name)).mtimeMs }))
    .sort((a, b) => b.usedAt - a.usedAt)
    .slice(KEPT_STORES)
    .forEach(({ path }) => {
      rmSync(path, { recursive: true, force: true });
    });
}
