import type { Backend } from './backends/backend.ts';
import type { Location } from './backends/backend-kind.ts';
import { backendAt } from './backends/registry.ts';
import type { Sighting } from './backends/witness.ts';
import { readHeader } from './header.ts';
import { SealedStore, type SealedStoreOptions } from './sealed/sealed-store.ts';
import { type Credential, unlock } from './slots/unlock.ts';

interface OpenStoreOptions extends SealedStoreOptions {
  readonly location: Location;
  /** Credentials, tried in order of cost: keys before passphrases. */
  readonly credentials: readonly Credential[];
  /** Time to wait for other writers before giving up, in milliseconds. Default: 30,000. */
  readonly lockWaitMs?: number;
  /** Last-seen state of the store, from this process or its predecessor. */
  readonly seen?: Sighting | undefined;
}

/**
 * Unlocks a store.
 * @throws `not-found` if there is no store; `sealed` if no credential was given or revealed anything; `denied` if none
 * opens a slot; `corrupt` naming the damaged file or the newer format; `unavailable` if the directory cannot be read,
 * belongs to another user or is writable by others, or the store is older than `seen`
 */
export async function openStore(options: OpenStoreOptions): Promise<SealedStore> {
  const { location, credentials, lockWaitMs, cacheBytes, seen } = options;
  const backend = await backendAt(location, { lockWaitMs });
  try {
    const store = await openBackend(backend, credentials, { cacheBytes });
    if (seen !== undefined) await store.expect(seen);
    return store;
  } catch (error) {
    backend.close();
    throw error;
  }
}

/**
 * Unlocks a store in any backend.
 * @throws as `openStore`
 */
export async function openBackend(
  backend: Backend,
  credentials: readonly Credential[],
  options: SealedStoreOptions = {},
): Promise<SealedStore> {
  const { id } = await readHeader(backend);
  return new SealedStore(backend, await unlock(backend, id, credentials), options);
}
