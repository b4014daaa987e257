import { asCofferError } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Backend } from '../backends/backend.ts';
import type { WentBack } from '../backends/witness.ts';
import type { RootKey } from '../root-key.ts';
import type { Transaction } from '../store.ts';
import type { Keyring } from './keyring.ts';

/**
 * The owner's word that a state counts which is older than what others have seen. It is sealed, so nobody else can give it; and it
 * names a revision above all that were seen until then, so that it says nothing of what is put in place later.
 * @see docs/decisions/0110
 */
const ACCEPTANCE = { collection: 'store', id: 'accepted' } as const;

/** @param revision from which the store goes on. */
export const markAccepted = (tx: Transaction, revision: number): void => tx.put(ACCEPTANCE, { revision });

/** The root key of the state that was refused, if its owner has accepted it since. */
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
    // What doesn't open with the keys of this process was accepted by nobody.
    return undefined;
  }
}
