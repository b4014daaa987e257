import { unsupported } from '../errors.ts';
import type { SealedStore } from './sealed-store.ts';

/** A new unlocked store that lives in memory and is gone with the process; sealed all the same. */
export async function memoryStore(): Promise<SealedStore> {
  throw unsupported('not yet');
}
