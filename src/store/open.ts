import { unsupported } from '../errors.ts';
import type { SealedStore } from './sealed-store.ts';
import type { Credential } from './slots/credential.ts';

export interface OpenOptions {
  readonly directory: string;
  /** Tried in an order that costs least: keys before passphrases. */
  readonly credentials: readonly Credential[];
}

/**
 * Unlocks a store.
 * @throws `not-found` when there is no store; `sealed` when no credential was given or revealed anything; `denied`
 * when none opens a slot; `corrupt` naming the damaged file or the newer format; `unavailable` when the directory
 * can't be read, belongs to somebody else or is writable by others.
 */
export async function openStore(_options: OpenOptions): Promise<SealedStore> {
  throw unsupported('not yet');
}
