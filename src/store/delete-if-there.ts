import type { DocumentRef, Transaction } from './store.ts';

/** Deletes a document if it exists. Otherwise it writes nothing, so that no caches of the store are invalidated. */
export async function deleteIfThere(tx: Transaction, ref: DocumentRef): Promise<void> {
  if ((await tx.get(ref)) !== undefined) tx.delete(ref);
}
