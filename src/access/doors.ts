import { invalid } from '../ground/errors.ts';
import type { DocumentRef, Store, View } from '../store/store.ts';

/** Key offered to programs through one agent protocol. */
export interface Offer {
  /** Transit mount, without slashes at the ends. */
  readonly mount: string;
  readonly key: string;
  /** Uses that the key is offered for, in the protocol's terms. */
  readonly uses: readonly string[];
  /** Whether the user must confirm each use. */
  readonly confirm: boolean;
}

/**
 * Use by forwarded agents: a machine that the user is logged in to can use the key. It reaches further than the
 * programs that may use an agent anyway.
 */
export const FORWARDED_USE = 'forward';

/** Offers of one protocol, oldest first. */
interface DoorDocument {
  readonly offers: readonly Offer[];
}

const COLLECTION = 'access/doors';
const refOf = (door: string): DocumentRef => ({ collection: COLLECTION, id: door });
const NONE: readonly Offer[] = [];

/** Maximum number of offers per protocol; clients list them all at once. */
const MOST_OFFERS = 256;

const isOf =
  (mount: string, key: string) =>
  (offer: Offer): boolean =>
    offer.mount === mount && offer.key === key;

/** Reads the offers of one protocol; the same object as long as they do not change. */
const offersIn = async (view: View, door: string): Promise<readonly Offer[]> =>
  (await view.get<DoorDocument>(refOf(door)))?.offers ?? NONE;

/**
 * Offered keys, by agent protocol. Programs use them without a token. Empty by default.
 * @see docs/decisions/0204
 */
export class Doors {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Reads the offers of a protocol; the same object as long as they do not change. */
  offers(door: string): Promise<readonly Offer[]> {
    return this.#store.read((view) => offersIn(view, door));
  }

  /** Lists all offers by protocol, sorted by name. */
  list(): Promise<ReadonlyMap<string, readonly Offer[]>> {
    return this.#store.read(async (view) => {
      const names = await view.list(COLLECTION);
      return new Map(
        await Promise.all(names.map(async (name) => [name, await offersIn(view, name)] as const)),
      );
    });
  }

  /**
   * Adds an offer, or updates it in place.
   * @throws `invalid` if there are too many
   */
  async offer(door: string, offer: Offer): Promise<void> {
    await this.#store.transact(async (tx) => {
      const before = await offersIn(tx, door);
      const place = before.findIndex(isOf(offer.mount, offer.key));
      if (place === -1 && before.length >= MOST_OFFERS) {
        throw invalid(`at most ${MOST_OFFERS} keys can be offered through one protocol`, {
          hint: 'withdraw one with "coffer agent withdraw NAME"',
        });
      }
      tx.put(refOf(door), { offers: place === -1 ? [...before, offer] : before.with(place, offer) });
    });
  }

  /**
   * Withdraws an offer.
   * @returns whether the key was offered
   */
  withdraw(door: string, mount: string, key: string): Promise<boolean> {
    return this.#store.transact(async (tx) => {
      const before = await offersIn(tx, door);
      const left = before.filter((offer) => !isOf(mount, key)(offer));
      if (left.length === before.length) return false;
      if (left.length === 0) tx.delete(refOf(door));
      else tx.put(refOf(door), { offers: left });
      return true;
    });
  }
}
