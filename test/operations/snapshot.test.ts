import { expect, it } from 'vitest';
import { openCore } from '../../src/operations/core.ts';
import type { Runner } from '../../src/operations/declaration/operation.ts';
import type { ListDocument } from '../../src/operations/json-api/pages.ts';
import { ownerRunner } from '../../src/operations/runner.ts';
import { memoryStore } from '../store/memory-store.ts';

interface Tag {
  readonly id: string;
  readonly attributes: { readonly name: string };
}

async function pageOf(runner: Runner, number: number): Promise<readonly Tag[]> {
  const raw = { organization_name: 'acme', 'page[number]': number, 'page[size]': 100 };
  const { data } = await runner.run('tags list', raw);
  return (data as ListDocument<Tag>).data;
}

it('a snapshot has every tag of one moment, whatever is deleted and made while its pages are read', async () => {
  const runner = ownerRunner(openCore(await memoryStore()));
  const names = Array.from({ length: 250 }, (_, index) => `tag-${String(index).padStart(3, '0')}`);
  const organization_name = 'acme';
  await runner.run('orgs create', { name: 'acme' });
  await runner.run('tags create', { organization_name, data: names });
  const [first] = await pageOf(runner, 1);
  let meddled = false;
  const seen = await runner.snapshot?.(async (still) => {
    const listed: string[] = [];
    for (const number of [1, 2, 3]) {
      listed.push(...(await pageOf(still, number)).map(({ attributes }) => attributes.name));
      if (meddled) continue;
      meddled = true;
      // The total stays the same, so that nothing tells of it.
      await runner.run('tags delete', { organization_name, data: [first?.id] });
      await runner.run('tags create', { organization_name, data: ['a-new-one'] });
    }
    return listed;
  });
  expect([names, ['a-new-one', ...names.slice(1)]]).toContainEqual(seen);
});

it('a snapshot refuses changes', async () => {
  const runner = ownerRunner(openCore(await memoryStore()));
  const change = runner.snapshot?.((still) => still.run('orgs create', { name: 'acme' }));
  await expect(change).rejects.toThrow('this is a read-only snapshot');
});
