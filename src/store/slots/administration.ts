import { unsupported } from '../../errors.ts';
import type { SealedStore } from '../sealed-store.ts';
import type { CreatedSlot, SlotRequest, SlotSummary } from './slot-kind.ts';

/** Every slot, oldest first. @throws `corrupt` when a slot file was added, exchanged or removed behind the store's back. */
export async function listSlots(_store: SealedStore): Promise<readonly SlotSummary[]> {
  throw unsupported('not yet');
}

/** Adds a way to unlock the store, without touching data. @throws `invalid` for an impossible request. */
export async function addSlot(_store: SealedStore, _request: SlotRequest): Promise<CreatedSlot> {
  throw unsupported('not yet');
}

/** Removes a slot. @throws `not-found` for an unknown id, `conflict` for the last one. */
export async function removeSlot(_store: SealedStore, _id: string): Promise<void> {
  throw unsupported('not yet');
}
