import type { Transaction } from '../store/store.ts';
import type { Engine } from './engine.ts';
import { keyIn, keyRef, noSuchKey } from './key-collection.ts';

/**
 * Changes data that another module stores about a key, in one transaction with the key's reference to it.
 * @param change receives the current reference, and returns the new one
 * @throws `not-found`, and as `change`; then nothing is changed
 */
export function changeKnown(
  engine: Engine,
  name: string,
  change: (tx: Transaction, knownAs: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  return engine.store.transact(async (tx) => {
    const key = await keyIn(tx, engine, name);
    if (key === undefined) throw noSuchKey(name, 'key not found');
    const { knownAs, ...document } = key.document;
    const after = await change(tx, knownAs);
    if (after === knownAs) return;
    tx.put(keyRef(engine, name), after === undefined ? document : { ...document, knownAs: after });
  });
}
