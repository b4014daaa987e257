import { expect, it } from 'vitest';
import { notFound, unavailable } from '../../src/ground/errors.ts';
import { lockedBecause } from '../../src/store/handed-over.ts';
import { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { memoryStore } from './memory-store.ts';
import { replacing } from './struck-backend.ts';

it('a process that got a store from another holds it for lost where it is gone, and not where it cannot be reached', async () => {
  const { backend, keyring } = await memoryStore();
  const place = { slotId: keyring.slotId, generation: 1 };
  const holding = (header: () => Promise<Uint8Array>) =>
    lockedBecause(new SealedStore(replacing(backend, { header }), keyring), place);
  expect(await holding(() => backend.header())).toBeUndefined();
  expect(await holding(() => Promise.reject(notFound('no store')))).toBe('the store no longer exists');
  const unreachable = unavailable('the database does not answer');
  await expect(holding(() => Promise.reject(unreachable))).rejects.toBe(unreachable);
  expect(await lockedBecause(new SealedStore(backend, keyring), { ...place, generation: 2 })).toBe(
    'the store was rekeyed',
  );
  expect(await lockedBecause(new SealedStore(backend, keyring), { ...place, slotId: '0'.repeat(16) })).toBe(
    'the slot that unlocked it was removed',
  );
});
