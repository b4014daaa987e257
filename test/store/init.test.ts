import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { initStore } from '../../src/store/administration/init.ts';
import { examineStore } from '../../src/store/administration/repair.ts';
import { KEY, openWithKey, rawCredential, temporaryDirectory } from './temporary-store.ts';

const slots = () => [{ kind: 'raw', key: Uint8Array.from(KEY) } as const];
const ref = { collection: 'things', id: 'one' };

it('initStore makes a store that has its first documents from the start', async () => {
  const directory = join(temporaryDirectory(), 'store');
  await initStore({
    location: directory,
    slots: slots(),
    furnish: (store) => store.transact((tx) => tx.put(ref, { n: 1 })),
  });
  const store = await openWithKey(directory);
  expect(await store.read((view) => view.get(ref))).toEqual({ n: 1 });
  expect(await store.backend.state()).toMatchObject({ generation: 1, revision: 0 });
  expect(await examineStore({ location: directory, credentials: [rawCredential()] })).toMatchObject({
    findings: [],
  });
});

it('initStore makes no store when the first documents cannot be had', async () => {
  const parent = temporaryDirectory();
  const furnish = () => Promise.reject(new Error('no documents'));
  await expect(initStore({ location: join(parent, 'store'), slots: slots(), furnish })).rejects.toThrow(
    'no documents',
  );
  expect(readdirSync(parent)).toEqual([]);
});
