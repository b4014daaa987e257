import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rekey } from '../../src/store/administration/slots.ts';
import type { BlobIdentity } from '../../src/store/root-key.ts';
import { COLLECTIONS, type Head, headOf, PAGE_IDS, pageOf } from '../../src/store/sealed/collection-index.ts';
import { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { SLOT_LIST } from '../../src/store/slots/slot-list.ts';
import { memoryStore } from './memory-store.ts';
import { at, contentOf, examined, fillSmall, repaired, smallStore } from './repairing.ts';
import { findingsIn, placeIn, tamper } from './tampering.ts';
import { intoDocuments, openWithKey } from './temporary-store.ts';

/** So many that there are three pages. */
const COUNT = Math.ceil(PAGE_IDS * 1.6);
const idOf = (i: number): string => `id-${String(i).padStart(5, '0')}`;
const document = (id: string, collection = 'things'): BlobIdentity => ({
  space: 'document',
  ...at(id, collection),
});
const list = (store: SealedStore, collection = 'things') => store.read((view) => view.list(collection));
const get = (store: SealedStore, id: string, collection = 'things') =>
  store.read((view) => view.get(at(id, collection)));

/** With nothing in its cache. */
const again = ({ backend, keyring }: SealedStore): SealedStore => new SealedStore(backend, keyring);

/** What is sealed as an index, or a part of it. */
async function indexOf<T>({ backend, keyring }: SealedStore, identity: BlobIdentity): Promise<T> {
  const { generation } = await backend.state();
  const root = await keyring.root(backend, generation);
  const ref = root.refOf(identity);
  const bytes = await backend.read(generation, ref);
  if (bytes === undefined) throw new Error('there is no such index');
  return JSON.parse(root.open(ref, bytes, backend.place).json) as T;
}

describe('a collection of many documents', () => {
  let store: SealedStore;
  let pages: Extract<Head, { pages: unknown }>['pages'];
  beforeAll(async () => {
    store = await memoryStore();
    await store.transact((tx) => {
      for (let i = 0; i < COUNT; i++) tx.put(at(idOf(i)), { i });
    });
    ({ pages } = await indexOf<{ pages: typeof pages }>(store, headOf('things')));
  });

  it('has nothing under an ID that was never put, and misses each that is lost', async () => {
    expect(pages.length).toBeGreaterThan(2);
    for (const id of ['a', idOf(0).slice(0, -1), `${idOf(7)}x`, `${pages[1]?.from}x`, 'z'])
      expect(await get(again(store), id)).toBeUndefined();
    const froms = pages.slice(1).map(({ from }) => from);
    const before = idOf(Number(froms[0]?.slice(3)) - 1);
    for (const id of [idOf(0), before, ...froms, idOf(COUNT - 1)]) {
      const content = { i: Number(id.slice(3)) };
      await tamper(store, [document(id), undefined]);
      await expect(get(again(store), id)).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${await placeIn(store, document(id))} is missing`,
      });
      await tamper(store, [document(id), content]);
    }
    expect(await findingsIn(store)).toEqual([]);
  });

  it('is not changed by the deletion of what is not in it', async () => {
    const revision = await store.revision();
    await store.transact((tx) => {
      for (const id of ['a', `${pages[1]?.from}x`, 'z']) tx.delete(at(id));
    });
    expect(await store.revision()).toBe(revision);
    await store.transact((tx) => {
      tx.delete(at('a'));
      tx.delete(at(idOf(COUNT - 1)));
    });
    expect((await list(again(store))).at(-1)).toBe(idOf(COUNT - 2));
    await store.transact((tx) => tx.put(at(idOf(COUNT - 1)), { i: COUNT - 1 }));
  });

  it('lists a lost document once that is put again', async () => {
    const id = pages[1]?.from ?? '';
    await tamper(store, [document(id), undefined]);
    await again(store).transact((tx) => tx.put(at(id), { i: Number(id.slice(3)) }));
    const ids = await list(again(store));
    expect(ids).toHaveLength(COUNT);
    expect(new Set(ids).size).toBe(COUNT);
    expect(await findingsIn(store)).toEqual([]);
  });

  it.each([
    ['before its first', (from: string) => `${from.slice(0, -1)}-`],
    ['that the next page begins with', (_: string, next: string) => next],
    ['behind that', (_: string, next: string) => `${next}x`],
  ])('has a page that contradicts another when it lists an ID %s', async (_, wrong) => {
    const [, { page, from } = { page: 0, from: '' }, next] = pages;
    const right = await indexOf<{ ids: string[] }>(store, pageOf('things', page));
    const id = wrong(from, next?.from ?? '');
    const ids = [...right.ids, id].sort();
    await tamper(store, [pageOf('things', page), { ids }]);
    const file = await placeIn(store, pageOf('things', page));
    expect(await findingsIn(store)).toContainEqual({
      file,
      reason: 'contradicts another file of the same index',
      hint: expect.stringContaining('doctor --repair'),
    });
    await tamper(store, [pageOf('things', page), right]);
  });
});

describe('an index that does not say what there is', () => {
  let store: SealedStore;
  beforeEach(async () => {
    store = await memoryStore();
    await fillSmall(store);
  });
  const rekeyed = async () => {
    const { leftOut } = await rekey(store, { withoutDamaged: true });
    expect(await findingsIn(store)).toEqual([]);
    return leftOut.map(({ reason }) => reason).sort();
  };

  it('lists a lost document once that is put again', async () => {
    await tamper(store, [document('one'), undefined]);
    await again(store).transact((tx) => tx.put(at('one'), { id: 'one' }));
    expect(await list(again(store))).toEqual(['one', 'three', 'two']);
    expect(await findingsIn(store)).toEqual([]);
  });

  it('is made anew with as many others', async () => {
    await tamper(store, [headOf('things'), { ids: ['gone', 'three', 'two'] }]);
    expect(await rekeyed()).toEqual(['is missing', 'is missing from the index of its collection']);
    expect(await list(store)).toEqual(['one', 'three', 'two']);
  });

  it('is made anew for the collections with as many others', async () => {
    await tamper(store, [headOf(COLLECTIONS), { ids: ['none', 'others'] }], [headOf('none'), { ids: ['x'] }]);
    expect(await rekeyed()).toEqual(['is missing', 'is not listed in the index of the store']);
    expect(await list(store, COLLECTIONS)).toEqual(['others', 'things']);
    expect(await list(store)).toEqual(['one', 'three', 'two']);
  });

  it('is dropped with the last document of its collection', async () => {
    await tamper(store, [document('solo', 'others'), undefined]);
    expect(await rekeyed()).toEqual(['is missing']);
    expect(await list(store, COLLECTIONS)).toEqual(['things']);
    expect(await list(store, 'others')).toEqual([]);
  });

  it('has no parts that nothing leads to, once everything is sealed again', async () => {
    const parts: readonly [BlobIdentity, object][] = [
      [pageOf('things', 7), { ids: ['one'] }],
      [pageOf('others', 0), { ids: ['solo'] }],
    ];
    await tamper(store, ...parts, [headOf('others'), { ids: [] }]);
    const unused = 'is an unused part of an index';
    expect(await rekeyed()).toEqual([unused, unused, 'is missing from the index of its collection']);
    expect(await list(store, 'others')).toEqual(['solo']);
    const { generation } = await store.backend.state();
    // Four documents, the index of each collection, that of the store, and the list of slots.
    expect(await store.backend.names(generation, 'documents')).toHaveLength(8);
  });
});

describe('the repair of an index whose content is another', () => {
  it('keeps what was listed and is lost, lists what is there, and deletes the parts that are not used', async () => {
    const directory = await smallStore();
    const store = await openWithKey(directory);
    await tamper(
      store,
      [headOf('things'), { ids: ['three', 'two'] }],
      [pageOf('things', 3), { ids: ['one'] }],
      [pageOf('others', 3), { ids: ['solo'] }],
    );
    store.close();
    await intoDocuments(directory);
    const { mended: done } = await repaired(directory);
    expect(done.map(({ done: text }) => text).sort()).toEqual([
      'was a leftover of the index of others and was deleted',
      'was missing from the index of things and was added to it again (one); if you had deleted it, delete it again',
      'was rebuilt: it is the index of things, with 3 entries',
    ]);
    expect(await examined(directory)).toEqual([]);
    expect(Object.keys(await contentOf(directory)).sort()).toEqual([
      'others/solo',
      'things/one',
      'things/three',
      'things/two',
    ]);
  });
});

describe('the repair of a store', () => {
  it('says that it has made the list of the only slot anew, or that of collections', async () => {
    const directory = await smallStore();
    const store = await openWithKey(directory);
    await tamper(store, [SLOT_LIST, undefined], [headOf(COLLECTIONS), undefined]);
    const files = [await placeIn(store, SLOT_LIST), await placeIn(store, headOf(COLLECTIONS))];
    store.close();
    await intoDocuments(directory);
    expect((await repaired(directory)).mended).toEqual([
      {
        file: files[0],
        done: 'was rebuilt: it lists the only key slot of the store, and the label of that slot is lost',
      },
      { file: files[1], done: 'was rebuilt: it is the index of the store, with 2 entries' },
    ]);
    expect(await examined(directory)).toEqual([]);
  });
});

describe('the list of collections', () => {
  it('grows beyond a page, and is empty again when all are', async () => {
    const store = await memoryStore();
    const names = Array.from({ length: PAGE_IDS + 1 }, (_, i) => idOf(i));
    await store.transact((tx) => {
      for (const name of names) tx.put(at('one', name), {});
    });
    expect(await list(store, COLLECTIONS)).toEqual(names);
    await store.transact((tx) => {
      for (const name of names) tx.delete(at('one', name));
    });
    expect(await list(again(store), COLLECTIONS)).toEqual([]);
    expect(await findingsIn(store)).toEqual([]);
    await again(store).transact((tx) => tx.put(at('one', 'next'), {}));
    expect(await list(again(store), COLLECTIONS)).toEqual(['next']);
  });
});
