import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/ground/clock.ts';
import { unavailable } from '../../../src/ground/errors.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import {
  addSlot,
  listSlots,
  rekey,
  removeSlot,
  replaceSlot,
  requireRemovable,
} from '../../../src/store/administration/slots.ts';
import { storeStatus } from '../../../src/store/administration/status.ts';
import type { Backend } from '../../../src/store/backends/backend.ts';
import { openStore } from '../../../src/store/open.ts';
import { SealedStore } from '../../../src/store/sealed/sealed-store.ts';
import { prepareSlot } from '../../../src/store/slots/new-slot.ts';
import { parseSlot, slotBlob, wrapRootKey } from '../../../src/store/slots/slot-keys.ts';
import { replacing } from '../struck-backend.ts';
import { intoDocuments, KEY, newStoreDirectory, openWithKey, rawCredential } from '../temporary-store.ts';

const NEW_KEY = Uint8Array.from(KEY, (byte) => byte + 100);
const newRaw = { kind: 'raw', key: NEW_KEY, label: 'pipeline' } as const;

async function newStore(): Promise<{ directory: string; store: SealedStore; firstId: string }> {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  await store.transact((tx) => tx.put({ collection: 'things', id: 'one' }, { n: 1 }));
  return { directory, store, firstId: store.keyring.slotId };
}

const slotFile = (directory: string, id: string, generation = 1): string =>
  join(directory, `generation-${generation}`, 'slots', `${id}.json`);

describe('the last slot that is known to work', () => {
  it('stays while another cannot be read, which may be intact', async () => {
    const { store, firstId } = await newStore();
    const { id: other } = await addSlot(store, { ...newRaw, key: Uint8Array.from(NEW_KEY) });
    const unread = unavailable('the disk does not answer');
    const read: Backend['read'] = (generation, ref) =>
      ref.area === 'slots' && ref.name === other
        ? Promise.reject(unread)
        : store.backend.read(generation, ref);
    const struck = new SealedStore(replacing(store.backend, { read }), store.keyring);
    for (const attempt of [removeSlot, requireRemovable])
      await expect(attempt(struck, firstId)).rejects.toMatchObject({ kind: 'unavailable' });
    await requireRemovable(store, firstId);
    expect((await listSlots(store)).map(({ id }) => id)).toEqual([firstId, other]);
  });
});

describe('administration of slots', () => {
  it('adds a slot that opens the same data, and lists both', async () => {
    const { directory, store, firstId } = await newStore();
    const added = await addSlot(store, { ...newRaw, key: Uint8Array.from(NEW_KEY) });
    expect(added).toMatchObject({
      kind: 'raw',
      label: 'pipeline',
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    const other = await openWithKey(directory, NEW_KEY);
    expect(await other.read((view) => view.get({ collection: 'things', id: 'one' }))).toEqual({ n: 1 });
    expect((await listSlots(other)).map(({ id, kind, label }) => [id, kind, label])).toEqual([
      [firstId, 'raw', ''],
      [added.id, 'raw', 'pipeline'],
    ]);
  });

  it('hands out shares once, and lists only their numbers', async () => {
    const { directory, store } = await newStore();
    const added = await addSlot(store, { kind: 'shares', count: 3, threshold: 2 });
    expect(added.shareTexts).toHaveLength(3);
    expect((await listSlots(store))[1]).toEqual({
      id: added.id,
      kind: 'shares',
      created: added.created,
      label: '',
      shares: { count: 3, threshold: 2 },
    });
    const texts = added.shareTexts?.slice(1) ?? [];
    const opened = await openStore({
      location: directory,
      credentials: [{ kind: 'shares', source: 'shares', reveal: () => texts }],
    });
    expect(opened.keyring.slotId).toBe(added.id);
  });

  it('shows labels only to who can unlock the store', async () => {
    const { directory, store } = await newStore();
    await addSlot(store, newRaw);
    expect((await storeStatus(directory)).slots.map(({ label }) => label)).toEqual(['', '']);
  });

  it('removes a slot, whose secret then opens nothing', async () => {
    const { directory, store, firstId } = await newStore();
    await addSlot(store, newRaw);
    await removeSlot(store, firstId);
    await expect(openWithKey(directory)).rejects.toMatchObject({ kind: 'denied' });
    const other = await openWithKey(directory, NEW_KEY);
    expect(await listSlots(other)).toHaveLength(1);
    expect(readdirSync(join(directory, 'generation-1', 'slots'))).toHaveLength(1);
  });

  it('replaces a slot in one commit, with the label of the old one, whose secret then opens nothing', async () => {
    const { directory, store, firstId } = await newStore();
    const added = await addSlot(store, { ...newRaw, key: Uint8Array.from(NEW_KEY) });
    const other = Uint8Array.from(KEY, (byte) => byte + 7);
    const { revision } = await storeStatus(directory);
    const created = await replaceSlot(store, added.id, { kind: 'raw', key: Uint8Array.from(other) });
    expect((await listSlots(store)).map(({ id, label }) => [id, label])).toEqual([
      [firstId, ''],
      [created.id, 'pipeline'],
    ]);
    expect((await storeStatus(directory)).revision - revision).toBeLessThanOrEqual(1);
    await expect(openWithKey(directory, NEW_KEY)).rejects.toMatchObject({ kind: 'denied' });
    expect(
      await (await openWithKey(directory, other)).read((view) =>
        view.get({ collection: 'things', id: 'one' }),
      ),
    ).toEqual({ n: 1 });
    await expect(replaceSlot(store, added.id, newRaw)).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('refuses to remove the last slot, and one that does not exist', async () => {
    const { store, firstId } = await newStore();
    await expect(removeSlot(store, firstId)).rejects.toMatchObject({
      kind: 'conflict',
      message: 'the last slot that works cannot be removed: the store could never be unlocked again',
    });
    await expect(removeSlot(store, '0000000000000000')).rejects.toMatchObject({
      kind: 'not-found',
      message: 'no slot "0000000000000000"',
    });
    await expect(removeSlot(store, '../../lock')).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('removes a damaged slot, but not the last that works', async () => {
    const { directory, store: before, firstId } = await newStore();
    const { id } = await addSlot(before, newRaw);
    await intoDocuments(directory);
    const store = await openWithKey(directory);
    writeFileSync(slotFile(directory, id), 'damaged');
    await expect(listSlots(store)).rejects.toMatchObject({
      message: `${slotFile(directory, id)} is damaged`,
    });
    await expect(removeSlot(store, firstId)).rejects.toMatchObject({ kind: 'conflict' });
    // Nothing is added beside what may be the only secret of somebody, until it is removed or mended.
    for (const refused of [addSlot(store, newRaw), replaceSlot(store, firstId, newRaw)])
      await expect(refused).rejects.toMatchObject({ message: `${slotFile(directory, id)} is damaged` });
    await removeSlot(store, id);
    expect(await listSlots(store)).toHaveLength(1);
  });

  it('can remove and list a slot whose file has vanished', async () => {
    const { directory, store: before } = await newStore();
    const { id } = await addSlot(before, newRaw);
    await intoDocuments(directory);
    const store = await openWithKey(directory);
    rmSync(slotFile(directory, id));
    await expect(listSlots(store)).rejects.toMatchObject({
      message: `${slotFile(directory, id)} is missing`,
    });
    await removeSlot(store, id);
    expect(await listSlots(store)).toHaveLength(1);
  });
});

describe('somebody who can write to the disk', () => {
  const planted = async (store: SealedStore) =>
    prepareSlot(newRaw, { storeId: store.id, clock: systemClock, random: systemRandom });

  it('cannot plant a slot and wait for a rekey', async () => {
    const { directory, store, firstId } = await newStore();
    const slot = (await planted(store)).wrap(new Uint8Array(32), 1);
    const path = slotFile(directory, slot.id);
    writeFileSync(path, slotBlob(slot).bytes, { mode: 0o600 });
    const refusal = { kind: 'corrupt', message: `${path} was not created by this store` };
    await expect(rekey(store)).rejects.toMatchObject(refusal);
    await expect(listSlots(store)).rejects.toMatchObject(refusal);
    await expect(addSlot(store, { ...newRaw, key: new Uint8Array(32) })).rejects.toMatchObject(refusal);
    await removeSlot(store, slot.id);
    expect((await listSlots(store)).map(({ id }) => id)).toEqual([firstId]);
  });

  it('cannot exchange the public key of a slot for their own', async () => {
    const { directory, store, firstId } = await newStore();
    const path = slotFile(directory, firstId);
    const own = parseSlot(firstId, readFileSync(path), { file: path });
    const { publicKey } = (await planted(store)).wrap(new Uint8Array(32), 1);
    writeFileSync(path, slotBlob({ ...own, publicKey }).bytes);
    await expect(rekey(store)).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${path} was not created by this store`,
    });
    await expect(openWithKey(directory)).rejects.toMatchObject({ kind: 'denied' });
  });

  it('cannot have a slot open a root key of their choice', async () => {
    const { directory, store, firstId } = await newStore();
    const path = slotFile(directory, firstId);
    const slot = parseSlot(firstId, readFileSync(path), { file: path });
    const rootKey = wrapRootKey(new Uint8Array(32), new Uint8Array(32), {
      storeId: store.id,
      generation: 1,
      slot,
    });
    writeFileSync(path, slotBlob({ ...slot, rootKey }).bytes);
    await expect(openStore({ location: directory, credentials: [rawCredential()] })).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${path} is damaged: the key in it was not written by this store`,
    });
  });

  it('cannot pass off a slot as one of another kind', async () => {
    const { directory, firstId } = await newStore();
    const path = slotFile(directory, firstId);
    const slot = parseSlot(firstId, readFileSync(path), { file: path });
    writeFileSync(path, slotBlob({ ...slot, kind: 'command' }).bytes);
    await expect(openWithKey(directory)).rejects.toMatchObject({ kind: 'denied' });
  });
});
