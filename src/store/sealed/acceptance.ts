import { asCofferError } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Backend } from '../backends/backend.ts';
import type { WentBack } from '../backends/witness.ts';
import type { RootKey } from '../root-key.ts';
import type { Keyring } from '../slots/slot-list.ts';
import type { Transaction } from '../store.ts';

/**
 * Record by which the owner accepts a state older than what others have seen. It is sealed, so only the owner can
 * create it; and it names a revision above all that were seen until then, so that it does not apply to states that are
 * put in place later.
 * @see docs/decisions/0110
 */
const ACCEPTANCE = { collection: 'store', id: 'accepted' } as const;

/**
 * Adds the record to a transaction.
 * @param revision first revision after the acceptance
 */
export const markAccepted = (tx: Transaction, revision: number): void => tx.put(ACCEPTANCE, { revision });

/** Returns the root key of a refused state if its owner has accepted it since. */
export async function acceptedRoot(
  backend: Backend,
  keyring: Keyring,
  { from, to }: WentBack,
): Promise<RootKey | undefined> {
  try {
    const root = await keyring.open(backend, to.generation);
    const ref = root.refOf({ space: 'document', ...ACCEPTANCE });
    const bytes = await backend.read(to.generation, ref);
    if (bytes === undefined) return undefined;
    const { json } = root.open(ref, bytes, backend.locate(to.generation, ref));
    const value: unknown = JSON.parse(json);
    const revision = isObject(value) ? value['revision'] : undefined;
    const isSince = typeof revision === 'number' && revision > from.revision && revision <= to.revision;
    return isSince ? root : undefined;
  } catch (error) {
    if (asCofferError(error)?.kind === 'unavailable') throw error;
    // A state that does not open with the keys of this process was not accepted by the owner.
    return undefined;
  }
}
