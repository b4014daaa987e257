import { expect, it } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { type LoadEntry, Tags } from '../../src/tags/tags.ts';
import { refused } from '../refusal.ts';
import { FakeStore } from './fake-store.ts';

const ORGANIZATION = 'acme';
const everything = { page: { number: 1, size: 1000 } };

async function newTags(): Promise<{ store: FakeStore; tags: Tags }> {
  const store = new FakeStore();
  const tags = new Tags({ store, clock: systemClock, random: systemRandom });
  await tags.organizations.create({ name: ORGANIZATION, email: null });
  return { store, tags };
}

async function* stream(entries: Iterable<LoadEntry>): AsyncGenerator<LoadEntry> {
  yield* entries;
}

it('a bulk load takes a stream of tags and tagged workspaces, and the same again without effect', async () => {
  const { store, tags } = await newTags();
  const entries: LoadEntry[] = [
    { tag: 'Lonely' },
    { workspace: 'a', tags: ['x', 'Y'] },
    { workspace: 'b', tags: ['y', 'y'] },
    { workspace: 'c', tags: [] },
  ];
  expect(await tags.load(ORGANIZATION, stream(entries))).toEqual({ tags: 1, workspaces: 3, attachments: 4 });
  const pool = async () =>
    (await tags.pool.list(ORGANIZATION, everything)).items.map(({ name, instances }) => [name, instances]);
  const expected = [
    ['lonely', 0],
    ['x', 1],
    ['y', 2],
  ];
  expect(await pool()).toEqual(expected);
  const transactions = store.written.length;
  await tags.load(ORGANIZATION, entries);
  expect(await pool()).toEqual(expected);
  expect(store.written).toHaveLength(transactions);
});

it('a bulk load that is large commits several transactions', async () => {
  const { store, tags } = await newTags();
  function* workspaces(): Generator<LoadEntry> {
    for (let i = 0; i < 1200; i++) {
      yield { workspace: `w${i}`, tags: Array.from({ length: 99 }, (_, j) => `t${(i + j) % 300}`) };
    }
  }
  const before = store.written.length;
  await tags.load(ORGANIZATION, workspaces());
  expect(store.written.length - before).toBe(3);
  const { items, total } = await tags.pool.list(ORGANIZATION, everything);
  expect(total).toBe(300);
  expect(items.reduce((sum, { instances }) => sum + instances, 0)).toBe(1200 * 99);
});

it('a bulk load refuses a name against the rules, and an unknown organization', async () => {
  const { tags } = await newTags();
  expect(await refused(tags.load(ORGANIZATION, [{ tag: 'a' }, { tag: '' }]))).toMatchObject({
    kind: 'invalid',
    message: "Name can't be blank",
  });
  expect(await refused(tags.load(ORGANIZATION, [{ workspace: 'a b', tags: [] }]))).toMatchObject({
    kind: 'invalid',
    message: 'Name can only include letters, numbers, hyphens and underscores',
  });
  expect((await tags.pool.list(ORGANIZATION, everything)).total).toBe(0);
  expect(await refused(tags.load('nobody', []))).toMatchObject({ kind: 'not-found' });
});
