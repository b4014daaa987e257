import { expect, it } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { unavailable } from '../../src/ground/errors.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { Transaction } from '../../src/store/store.ts';
import { Tags } from '../../src/tags/tags.ts';
import { FakeStore } from './fake-store.ts';

const page = { number: 1, size: 20 };

const tagsOver = (store: FakeStore): Tags => new Tags({ store, clock: systemClock, random: systemRandom });

function* manyTags(count: number) {
  for (let i = 0; i < count; i++) yield { tag: `tag-${i}` };
}

it('deleting an organization leaves nothing of it in the store, and clears it in small pieces', async () => {
  const store = new FakeStore();
  const tags = tagsOver(store);
  await tags.organizations.create({ name: 'kept', email: null });
  const before = store.size;
  await tags.organizations.create({ name: 'acme', email: null });
  await tags.load('acme', manyTags(40_000));
  expect(store.size).toBeGreaterThan(500);
  store.written.length = 0;
  await tags.organizations.delete('acme');
  expect(store.size).toBe(before);
  expect(Math.max(...store.written)).toBeLessThanOrEqual(256);
});

/** A store whose transactions fail from some point on, as on a disk that has gone away. */
class FailingStore extends FakeStore {
  transactionsLeft = Number.POSITIVE_INFINITY;

  override transact<T>(change: (tx: Transaction) => T | Promise<T>): Promise<T> {
    if (this.transactionsLeft-- <= 0) return Promise.reject(unavailable('the disk is gone'));
    return super.transact(change);
  }
}

it('an organization is deleted for everybody even when clearing up fails, which the next deletion makes up for', async () => {
  const store = new FailingStore();
  const tags = tagsOver(store);
  for (const name of ['acme', 'other']) await tags.organizations.create({ name, email: null });
  await tags.load('acme', manyTags(500));
  store.transactionsLeft = 1;
  await tags.organizations.delete('acme');
  expect((await tags.organizations.list()).map(({ name }) => name)).toEqual(['other']);
  expect(store.size).toBeGreaterThan(10);
  store.transactionsLeft = Number.POSITIVE_INFINITY;
  await tags.organizations.create({ name: 'acme', email: null });
  expect((await tags.pool.list('acme', { page })).total).toBe(0);
  await tags.organizations.delete('other');
  await tags.organizations.delete('acme');
  expect(store.size).toBe(0);
});
