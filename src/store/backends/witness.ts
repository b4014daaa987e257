import { CofferError, type Place, placed } from '../../ground/errors.ts';
import { isLower, printVersion, type Version } from './version.ts';

/**
 * A version, with what tells it from the same number of another history, where a backend knows such a thing. Plain JSON.
 * @see docs/decisions/0092
 */
export interface Sighting extends Version {
  /** The same through all commits, and no copy of the store has it. */
  readonly history?: string;
  /** Of this commit alone. */
  readonly id?: string;
}

/** The store is not the one any more that this process has seen. Nothing is read from it or written to it. */
export class WentBack extends CofferError {
  readonly from: Sighting;
  readonly to: Sighting;

  constructor(place: Place, from: Sighting, to: Sighting) {
    const what = isLower(to, from) ? 'went back' : 'was replaced by another copy, or went back meanwhile:';
    super(
      'unavailable',
      placed`${{ inside: 'the store in ', outside: '' }}${place} ${what} from ${printVersion(from)} to ${printVersion(to)}`,
      {
        hint: 'bring the newer state back, or say that this one is right with "coffer store accept", or start again what uses it',
      },
    );
    this.from = from;
    this.to = to;
  }
}

/**
 * The newest that one process has seen of a store. It goes behind that for nobody but the owner.
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

  /** Goes on from what another process has seen, or this one before. */
  expect(seen: Sighting): void {
    this.#seen = seen;
  }

  /** Notes what this process has made itself. */
  saw(made: Sighting): void {
    if (this.#seen === undefined || made.revision >= this.#seen.revision) this.#seen = made;
  }

  /**
   * Notes what was found.
   * @param since what had been seen when the look began: who looks far away learns of what was there then.
   * @throws WentBack, the same one as long as the same is found.
   */
  check(found: Sighting, since = this.#seen): void {
    if (found === this.#seen && this.#refused === undefined) return;
    if (since !== undefined && (isBehind(found, since) || !this.#isRight(found, since))) {
      if (this.#refused === undefined || !isSame(found, this.#refused.to)) {
        this.#refused = new WentBack(this.#place, since, found);
      }
      throw this.#refused;
    }
    this.#refused = undefined;
    if (this.#seen === undefined || found.revision >= this.#seen.revision) this.#seen = found;
  }

  /** The owner says that what was refused is right. */
  takeUp(refused: WentBack): void {
    if (this.#refused !== refused) return;
    this.#refused = undefined;
    this.#seen = refused.to;
  }

  /** After a refusal a higher number alone means nothing: others may have gone on from the older state. */
  #isRight(found: Sighting, seen: Sighting): boolean {
    if (this.#refused === undefined) return true;
    return found.history === undefined ? found.id === seen.id : found.history !== this.#refused.to.history;
  }
}

const isBehind = (found: Sighting, seen: Sighting): boolean =>
  isLower(found, seen) ||
  found.history !== seen.history ||
  (found.revision === seen.revision && found.id !== seen.id);

const isSame = (a: Sighting, b: Sighting): boolean =>
  !isBehind(a, b) && a.revision === b.revision && a.generation === b.generation;
