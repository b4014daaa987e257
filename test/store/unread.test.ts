import { beforeEach, describe, expect, it } from 'vitest';
import { corrupt, unavailable } from '../../src/ground/errors.ts';
import { addSlot, listSlots, rekey, removeSlot } from '../../src/store/administration/slots.ts';
import { checkSlots, Survey } from '../../src/store/administration/survey.ts';
import type { Backend, BlobRef } from '../../src/store/backends/backend.ts';
import { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { slotRef } from '../../src/store/slots/slot-keys.ts';
import { readSlotFiles, SLOT_LIST } from '../../src/store/slots/slot-list.ts';
import { refused } from '../refusal.ts';
import { memoryStore } from './memory-store.ts';
import { at, fillSmall } from './repairing.ts';
import { replacing } from './struck-backend.ts';
import { findingsIn, placeIn, tamper } from './tampering.ts';
import { KEY } from './temporary-store.ts';

const OTHER_KEY = Uint8Array.from(KEY, (byte) => byte + 100);
const ONE = { space: 'document', ...at('one') } as const;

let store: SealedStore;
beforeEach(async () => {
  store = await memoryStore();
  await fillSmall(store);
});

const failing = (code: string): Error =>
  unavailable(`the disk says ${code}`, { cause: Object.assign(new Error(code), { code }) });

/** The store over a backend that does not give one of its blobs. */
function without(ref: BlobRef, why: Error, more: Partial<Backend> = {}): SealedStore {
  const { backend, keyring } = store;
  const read = async (generation: number, asked: BlobRef): Promise<Uint8Array | undefined> => {
    if (asked.name === ref.name && asked.area === ref.area) throw why;
    return backend.read(generation, asked);
  };
  return new SealedStore(replacing(backend, { read, ...more }), keyring);
}

const refOf = async (identity: Parameters<typeof placeIn>[1]): Promise<BlobRef> =>
  (await store.keyring.root(store.backend, 1)).refOf(identity);

describe('a document that cannot be read', () => {
  it('is lost where the disk has an error there, and is left out as it is wanted', async () => {
    const struck = without(await refOf(ONE), failing('EIO'));
    const file = await placeIn(store, ONE);
    expect(await findingsIn(struck)).toMatchObject([
      { file, reason: 'the disk says EIO', holds: { collection: 'things', id: 'one' } },
    ]);
    expect((await rekey(struck, { withoutDamaged: true })).leftOut).toMatchObject([{ file }]);
    expect(await store.read((view) => view.list('things'))).toEqual(['three', 'two']);
  });

  it.each(['EACCES', 'EMFILE'])('is never left out where it may be there: %s', async (code) => {
    const struck = without(await refOf(ONE), failing(code));
    expect(await findingsIn(struck)).toMatchObject([{ reason: `the disk says ${code}` }]);
    expect(await refused(rekey(struck, { withoutDamaged: true }))).toMatchObject({
      kind: 'unavailable',
      message: `the disk says ${code}`,
    });
    expect(await store.read((view) => view.get(at('one')))).toEqual({ id: 'one' });
  });

  it('is told once where a flaw of its file says why, and twice where it is damaged beside', async () => {
    const { backend } = store;
    const place = backend.locate(1, await refOf(ONE));
    const file = await placeIn(store, ONE);
    const flaws = async () => [{ place, reason: 'has mode 0000', hint: 'run chmod' }];
    const told = async (why: Error) =>
      (await findingsIn(without(await refOf(ONE), why, { flaws }))).map(({ reason }) => reason).sort();
    expect(await told(failing('EACCES'))).toEqual(['has mode 0000']);
    expect(await told(corrupt('it is torn'))).toEqual(['has mode 0000', 'it is torn']);
    expect(file).toContain('documents/');
  });
});

describe('a slot that cannot be read', () => {
  const last = 'the last slot that works cannot be removed: the store could never be unlocked again';

  it('is not counted among those that are left, nor for lost when it is another', async () => {
    const own = store.keyring.slotId;
    const unread = () => without(slotRef(own), failing('EACCES'));
    expect(await refused(removeSlot(unread(), own))).toMatchObject({ kind: 'conflict', message: last });
    const { id } = await addSlot(store, { kind: 'raw', key: Uint8Array.from(OTHER_KEY) });
    expect(await refused(removeSlot(unread(), id))).toMatchObject({
      kind: 'unavailable',
      message: 'the disk says EACCES',
    });
    expect(await listSlots(store)).toHaveLength(2);
    const damaged = without(slotRef(own), corrupt('it is torn'));
    expect(await refused(removeSlot(damaged, id))).toMatchObject({ kind: 'conflict', message: last });
    await removeSlot(unread(), own);
    expect((await listSlots(store)).map((slot) => slot.id)).toEqual([id]);
  });

  it('is named beside a lost list of slots', async () => {
    const { id } = await addSlot(store, { kind: 'raw', key: Uint8Array.from(OTHER_KEY) });
    await tamper(store, [SLOT_LIST, undefined]);
    const torn = without(slotRef(id), corrupt('it is torn'));
    expect((await findingsIn(torn)).map(({ reason }) => reason).sort()).toEqual(['is missing', 'it is torn']);
  });

  it('leaves nothing to seal everything again for, when it is damaged and was the last', async () => {
    const { backend, keyring } = store;
    const read = async (generation: number, ref: BlobRef) =>
      ref.area === 'slots' ? Buffer.from('damaged') : backend.read(generation, ref);
    const damaged = new SealedStore(replacing(backend, { read }), keyring);
    expect(await refused(rekey(damaged, { withoutDamaged: true }))).toMatchObject({
      kind: 'corrupt',
      message: 'memory has no valid key slot left',
    });
    expect(await backend.state()).toMatchObject({ generation: 1 });
  });
});

it('a lost list of slots is made anew only with the slot that unlocked the store, and if it is the only one', async () => {
  const { backend, keyring } = store;
  const root = await keyring.root(backend, 1);
  const survey = new Survey(root, (ref) => backend.locate(1, ref));
  const canBeMade = async (slotId = keyring.slotId): Promise<boolean> => {
    const opener = replacing(keyring, { slotId });
    return checkSlots(survey, await readSlotFiles(backend, 1), opener).listCanBeMade;
  };
  expect(await canBeMade()).toBe(true);
  expect(await canBeMade('0'.repeat(16))).toBe(false);
  await addSlot(store, { kind: 'raw', key: Uint8Array.from(OTHER_KEY) });
  expect(await canBeMade()).toBe(false);
});
