import { expect, it } from 'vitest';
import { notFound, unavailable } from '../../src/ground/errors.ts';
import { handOver, lockedBecause, takeOver } from '../../src/store/handed-over.ts';
import { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { memoryStore } from './memory-store.ts';
import { replacing } from './struck-backend.ts';
import { newStoreDirectory, openWithKey } from './temporary-store.ts';

it('a process that got a store from another holds it for lost where it is gone, and not where it cannot be reached', async () => {
  const { backend, keyring } = await memoryStore();
  const place = { slotId: keyring.slotId, generation: 1 };
  const holding = (header: () => Promise<Uint8Array>) =>
    lockedBecause(new SealedStore(replacing(backend, { header }), keyring), place);
  expect(await holding(() => backend.header())).toBeUndefined();
  expect(await holding(() => Promise.reject(notFound('no store')))).toBe('the store no longer exists');
  const { backend: other } = await memoryStore();
  expect(await holding(() => other.header())).toBe('the store was replaced by another one');
  const unreachable = unavailable('the database does not answer');
  await expect(holding(() => Promise.reject(unreachable))).rejects.toBe(unreachable);
  expect(await lockedBecause(new SealedStore(backend, keyring), { ...place, generation: 2 })).toBe(
    'the store has a new root key',
  );
  expect(await lockedBecause(new SealedStore(backend, keyring), { ...place, slotId: '0'.repeat(16) })).toBe(
    'the slot that unlocked the store was removed',
  );
});

it('a process does not take over a store in whose place there is another one, and forgets the key either way', async () => {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  const handed = await handOver(store);
  const other = await newStoreDirectory();
  const copy = () => ({ ...handed, rootKey: Buffer.from(handed.rootKey) });
  const foreign = copy();
  await expect(takeOver(other, foreign)).rejects.toMatchObject({
    kind: 'corrupt',
    message: 'the store was replaced by another one',
  });
  const own = copy();
  const taken = await takeOver(directory, own);
  expect(taken.id).toBe(store.id);
  for (const { rootKey } of [foreign, own])
    expect(Buffer.from(rootKey).some((byte) => byte !== 0)).toBe(false);
  await taken.close();
  await store.close();
});
