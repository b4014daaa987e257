import { invalid } from '../ground/errors.ts';
import type { DocumentRef, Store, View } from '../store/store.ts';

/** A key that programs may use through a door of the agent. */
export interface Offer {
  /** The transit mount, without slashes at the ends. */
  readonly mount: string;
  readonly key: string;
  /** What it may be used for, in the words of the door. */
  readonly uses: readonly string[];
  /** Somebody is asked before each use. */
  readonly confirm: boolean;
}

/** The use by which machines get at a key that a user is logged in to: it reaches further than the programs that may use an agent anyway. */
export const FORWARDED_USE = 'forward';

/** What is offered through one door, in the order in which it was. */
interface DoorDocument {
  readonly offers: readonly Offer[];
}

const COLLECTION = 'access/doors';
const refOf = (door: string): DocumentRef => ({ collection: COLLECTION, id: door });
const NONE: readonly Offer[] = [];

/** As many as anybody has use for; a client asks for all of them at once. */
const MOST_OFFERS = 256;

const isOf =
  (mount: string, key: string) =>
  (offer: Offer): boolean =>
    offer.mount === mount && offer.key === key;

/** What is offered through one door; the same object as long as that does not change. */
const offersIn = async (view: View, door: string): Promise<readonly Offer[]> =>
  (await view.get<DoorDocument>(refOf(door)))?.offers ?? NONE;

/**
 * The doors of the agent: what programs may do that bring no token. Nothing is offered before somebody says so.
 * @see docs/decisions/0204
 */
export class Doors {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** What is offered through a door; the same object as long as that does not change. */
  offers(door: string): Promise<readonly Offer[]> {
    return this.#store.read((view) => offersIn(view, door));
  }

  /** What is offered at all, by door, sorted by their names. */
  list(): Promise<ReadonlyMap<string, readonly Offer[]>> {
    return this.#store.read(async (view) => {
      const names = await view.list(COLLECTION);
      return new Map(
        await Promise.all(names.map(async (name) => [name, await offersIn(view, name)] as const)),
      );
    });
  }

  /** Offers a key, or offers it otherwise than before; it keeps its place then. @throws `invalid` for one too many. */
  async offer(door: string, offer: Offer): Promise<void> {
    await this.#store.transact(async (tx) => {
      const before = await offersIn(tx, door);
      const place = before.findIndex(isOf(offer.mount, offer.key));
      if (place === -1 && before.length >= MOST_OFFERS) {
        throw invalid(`more than ${MOST_OFFERS} keys can't be offered through one door`, {
          hint: 'withdraw some of them',
        });
      }
      tx.put(refOf(door), { offers: place === -1 ? [...before, offer] : before.with(place, offer) });
    });
  }

  /** @returns whether it was offered. */
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
