import type { DocumentRef, Transaction } from './store.ts';

/** Deletes a document. Where there is none nothing is written, so that nobody's memory of the store is thrown away for it. */
export async function deleteIfThere(tx: Transaction, ref: DocumentRef): Promise<void> {
  if ((await tx.get(ref)) !== undefined) tx.delete(ref);
}
