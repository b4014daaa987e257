/** Transfers an opened store to another process of the same user. */
import type { KeyObject } from 'node:crypto';
import { wipe } from '../ground/bytes.ts';
import { corrupt, refusedAs } from '../ground/errors.ts';
import type { Backend } from './backends/backend.ts';
import type { Location } from './backends/backend-kind.ts';
import { backendAt } from './backends/registry.ts';
import type { Sighting } from './backends/witness.ts';
import { parseHeader, readHeader } from './header.ts';
import { RESTORE } from './refusals.ts';
import { RootKey } from './root-key.ts';
import { SealedStore } from './sealed/sealed-store.ts';
import { slotRef } from './slots/slot-keys.ts';
import { Keyring, openSlotList } from './slots/slot-list.ts';

/**
 * Handle that opens a store in another process: the root key of one generation, without the unlocking secret or the
 * keys of its slot, so that it is worthless once the store is rekeyed. As secret as the store.
 * @see docs/decisions/0140
 */
export interface HandedOver {
  readonly storeId: string;
  readonly slotId: string;
  readonly generation: number;
  /** Root key; the receiving process wipes it. */
  readonly rootKey: Uint8Array;
  /** Last-seen state of the store; an older one is refused. */
  readonly seen?: Sighting | undefined;
}

/**
 * Exports the handle of an open store.
 * @throws `sealed` if the store was closed or its slot removed
 */
export async function handOver(store: SealedStore): Promise<HandedOver> {
  store.refuseClosed();
  const { generation } = await store.backend.state();
  const rootKey = (await store.keyring.root(store.backend, generation)).export();
  const { seen } = store.backend.witness;
  return { storeId: store.id, slotId: store.keyring.slotId, generation, rootKey, seen };
}

/**
 * Opens a store with a handle from another process.
 * @throws as `openStore`, but `corrupt` for a wrong key
 */
export async function takeOver(
  location: Location,
  { storeId, slotId, generation, rootKey, seen }: HandedOver,
): Promise<SealedStore> {
  let backend: Backend | undefined;
  try {
    backend = await backendAt(location);
    const { id } = await readHeader(backend);
    if (id !== storeId) throw corrupt('the store was replaced by another one', { hint: RESTORE });
    const root = new RootKey(rootKey, id, generation);
    // Only the right key opens the list, so a wrong one is detected before anything else is read.
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
 * Derives a key that every process with the same store open, in the same generation, can derive as well.
 * @param generation default: the current one
 * @throws `sealed` if the store was closed or its slot removed
 */
export async function sharedKey(store: SealedStore, generation?: number): Promise<KeyObject> {
  store.refuseClosed();
  const { backend, keyring } = store;
  const root = await keyring.root(backend, generation ?? (await backend.state()).generation);
  return root.derive('agents that are open');
}

/**
 * Returns why a transferred store is not open any more: it was rekeyed, its slot was removed, or it is gone.
 * @returns undefined while it is open
 * @throws `unavailable` if that cannot be determined now
 */
export async function lockedBecause(
  store: SealedStore,
  { slotId, generation }: Pick<HandedOver, 'slotId' | 'generation'>,
): Promise<string | undefined> {
  const { backend, id } = store;
  const header = await backend.header().catch(refusedAs(undefined, 'not-found'));
  if (header === undefined) return 'the store no longer exists';
  if (storeIdIn(backend, header) !== id) return 'the store was replaced by another one';
  const state = store.seenJustNow ?? (await backend.state());
  if (state.generation !== generation) return 'the store has a new root key';
  return (await backend.has(generation, slotRef(slotId)))
    ? undefined
    : 'the slot that unlocked the store was removed';
}

/** Headers as they were parsed last, since an agent compares the header before each use and it never changes. */
const parsedHeaders = new WeakMap<Backend, { readonly bytes: Buffer; readonly id: string }>();

/** Returns the store ID of a header. */
function storeIdIn(backend: Backend, bytes: Uint8Array): string {
  const known = parsedHeaders.get(backend);
  if (known?.bytes.equals(bytes)) return known.id;
  const { id } = parseHeader(bytes, backend.headerPlace);
  parsedHeaders.set(backend, { bytes: Buffer.from(bytes), id });
  return id;
}
