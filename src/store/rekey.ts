import { unsupported } from '../errors.ts';
import type { SealedStore } from './sealed-store.ts';

export interface RekeyOptions {
  /** Called now and then with the number of files sealed again and their total. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Replaces the root key and seals everything again. Every slot keeps working with its old secret.
 * Writers wait meanwhile, readers don't. Killed at any point, the store is as before or wholly re-keyed.
 * @returns the number of files sealed again.
 */
export async function rekey(_store: SealedStore, _options: RekeyOptions = {}): Promise<number> {
  throw unsupported('not yet');
}
