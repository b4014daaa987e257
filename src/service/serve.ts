import { invalid, refusedAs } from '../ground/errors.ts';
import { openStore } from '../store/open.ts';
import type { SealedStore } from '../store/sealed/sealed-store.ts';
import type { Credential } from '../store/slots/unlock.ts';
import { Control } from './control.ts';
import type { DoorKind } from './door.ts';
import { boundHeap } from './heap.ts';
import type { Log } from './log.ts';
import { Service, type ServiceSettings } from './service.ts';
import { remembering, type UnsealKey } from './unseal-keys.ts';

/** Options for serving a store with one protocol. */
interface ServeOptions<S> {
  readonly settings: ServiceSettings;
  /** Credentials to unlock the store; without any, the server starts sealed. */
  readonly credentials: readonly Credential[];
  readonly kind: DoorKind<S>;
  readonly door: S;
  /** Number of processes that answer requests; 1 is only this one. */
  readonly workers: number;
  readonly log: Log;
}

/** Running server. */
export interface Serving<S> {
  /** Addresses: `http://127.0.0.1:8200`, `unix:/run/coffer.sock`. */
  readonly addresses: readonly string[];
  readonly sealed: boolean;
  /** Reopens the audit file after it was moved, and clears all caches. */
  reload(): Promise<void>;
  /** Applies changed settings of the protocol. */
  renew(door: S): Promise<void>;
  /** Stops accepting requests, finishes those in progress, and resolves when everything is closed. */
  close(): Promise<void>;
}

const MAX_WORKERS = 256;

/**
 * Serves a store until `close`.
 * @throws `invalid` for an impossible number of workers; `denied` if a key was given and opens nothing; and as
 * `openStore` and the protocol
 */
export async function serveStore<S>(options: ServeOptions<S>): Promise<Serving<S>> {
  const { settings, workers, kind, log } = options;
  if (!Number.isSafeInteger(workers) || workers < 1 || workers > MAX_WORKERS) {
    throw invalid(`the number of workers must be 1 to ${MAX_WORKERS}`, { field: 'workers' });
  }
  const control = new Control(settings.location, log, () => kind.describe?.() ?? {});
  const { keys, store } = await openOrStaySealed(options);
  // The running server keeps only this part of the options: the others may contain secrets.
  const parts: Parts<S> = { settings, kind, door: options.door, control, log };
  const running =
    workers === 1 ? await runHere(parts, store, keys) : await runWorkers(parts, workers, store, keys);
  return { ...running, sealed: store === undefined, reload: () => control.reload() };
}

interface Parts<S> extends Pick<ServeOptions<S>, 'settings' | 'kind' | 'door' | 'log'> {
  readonly control: Control;
}

type Running<S> = Pick<Serving<S>, 'addresses' | 'renew' | 'close'>;

async function runHere<S>(
  { settings, kind, door, control, log }: Parts<S>,
  store: SealedStore | undefined,
  keys: readonly UnsealKey[],
): Promise<Running<S>> {
  const service = await control.add(async () => {
    const made = await Service.create({ settings, server: control, log });
    if (store !== undefined) await made.adopt(store, keys);
    return made;
  });
  if (store !== undefined) control.unsealedWith(keys);
  try {
    const opened = await kind.open(service, door);
    boundHeap();
    return {
      addresses: opened.addresses,
      renew: async (changed) => opened.renew(changed),
      async close() {
        await opened.close();
        await service.close();
      },
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}

async function runWorkers<S>(
  { settings, door, control, log }: Parts<S>,
  count: number,
  store: SealedStore | undefined,
  keys: readonly UnsealKey[],
): Promise<Running<S>> {
  // The store was opened only to check the keys; each worker opens it on its own.
  store?.close();
  if (store !== undefined) control.unsealedWith(keys);
  const { WorkerPool } = await import('./worker-pool.ts');
  const pool = new WorkerPool(settings, door, control, log);
  try {
    await pool.start(count);
  } catch (error) {
    await pool.close();
    throw error;
  }
  return {
    addresses: pool.addresses,
    renew: (changed) => pool.renew(changed),
    close: () => pool.close(),
  };
}

async function openOrStaySealed<S>({ settings, credentials }: ServeOptions<S>): Promise<{
  readonly keys: readonly UnsealKey[];
  readonly store: SealedStore | undefined;
}> {
  const keys: UnsealKey[] = [];
  const store = await openStore({
    location: settings.location,
    credentials: remembering(credentials, (key) => keys.push(key)),
  }).catch(refusedAs(undefined, 'sealed'));
  return { keys: store === undefined ? [] : keys, store };
}
