import { asCofferError } from '../../../src/ground/errors.ts';
import { initStore } from '../../../src/store/administration/init.ts';
import type { SealedStore } from '../../../src/store/sealed/sealed-store.ts';
import { KEY, openWithKey } from '../temporary-store.ts';

/** The one document of the stores of these tests. */
export const thing = { collection: 'things', id: 'one' };

export const put = (store: SealedStore, n: number): Promise<void> =>
  store.transact((tx) => tx.put(thing, { n }));

/** Makes a store that `KEY` opens, without the document. */
export async function initWithKey(location: string): Promise<void> {
  await initStore({ location: location, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
}

async function withStore<T>(location: string, use: (store: SealedStore) => Promise<T>): Promise<T> {
  const store = await openWithKey(location);
  try {
    return await use(store);
  } finally {
    store.close();
  }
}

/** The document, read over connections of its own. */
export const read = (location: string): Promise<unknown> =>
  withStore(location, (store) => store.read((view) => view.get(thing)));

/** Changes the document over connections of its own. */
export const write = (location: string, n = 2): Promise<void> =>
  withStore(location, (store) => put(store, n));

/** What an error says, in a form that shows well when it is another one. */
export async function failure(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'no error';
  } catch (error) {
    const known = asCofferError(error);
    return known === undefined ? String(error) : `${known.kind}: ${known.message}`;
  }
}
