import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addSlot, rekey, removeSlot } from '../../src/store/administration/slots.ts';
import { openStore } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { parseSlot, slotBlob, wrapRootKey } from '../../src/store/slots/slot-keys.ts';
import { openSlotList } from '../../src/store/slots/slot-list.ts';
import { intoDocuments, KEY, newStoreDirectory, openWithKey, rawCredential } from './temporary-store.ts';

const NEW_KEY = Uint8Array.from(KEY, (byte) => byte + 100);
const at = (id: string) => ({ collection: 'things', id });
const get = (store: SealedStore, id: string) => store.read((view) => view.get(at(id)));

async function filledStore(documents: number): Promise<{ directory: string; store: SealedStore }> {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  await store.transact((tx) => {
    for (let i = 0; i < documents; i++) tx.put(at(`id${i}`), { i });
  });
  store.close();
  await intoDocuments(directory);
  return { directory, store: await openWithKey(directory) };
}

describe('rekey', () => {
  it('seals everything again under other names, and every secret still opens it', async () => {
    const { directory, store } = await filledStore(600);
    await addSlot(store, { kind: 'passphrase', passphrase: 'correct horse' });
    await intoDocuments(directory);
    const before = readdirSync(join(directory, 'generation-1', 'documents'));
    const progress: [number, number][] = [];
    const { files } = await rekey(store, { onProgress: (done, total) => progress.push([done, total]) });
    expect(files).toBe(before.length);
    expect(progress.at(-1)).toEqual([files, files]);
    const after = readdirSync(join(directory, 'generation-2', 'documents'));
    expect(after).toHaveLength(before.length);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    expect(readdirSync(directory)).not.toContain('generation-1');
    for (const credential of [
      rawCredential(),
      { kind: 'passphrase', source: 'the passphrase', reveal: () => 'correct horse' } as const,
    ]) {
      const opened = await openStore({ location: directory, credentials: [credential] });
      expect(await get(opened, 'id599')).toEqual({ i: 599 });
      expect(await opened.read((view) => view.list('things'))).toHaveLength(600);
    }
  });

  it('is followed by stores that were open before', async () => {
    const { directory, store } = await filledStore(3);
    const other = await openWithKey(directory);
    expect(await get(other, 'id1')).toEqual({ i: 1 });
    const revision = await other.revision();
    await rekey(store);
    expect(await other.revision()).not.toBe(revision);
    expect(await get(other, 'id1')).toEqual({ i: 1 });
    await other.transact((tx) => tx.put(at('new'), { i: 9 }));
    expect(await get(store, 'new')).toEqual({ i: 9 });
  });

  it('shuts out an open store whose slot was removed', async () => {
    const { directory, store } = await filledStore(1);
    await addSlot(store, { kind: 'raw', key: Uint8Array.from(NEW_KEY) });
    const other = await openWithKey(directory, NEW_KEY);
    await removeSlot(other, store.keyring.slotId);
    await rekey(other);
    await expect(get(store, 'id0')).rejects.toMatchObject({
      kind: 'sealed',
      hint: 'the slot that unlocked the store was removed; unlock with another slot',
    });
    expect(await get(other, 'id0')).toEqual({ i: 0 });
  });

  it('lets readers read and makes writers wait', async () => {
    const { directory, store } = await filledStore(300);
    const reader = await openWithKey(directory);
    const writer = await openWithKey(directory);
    // Stands still in the midst of its files until others have tried.
    const [midst, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const read = store.backend.read.bind(store.backend);
    let files = 0;
    store.backend.read = async (generation, ref) => {
      if (++files === 150) {
        midst.resolve();
        await others.promise;
      }
      return read(generation, ref);
    };
    const work = rekey(store);
    await midst.promise;
    let isWriting = false;
    const written = writer.transact(async (tx) => {
      isWriting = true;
      expect((await writer.backend.state()).generation).toBe(2);
      tx.put(at('late'), {});
    });
    for (let i = 0; i < 300; i++) expect(await get(reader, `id${i}`)).toEqual({ i });
    expect(isWriting).toBe(false);
    others.resolve();
    await work;
    await written;
    expect(await get(reader, 'late')).toEqual({});
  });

  it('changes nothing when a document is damaged, and names it', async () => {
    const { directory, store } = await filledStore(5);
    const documents = join(directory, 'generation-1', 'documents');
    const path = join(documents, readdirSync(documents).sort()[3] ?? '');
    writeFileSync(path, 'damaged');
    await expect(rekey(store)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(`${path} is damaged`),
    });
    expect(readdirSync(directory).sort()).toEqual(['coffer.json', 'generation-1', 'lock', 'log', 'state']);
    expect((await store.backend.state()).generation).toBe(1);
  });

  it('can be repeated', async () => {
    const { directory, store } = await filledStore(2);
    for (let i = 0; i < 3; i++) await rekey(store);
    expect((await store.backend.state()).generation).toBe(4);
    expect(await get(await openWithKey(directory), 'id1')).toEqual({ i: 1 });
  });
});

describe('an older version of one file', () => {
  it('is taken for the present one until the next rekey, and refused from then on', async () => {
    const { directory, store } = await filledStore(1);
    const root = await store.keyring.root(store.backend, 1);
    const name = root.refOf({ space: 'document', ...at('id0') }).name;
    const path = join(directory, 'generation-1', 'documents', name);
    const older = readFileSync(path);
    await store.transact((tx) => tx.put(at('id0'), { i: 'newer' }));
    await intoDocuments(directory);
    writeFileSync(path, older);
    expect(await get(await openWithKey(directory), 'id0')).toEqual({ i: 0 });
    await rekey(store);
    const next = await store.keyring.root(store.backend, 2);
    const present = next.refOf({ space: 'document', ...at('id0') }).name;
    writeFileSync(join(directory, 'generation-2', 'documents', present), older);
    await expect(get(await openWithKey(directory), 'id0')).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(`${present} is damaged`),
    });
  });
});

describe('somebody who has an old root key and may write', () => {
  const FORGED = Buffer.alloc(32, 0xee);

  /** The first root key, and the slot's pairing key from the list that it opens. */
  async function stolen(store: SealedStore): Promise<Buffer> {
    const [slot] = await openSlotList(store.backend, await store.keyring.root(store.backend, 1));
    return slot?.pairingKey ?? Buffer.alloc(0);
  }

  /** Puts a root key of their own into the store's only slot, wrapped with a stolen pairing key. */
  async function plant(directory: string, storeId: string, pairingKey: Buffer): Promise<void> {
    const [generation = ''] = readdirSync(directory).filter((name) => name.startsWith('generation-'));
    const slots = join(directory, generation, 'slots');
    const [file = ''] = readdirSync(slots);
    const slot = parseSlot(file.replace('.json', ''), readFileSync(join(slots, file)), { file });
    const number = Number(generation.replace('generation-', ''));
    const rootKey = wrapRootKey(FORGED, pairingKey, { storeId, generation: number, slot });
    writeFileSync(join(slots, file), slotBlob({ ...slot, rootKey }).bytes);
  }

  it('can make owners work under a root key of theirs while the slots are those of then', async () => {
    const { directory, store } = await filledStore(1);
    const pairingKey = await stolen(store);
    await rekey(store);
    await plant(directory, store.id, pairingKey);
    const owner = await openWithKey(directory);
    expect((await owner.keyring.root(owner.backend, 2)).export()).toEqual(FORGED);
  });

  it.each(['before the rekey', 'after it'])(
    'is shut out once every slot is a new one, made %s',
    async (when) => {
      const { directory, store } = await filledStore(1);
      const pairingKey = await stolen(store);
      if (when === 'after it') await rekey(store);
      await addSlot(store, { kind: 'raw', key: Uint8Array.from(NEW_KEY) });
      const other = await openWithKey(directory, NEW_KEY);
      await removeSlot(other, store.keyring.slotId);
      if (when === 'before the rekey') await rekey(other);
      await intoDocuments(directory);
      await plant(directory, store.id, pairingKey);
      await expect(openWithKey(directory, NEW_KEY)).rejects.toMatchObject({
        kind: 'corrupt',
        message: expect.stringContaining('the key in it was not written by this store'),
      });
    },
  );
});
