import { unsupported } from '../errors.ts';
import type { CreatedSlot, SlotRequest } from './slots/slot-kind.ts';

export interface InitOptions {
  /** Created when missing; otherwise it must be empty. */
  readonly directory: string;
  /** At least one. */
  readonly slots: readonly SlotRequest[];
}

export interface InitResult {
  /** The store's id, a UUID. */
  readonly id: string;
  /** In the order of the request. */
  readonly slots: readonly CreatedSlot[];
}

/**
 * Makes a new, empty store: a random root key, held in the requested slots.
 * @throws `conflict` when the directory holds a store or anything else; `invalid` for an impossible slot;
 * `unavailable` when the disk refuses. Nothing usable is left behind then.
 */
export async function initStore(_options: InitOptions): Promise<InitResult> {
  throw unsupported('not yet');
}
