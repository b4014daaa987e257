/** An opened store on its way to another process of the same user. */
import type { KeyObject } from 'node:crypto';
import { wipe } from '../ground/bytes.ts';
import { asCofferError, corrupt } from '../ground/errors.ts';
import type { Backend } from './backends/backend.ts';
import type { Location } from './backends/backend-kind.ts';
import { backendAt } from './backends/registry.ts';
import type { Sighting } from './backends/witness.ts';
import { readHeader } from './header.ts';
import { RESTORE } from './refusals.ts';
import { RootKey } from './root-key.ts';
import { Keyring } from './sealed/keyring.ts';
import { SealedStore } from './sealed/sealed-store.ts';
import { slotRef } from './slots/slot-file.ts';
import { openSlotList } from './slots/slot-list.ts';

/**
 * What opens a store in another process: the root key of one generation, and neither what unlocked it nor the keys of its slot, so
 * that it is worth nothing once the store was rekeyed. As secret as the store.
 * @see docs/decisions/0140
 */
export interface HandedOver {
  readonly storeId: string;
  readonly slotId: string;
  readonly generation: number;
  /** Whoever takes the store over wipes it. */
  readonly rootKey: Uint8Array;
  /** What was seen of the store, behind which nobody goes. */
  readonly seen?: Sighting | undefined;
}

/** @throws `sealed` when the store was closed or its slot removed. */
export async function handOver(store: SealedStore): Promise<HandedOver> {
  store.refuseClosed();
  const { generation } = await store.backend.state();
  const rootKey = (await store.keyring.root(store.backend, generation)).export();
  const { seen } = store.backend.witness;
  return { storeId: store.id, slotId: store.keyring.slotId, generation, rootKey, seen };
}

/** Opens a store with what another process handed over. @throws as `openStore`, but `corrupt` for a wrong key. */
export async function takeOver(
  location: Location,
  { storeId, slotId, generation, rootKey, seen }: HandedOver,
): Promise<SealedStore> {
  let backend: Backend | undefined;
  try {
    backend = await backendAt(location);
    const { id } = await readHeader(backend);
    if (id !== storeId) throw corrupt('another store is in its place', { hint: RESTORE });
    const root = new RootKey(rootKey, id, generation);
    // Only the right key opens it, so nothing that follows meets a wrong one.
    await openSlotList(backend, root);
    const store = new SealedStore(backend, Keyring.handedOver(slotId, root));
    if (seen !== undefined) await store.expect(seen);
    return store;
  } catch (error) {
    backend?.close();
    throw error;
  } finally {
    wipe(rootKey);
  }
}

/**
 * A key that who has the same store open, in the same generation, has as well.
 * @param generation default: the present one. @throws `sealed` when the store was closed or its slot removed.
 */
export async function sharedKey(store: SealedStore, generation?: number): Promise<KeyObject> {
  store.refuseClosed();
  const { backend, keyring } = store;
  const root = await keyring.root(backend, generation ?? (await backend.state()).generation);
  return root.derive('agents that are open');
}

/**
 * Why a store that was handed over is not open any more: it was rekeyed, or its slot was removed, or it is gone.
 * @returns undefined while it is open. @throws `unavailable` when that can't be told now.
 */
export async function lockedBecause(
  { backend, id }: SealedStore,
  { slotId, generation }: Pick<HandedOver, 'slotId' | 'generation'>,
): Promise<string | undefined> {
  const header = await readHeader(backend).catch(unlessGone);
  if (header?.id !== id) return 'the store is not there any more';
  const state = await backend.state();
  if (state.generation !== generation) return 'the store was rekeyed';
  return (await backend.has(generation, slotRef(slotId)))
    ? undefined
    : 'the slot that unlocked it was removed';
}

function unlessGone(error: unknown): undefined {
  if (asCofferError(error)?.kind !== 'not-found') throw error;
}
