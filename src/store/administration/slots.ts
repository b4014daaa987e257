/** Manages the key slots of a store: each holds its root key under one secret, so that any of them opens it. */
import { wipe, wiping } from '../../ground/bytes.ts';
import { type Clock, systemClock } from '../../ground/clock.ts';
import { asCofferError, type CofferError, conflict, notFound } from '../../ground/errors.ts';
import { type Random, systemRandom } from '../../ground/random.ts';
import type { Backend, Blob, Change } from '../backends/backend.ts';
import { type OnFile, readConsistently } from '../backends/whole-store.ts';
import { ROOT_KEY_BYTES, RootKey } from '../root-key.ts';
import type { SealedStore } from '../sealed/sealed-store.ts';
import { prepareSlot } from '../slots/new-slot.ts';
import { slotBlob, slotRef, wrapRootKey } from '../slots/slot-keys.ts';
import type { CreatedSlot, SlotRequest, SlotSummary } from '../slots/slot-kind.ts';
import { compareSlots, MAX_SLOTS, openSlotList, sealSlotList, summaryOf } from '../slots/slot-list.ts';
import type { Finding } from './status.ts';
import type { SoundSlot } from './survey.ts';
import { type DamageOptions, sourceOf, verifiedBlobs } from './verified.ts';

/**
 * Lists every slot, in the order in which they were added.
 * @throws `corrupt` if a slot file is damaged, or was added, exchanged or removed behind the store's back
 */
export async function listSlots(store: SealedStore): Promise<readonly SlotSummary[]> {
  store.refuseClosed();
  return readConsistently(store.backend, async ({ generation }) => {
    const { listed } = await intactSlots(store, generation);
    return listed.map(summaryOf);
  });
}

/** Reads the list of slots. @throws `corrupt` as `listSlots` */
async function intactSlots({ backend, keyring }: SealedStore, generation: number) {
  const root = await keyring.root(backend, generation);
  const listed = await openSlotList(backend, root);
  const [first] = await compareSlots(backend, root, listed);
  if (first !== undefined) throw first.problem;
  return { root, listed };
}

interface AddSlotOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly tell?: (created: CreatedSlot) => Promise<void>;
}

/**
 * Adds a slot, without touching data.
 * @param options.tell called before the slot exists, so that no secret is lost if the process dies; if it throws, no
 * slot is added
 * @throws `invalid` for an impossible request; `conflict` if there are too many; `corrupt` as `listSlots`
 */
export async function addSlot(
  store: SealedStore,
  request: SlotRequest,
  { clock = systemClock, random = systemRandom, tell }: AddSlotOptions = {},
): Promise<CreatedSlot> {
  store.refuseClosed();
  const prepared = await prepareSlot(request, { storeId: store.id, clock, random });
  return store.backend.exclusive(async (session) => {
    const { root, listed } = await intactSlots(store, session.version.generation);
    if (listed.length >= MAX_SLOTS) {
      throw conflict(`a store has at most ${MAX_SLOTS} key slots`, {
        hint: 'remove one that is no longer needed with "coffer slots remove ID"',
      });
    }
    const slot = wiping(root.export(), (rootKey) => prepared.wrap(rootKey, root.generation));
    await tell?.(prepared.created);
    await session.commit([slotBlob(slot), sealSlotList(root, [...listed, prepared.listed])]);
    return prepared.created;
  });
}

/**
 * Replaces a slot by a new one with the same label, in one commit: the old secret stops opening the store when the new
 * one begins to. Data is not touched.
 * @throws `not-found` for an unknown ID; `invalid` for an impossible request; `corrupt` as `listSlots`
 */
export async function replaceSlot(
  store: SealedStore,
  id: string,
  request: SlotRequest,
): Promise<CreatedSlot> {
  store.refuseClosed();
  const { label = '' } = (await listSlots(store)).find((slot) => slot.id === id) ?? {};
  const context = { storeId: store.id, clock: systemClock, random: systemRandom };
  const prepared = await prepareSlot({ ...request, label }, context);
  return store.backend.exclusive(async (session) => {
    const { root, listed } = await intactSlots(store, session.version.generation);
    const others = listed.filter((slot) => slot.id !== id);
    if (others.length === listed.length) throw noSuchSlot(id);
    const slot = wiping(root.export(), (rootKey) => prepared.wrap(rootKey, root.generation));
    await session.commit([
      slotBlob(slot),
      sealSlotList(root, [...others, prepared.listed]),
      { ref: slotRef(id), bytes: undefined },
    ]);
    return prepared.created;
  });
}

const noSuchSlot = (id: string): CofferError =>
  notFound(`no slot "${id}"`, { field: 'id', hint: 'see "coffer slots list"' });

/**
 * Removes a slot, even a damaged or planted one. Its secret still opens older copies of the store, and the root key in
 * them is the current one until a rekey.
 * @throws `not-found` for an unknown ID; `conflict` for the last one that works
 */
export async function removeSlot(store: SealedStore, id: string): Promise<void> {
  store.refuseClosed();
  await store.backend.exclusive(async (session) => {
    const root = await store.keyring.root(store.backend, session.version.generation);
    const { ref, isFile, isListed, left } = await removalOf(store.backend, root, id);
    const changes: Change[] = isListed ? [sealSlotList(root, left)] : [];
    if (isFile) changes.push({ ref, bytes: undefined });
    await session.commit(changes);
  });
}

/**
 * Checks that a slot can be removed, before the user is asked.
 * @throws as {@link removeSlot}
 */
export const requireRemovable = (store: SealedStore, id: string): Promise<unknown> =>
  readConsistently(store.backend, async ({ generation }) =>
    removalOf(store.backend, await store.keyring.root(store.backend, generation), id),
  );

/** Returns what removing a slot involves, and the listed slots that would be left. */
async function removalOf(backend: Backend, root: RootKey, id: string) {
  const listed = await openSlotList(backend, root);
  const ref = slotRef(id);
  const isFile = (await backend.names(root.generation, 'slots')).includes(id);
  const isListed = listed.some((slot) => slot.id === id);
  if (!isFile && !isListed) throw noSuchSlot(id);
  const problems = await compareSlots(backend, root, listed);
  const unusable = new Set(problems.map((problem) => problem.id));
  const left = listed.filter((slot) => slot.id !== id);
  if (left.some((slot) => !unusable.has(slot.id))) return { ref, isFile, isListed, left };
  // A slot that is only unreadable at the moment may be intact.
  const unread = problems.find((slot) => slot.id !== id && isUnavailable(slot.problem));
  if (unread !== undefined) throw unread.problem;
  throw conflict('the last slot that works cannot be removed: the store could never be unlocked again', {
    field: 'id',
    hint: 'add another with "coffer slots add" first',
  });
}

const isUnavailable = (problem: unknown): boolean => asCofferError(problem)?.kind === 'unavailable';

interface RekeyOptions extends DamageOptions {
  /** Called after each file with the number of files read and their total. */
  readonly onProgress?: OnFile;
  readonly random?: Random;
}

/**
 * Replaces the root key and reseals everything. Every slot keeps its secret and its pairing key. An attacker who has
 * the old root key cannot read later data, but could do the same as this function: rekey, with a root key of their own,
 * the slots that exist then. Only slots with new secrets prevent that (docs/threat-model.md). Writers wait meanwhile,
 * readers do not. If the process is killed, the store is unchanged or completely rekeyed, and the next writer removes
 * the rest.
 * @returns the number of files resealed, and the damaged or missing ones that were dropped
 * @throws `DamageError` naming damaged or missing files; nothing is changed then
 */
export async function rekey(store: SealedStore, options: RekeyOptions = {}) {
  store.refuseClosed();
  const { backend, keyring } = store;
  return backend.exclusive(async (session) => {
    const source = await sourceOf(backend, keyring, session.version.generation, options.onProgress);
    const rootKey = (options.random ?? systemRandom).bytes(ROOT_KEY_BYTES);
    const fresh = new RootKey(rootKey, store.id, source.root.generation + 1);
    const damage = { ...options, isFinal: true } as const;
    const summary = { files: 0, leftOut: [] as Finding[] };
    async function* sealAgain(): AsyncGenerator<Blob> {
      for await (const { opened, slot } of verifiedBlobs(source, summary.leftOut, damage)) {
        if (slot !== undefined) yield wrapAgain(rootKey, fresh, slot);
        else {
          yield fresh.seal(opened.identity, opened.json);
          summary.files++;
        }
      }
    }
    try {
      await session.replaceGeneration(sealAgain());
    } finally {
      wipe(rootKey);
    }
    // Read the root key from the slot as every other command does, which also proves that the slot works.
    await keyring.root(backend, fresh.generation);
    return summary;
  });
}

function wrapAgain(rootKey: Uint8Array, fresh: RootKey, { slot, listed }: SoundSlot): Blob {
  // Wrap it for the listed public key, which only a holder of the old root key can have written.
  const wrapped = wrapRootKey(rootKey, listed.pairingKey, {
    storeId: fresh.storeId,
    generation: fresh.generation,
    slot: listed,
  });
  return slotBlob({ ...slot, rootKey: wrapped });
}
