import { expect, it } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { WorkspaceRecord } from '../../src/tags/organization.ts';
import type { Slice } from '../../src/tags/record-table.ts';
import { Tags } from '../../src/tags/tags.ts';
import { FakeStore } from './fake-store.ts';

const ORGANIZATION = 'acme';

async function newPool(): Promise<{ store: FakeStore; tags: Tags; id: string }> {
  const store = new FakeStore();
  const tags = new Tags({ store, clock: systemClock, random: systemRandom });
  await tags.organizations.create({ name: ORGANIZATION, email: null });
  const { id } = await tags.workspaces.create(ORGANIZATION, { name: 'w', description: null, tags: [] });
  return { store, tags, id };
}

/** How many keys the only workspace holds, those of deleted tags included. */
function keysHeld(store: FakeStore): number {
  for (const { collection, id, value } of store.all()) {
    if (!collection.endsWith('/workspaces') || !id.startsWith('slice-')) continue;
    return (value as Slice<WorkspaceRecord>).records[0]?.tags.length ?? 0;
  }
  return 0;
}

it('an edit does not let a workspace fill up with keys of tags that were deleted since', async () => {
  const { store, tags, id } = await newPool();
  await tags.workspaces.tag({ id }, [{ name: 'lasting' }]);
  let most = 0;
  for (let round = 0; round < 40; round++) {
    const names = Array.from({ length: 10 }, (_, i) => ({ name: `passing-${round}-${i}` }));
    await tags.workspaces.tag({ id }, names);
    most = Math.max(most, keysHeld(store));
    const { items } = await tags.pool.list(ORGANIZATION, {
      search: 'passing',
      page: { number: 1, size: 100 },
    });
    await tags.pool.delete(
      ORGANIZATION,
      items.map((tag) => tag.id),
    );
  }
  expect(most).toBeLessThanOrEqual(64);
  expect((await tags.workspaces.get({ id })).tagNames).toEqual(['lasting']);
});

it('an edit keeps every tag of a workspace that carries many', async () => {
  const { tags, id } = await newPool();
  const names = Array.from({ length: 300 }, (_, i) => `tag-${String(i).padStart(3, '0')}`);
  for (let i = 0; i < names.length; i += 7) {
    await tags.workspaces.tag(
      { id },
      names.slice(i, i + 7).map((name) => ({ name })),
    );
  }
  expect((await tags.workspaces.get({ id })).tagNames).toEqual(names);
});

it('an edit writes two documents to put a tag on a workspace, and three to delete it', async () => {
  const { store, tags, id } = await newPool();
  await tags.load(
    ORGANIZATION,
    Array.from({ length: 5000 }, (_, i) => ({ tag: `t${i}` })),
  );
  const { items } = await tags.pool.list(ORGANIZATION, { page: { number: 1, size: 1 } });
  const tagId = items[0]?.id ?? '';
  await tags.pool.attach(tagId, [id]);
  await tags.pool.attach(tagId, [id]);
  await tags.pool.detach(tagId, [id]);
  await tags.pool.delete(ORGANIZATION, [tagId]);
  // The second attaching changes nothing, so it writes nothing.
  expect(store.written.slice(-3)).toEqual([2, 2, 3]);
});
