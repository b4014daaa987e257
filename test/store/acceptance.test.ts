import { beforeEach, describe, expect, it } from 'vitest';
import { corrupt, unavailable } from '../../src/ground/errors.ts';
import { WentBack } from '../../src/store/backends/witness.ts';
import type { BlobIdentity } from '../../src/store/root-key.ts';
import { acceptedRoot, markAccepted } from '../../src/store/sealed/acceptance.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { memoryStore } from './memory-store.ts';
import { replacing } from './struck-backend.ts';
import { tamper } from './tampering.ts';

const ACCEPTANCE: BlobIdentity = { space: 'document', collection: 'store', id: 'accepted' };

let store: SealedStore;
beforeEach(async () => {
  store = await memoryStore();
});

/** Whether a store that went back from revision 10 to 20, of another history, counts as accepted. */
async function isAccepted(backend = store.backend, generation = 1): Promise<boolean> {
  const place = { database: 'memory' };
  const wentBack = new WentBack(place, { generation: 1, revision: 10 }, { generation, revision: 20 });
  return (await acceptedRoot(backend, store.keyring, wentBack)) !== undefined;
}

describe('a store that went back is accepted', () => {
  it.each([
    [9, false],
    [10, false],
    [11, true],
    [20, true],
    [21, false],
  ])('by a mark of revision %d: %s', async (revision, expected) => {
    await store.transact((tx) => markAccepted(tx, revision));
    expect(await isAccepted()).toBe(expected);
  });

  it.each([[{ revision: '15' }], [{ revision: null }], [{ revision: [15] }], [{}], [[15]], [null]])(
    'by no mark such as %j',
    async (content) => {
      await tamper(store, [ACCEPTANCE, content as object]);
      expect(await isAccepted()).toBe(false);
    },
  );

  it('by none that is not there, or is damaged, nor in a generation that has no slot of its own', async () => {
    expect(await isAccepted()).toBe(false);
    await store.transact((tx) => markAccepted(tx, 15));
    expect(await isAccepted()).toBe(true);
    const damaged = replacing(store.backend, { read: async () => Buffer.alloc(100) });
    expect(await isAccepted(damaged)).toBe(false);
    const torn = replacing(store.backend, { read: () => Promise.reject(corrupt('it is torn')) });
    expect(await isAccepted(torn)).toBe(false);
    expect(await isAccepted(store.backend, 2)).toBe(false);
  });

  it('by nothing that cannot be read, but is looked at again', async () => {
    const silent = unavailable('the database does not answer');
    const struck = replacing(store.backend, { read: () => Promise.reject(silent) });
    await expect(isAccepted(struck)).rejects.toBe(silent);
  });
});
