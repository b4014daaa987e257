import { beforeEach, describe, expect, it } from 'vitest';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { DocumentRef } from '../../src/store/store.ts';
import { Together } from '../../src/store/together.ts';
import { memoryStore } from './memory-store.ts';

let store: SealedStore;
let together: Together;
beforeEach(async () => {
  store = await memoryStore();
  together = new Together(store);
});

const ref = (id: string): DocumentRef => ({ collection: 'c', id });
const read = (id: string) => store.read((view) => view.get(ref(id)));

/** Adds one to a count, and puts a document of its own. */
const add = (own: string) =>
  together.transact(async (tx) => {
    const { count = 0 } = (await tx.get<{ count: number }>(ref('count'))) ?? {};
    tx.put(ref('count'), { count: count + 1 });
    tx.put(ref(own), { at: count });
    return count;
  });

describe('changes that come together', () => {
  it('are made one after the other, in far fewer transactions', async () => {
    const before = await store.revision();
    const counts = await Promise.all(Array.from({ length: 100 }, (_, index) => add(`own-${index}`)));
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(await read('count')).toEqual({ count: 100 });
    const revisions = Number((await store.revision()).split('-')[1]) - Number(before.split('-')[1]);
    expect(revisions).toBeLessThanOrEqual(3);
  });

  it('leave nothing of one that fails, and go on', async () => {
    const failing = together.transact(async (tx) => {
      tx.put(ref('count'), { count: 1000 });
      tx.put(ref('mine'), {});
      tx.delete(ref('own-a'));
      throw new Error('refused');
    });
    const outcomes = await Promise.allSettled([add('own-a'), failing, add('own-b')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect([await read('count'), await read('mine'), await read('own-a')]).toEqual([
      { count: 2 },
      undefined,
      { at: 0 },
    ]);
  });

  it('all fail when they can not be made durable, and later ones do not', async () => {
    const { transact } = store;
    store.transact = async (change) => {
      await transact.call(store, change as never);
      throw new Error('the disk is gone');
    };
    const outcomes = await Promise.allSettled([add('a'), add('b')]);
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : ''))).toEqual([
      'Error: the disk is gone',
      'Error: the disk is gone',
    ]);
    store.transact = transact;
    expect(await add('c')).toBe(2);
  });

  it('are refused by a store that is closed', async () => {
    store.close();
    await expect(Promise.all([add('a'), add('b')])).rejects.toThrow('the store is sealed');
  });
});
