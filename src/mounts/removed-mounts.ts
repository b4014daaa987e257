/** Data of removed login methods that is still to be deleted. */

import type { Store, Transaction } from '../store/store.ts';

interface Removed {
  /** Full names of collections. */
  readonly collections: readonly string[];
}

const REMOVED = { collection: 'sys', id: 'removed-mounts' } as const;
/** Number of documents deleted per transaction, so that other writers do not wait long. */
const BATCH = 500;

/**
 * Records collections for deletion, as part of removing a mount.
 * @see docs/decisions/0173
 */
export async function noteRemoved(tx: Transaction, collections: readonly string[]): Promise<void> {
  const before = await tx.get<Removed>(REMOVED);
  tx.put(REMOVED, { collections: [...(before?.collections ?? []), ...collections] });
}

/** Deletes recorded data. If the process is killed, the next call continues. */
export async function clearRemoved(store: Store): Promise<void> {
  const isLeft = () => store.read(async (view) => (await view.get<Removed>(REMOVED)) !== undefined);
  while (await isLeft()) await store.transact(clearSome, { alone: true });
}

async function clearSome(tx: Transaction): Promise<void> {
  const [collection, ...others] = (await tx.get<Removed>(REMOVED))?.collections ?? [];
  if (collection === undefined) return tx.delete(REMOVED);
  const ids = await tx.list(collection, { limit: BATCH });
  for (const id of ids) tx.delete({ collection, id });
  if (ids.length === BATCH) return;
  if (others.length === 0) tx.delete(REMOVED);
  else tx.put(REMOVED, { collections: others });
}
