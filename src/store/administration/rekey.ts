import { wipe } from '../../ground/bytes.ts';
import { type Random, systemRandom } from '../../ground/random.ts';
import type { Backend, Blob } from '../backends/backend.ts';
import { missing } from '../refusals.ts';
import { ROOT_KEY_BYTES, RootKey } from '../root-key.ts';
import type { SealedStore } from '../sealed/sealed-store.ts';
import { parseSlot, slotBlob, slotRef } from '../slots/slot-file.ts';
import { wrapRootKey } from '../slots/slot-keys.ts';
import { compareSlots, type ListedSlot, openSlotList } from '../slots/slot-list.ts';

export interface RekeyOptions {
  /** Called after each file with the number of files sealed again and their total. */
  readonly onProgress?: (done: number, total: number) => void;
  readonly random?: Random;
}

/**
 * Replaces the root key and seals everything again. Every slot keeps working with its old secret, and keeps its pairing
 * key: whoever has the old root key can't read what follows, but can do what this does, with a root key of their own, for
 * the slots of then. Only slots with new secrets end that (docs/threat-model.md).
 * Writers wait meanwhile, readers don't. Killed at any point, the store is as before or wholly re-keyed, and
 * whoever writes next clears the rest away.
 * @returns the number of files sealed again.
 * @throws `corrupt` naming a damaged file or slot; nothing is changed then.
 */
export async function rekey(store: SealedStore, options: RekeyOptions = {}): Promise<number> {
  store.refuseClosed();
  const { backend, keyring } = store;
  return backend.exclusive(async (session) => {
    const old = await keyring.root(backend, session.version.generation);
    const listed = await openSlotList(backend, old);
    const [problem] = await compareSlots(backend, old, listed);
    if (problem !== undefined) throw problem.problem;
    const names = await backend.names(old.generation, 'documents');
    const rootKey = (options.random ?? systemRandom).bytes(ROOT_KEY_BYTES);
    const fresh = new RootKey(rootKey, store.id, old.generation + 1);
    try {
      await session.replaceGeneration(sealAgain({ backend, old, fresh, rootKey, listed, names, ...options }));
    } finally {
      wipe(rootKey);
    }
    // Taken from the slot as everybody else does it, which also proves that the slot works.
    await keyring.root(backend, fresh.generation);
    return names.length;
  });
}

interface Resealing extends RekeyOptions {
  readonly backend: Backend;
  readonly old: RootKey;
  readonly fresh: RootKey;
  /** That of `fresh`. */
  readonly rootKey: Uint8Array;
  readonly listed: readonly ListedSlot[];
  readonly names: readonly string[];
}

async function* sealAgain(work: Resealing): AsyncGenerator<Blob> {
  for (const slot of work.listed) yield wrapAgain(work, slot, await readPresent(work, slotRef(slot.id)));
  for (const [done, name] of work.names.entries()) {
    const ref = { area: 'documents', name } as const;
    const { identity, json } = work.old.open(
      ref,
      await readPresent(work, ref),
      work.backend.locate(work.old.generation, ref),
    );
    yield work.fresh.seal(identity, json);
    work.onProgress?.(done + 1, work.names.length);
  }
}

function wrapAgain({ backend, old, fresh, rootKey }: Resealing, listed: ListedSlot, bytes: Uint8Array): Blob {
  const slot = parseSlot(listed.id, bytes, backend.locate(old.generation, slotRef(listed.id)));
  // To the listed public key, which only a holder of the old root key can have written.
  const wrapped = wrapRootKey(rootKey, listed.pairingKey, old.storeId, fresh.generation, listed);
  return slotBlob({ ...slot, rootKey: wrapped });
}

async function readPresent({ backend, old }: Resealing, ref: Blob['ref']): Promise<Uint8Array> {
  const bytes = await backend.read(old.generation, ref);
  if (bytes === undefined) throw missing(backend.locate(old.generation, ref));
  return bytes;
}
