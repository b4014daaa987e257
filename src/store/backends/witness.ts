import { CofferError, type Place, placed } from '../../ground/errors.ts';

/** Version of a committed state. Every commit raises the revision; a new root key raises the generation as well. */
export interface Version {
  /** Starts at 1. Each generation has blobs of its own. */
  readonly generation: number;
  /** Starts at 0, and is never reset. */
  readonly revision: number;
}

/** Whether version `a` is older than `b`, which means that a store was rolled back. */
export const isLower = (a: Version, b: Version): boolean =>
  a.generation < b.generation || a.revision < b.revision;

export const isSameVersion = (a: Version, b: Version): boolean =>
  a.revision === b.revision && a.generation === b.generation;

export const printVersion = ({ generation, revision }: Version): string =>
  `generation ${generation}, revision ${revision}`;

/** Returns only the numbers. */
export const versionOf = ({ generation, revision }: Version): Version => ({ generation, revision });

/**
 * Version of a store, with IDs that distinguish it from the same number of another history, if the backend has such
 * IDs. Plain JSON.
 * @see docs/decisions/0092
 */
export interface Sighting extends Version {
  /** ID of the history: unchanged by commits, different in every copy of the store. */
  readonly history?: string | undefined;
  /** ID of this commit. */
  readonly id?: string;
}

/** Hint for a store that is older than it was before. */
export const AFTER_ROLLBACK =
  'if you restored a backup on purpose, run "coffer store accept"; if not, the store was replaced with an older copy: restore the newer one';

/**
 * Thrown if the store is older than the last-seen revision, or a different copy. Nothing is read from it or written to
 * it.
 */
export class WentBack extends CofferError {
  readonly from: Sighting;
  readonly to: Sighting;

  constructor(place: Place, from: Sighting, to: Sighting) {
    const what = isLower(to, from) ? 'was rolled back' : 'was replaced by another copy or rolled back:';
    super(
      'unavailable',
      placed`${{ inside: 'the store in ', outside: '' }}${place} ${what} from ${printVersion(from)} to ${printVersion(to)}`,
      { hint: AFTER_ROLLBACK },
    );
    this.from = from;
    this.to = to;
  }
}

/**
 * Rollback protection: the newest state of a store that one process has seen. Only the owner can accept an older one.
 * @see docs/decisions/0110
 */
export class Witness {
  readonly #place: Place;
  #seen: Sighting | undefined;
  #refused: WentBack | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  get seen(): Sighting | undefined {
    return this.#seen;
  }

  /** Continues from the state last seen by another process, or by this one before. */
  expect(seen: Sighting): void {
    this.#seen = seen;
  }

  /** Records a commit of this process. */
  saw(made: Sighting): void {
    if (this.#seen === undefined || made.revision >= this.#seen.revision) this.#seen = made;
  }

  /**
   * Checks and records a state that was read.
   * @param since last-seen state when the look began: a remote look returns the state of that time
   * @throws WentBack; the same object as long as the same state is found
   */
  check(found: Sighting, since = this.#seen): void {
    if (found === this.#seen && this.#refused === undefined) return;
    if (since !== undefined && this.#isWrong(found, since)) {
      if (this.#refused === undefined || !isSame(found, this.#refused.to)) {
        this.#refused = new WentBack(this.#place, since, found);
      }
      throw this.#refused;
    }
    this.#refused = undefined;
    if (this.#seen === undefined || found.revision >= this.#seen.revision) this.#seen = found;
  }

  /**
   * Checks a state that is only about to be made, and records nothing: making it may fail, and until it is made, others
   * see the state before it.
   * @throws WentBack if it is older than one that was seen
   */
  examine(future: Sighting): void {
    const seen = this.#seen;
    if (seen !== undefined && this.#isWrong(future, seen)) throw new WentBack(this.#place, seen, future);
  }

  /** After a refusal a higher number alone proves nothing: other processes may have continued from the older state. */
  #isWrong(found: Sighting, since: Sighting): boolean {
    if (isBehind(found, since)) return true;
    if (this.#refused === undefined) return false;
    return found.history === undefined ? found.id !== since.id : found.history === this.#refused.to.history;
  }

  /** Accepts a state that was refused, on behalf of the owner. */
  takeUp(refused: WentBack): void {
    if (this.#refused !== refused) return;
    this.#refused = undefined;
    this.#seen = refused.to;
  }
}

const isBehind = (found: Sighting, seen: Sighting): boolean =>
  isLower(found, seen) ||
  found.history !== seen.history ||
  (found.revision === seen.revision && found.id !== seen.id);

const isSame = (a: Sighting, b: Sighting): boolean => !isBehind(a, b) && isSameVersion(a, b);
