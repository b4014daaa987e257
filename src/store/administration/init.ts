import { type Clock, systemClock } from '../../ground/clock.ts';
import { type Random, systemRandom } from '../../ground/random.ts';
import type { Location } from '../backends/backend-kind.ts';
import { createAt } from '../backends/registry.ts';
import type { CreatedSlot, SlotRequest } from '../slots/slot-kind.ts';
import { type Furnish, newStore } from './initial-content.ts';

export interface InitOptions {
  /** A directory is made when it is missing, and must be empty otherwise; so are the tables of a database. */
  readonly location: Location;
  /** At least one. */
  readonly slots: readonly SlotRequest[];
  /** Puts the first documents into it: the store exists with them, or not at all. */
  readonly furnish?: Furnish;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface InitResult {
  /** The store's id, a UUID. */
  readonly id: string;
  /** In the order of the request. */
  readonly slots: readonly CreatedSlot[];
}

/**
 * Makes a new store, empty but for what `furnish` puts into it: a random root key, held in the requested slots.
 * @throws `conflict` when the directory holds a store or anything else; `invalid` for an impossible slot;
 * `unavailable` when the disk refuses. Nothing usable is left behind then.
 */
export async function initStore(options: InitOptions): Promise<InitResult> {
  const { location, slots, clock = systemClock, random = systemRandom, furnish } = options;
  const store = await newStore(slots, clock, random, furnish);
  await createAt(location, store.content);
  return { id: store.header.id, slots: store.slots };
}
