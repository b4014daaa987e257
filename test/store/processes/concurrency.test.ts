import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newStoreDirectory, openImpatiently, openWithKey } from '../temporary-store.ts';
import type { Counter } from './child.ts';
import { childProcesses } from './child-process.ts';

const start = childProcesses();

it('a store loses no update and leaves no gap when 16 processes write at once', async () => {
  const directory = await newStoreDirectory();
  const each = 25;
  const children = Array.from({ length: 16 }, () => start(directory, 'count', String(each)));
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(children.map(() => 0));
  const acknowledged = children.flatMap(({ lines }) =>
    lines.filter((line) => line.startsWith('shared ')).map((line) => Number(line.split(' ')[1])),
  );
  const all = Array.from({ length: 16 * each }, (_, i) => i + 1);
  expect(acknowledged.sort((a, b) => a - b)).toEqual(all);
  const store = await openWithKey(directory);
  expect(await store.read((view) => view.get<Counter>({ collection: 'counters', id: 'shared' }))).toEqual({
    n: all.length,
  });
  expect(statSync(join(directory, 'lock')).size).toBe(0);
});

it('a store lets readers go on while another process holds the lock', async () => {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  const ref = { collection: 'things', id: 'one' };
  await store.transact((tx) => tx.put(ref, { n: 1 }));
  const holder = start(directory, 'hold');
  await holder.said('holding');
  const reader = await openWithKey(directory);
  expect(await reader.read((view) => view.get(ref))).toEqual({ n: 1 });
  expect(await reader.read((view) => view.list('things'))).toEqual(['one']);
  holder.process.kill('SIGKILL');
  await holder.ended;
});

it('a writer is not held up by a process that was killed while it held the lock', async () => {
  const directory = await newStoreDirectory();
  const store = await openImpatiently(directory);
  for (let round = 0; round < 5; round++) {
    const holder = start(directory, 'hold');
    await holder.said('holding');
    holder.process.kill('SIGKILL');
    await holder.ended;
    await store.transact((tx) => tx.put({ collection: 'things', id: String(round) }, {}));
  }
});
