/** What a server depends on, as it is now: its store, and room on its disks. For those who watch it. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Location } from '../store/backends/backend-kind.ts';
import { directoryOf } from '../store/backends/registry.ts';
import { WentBack } from '../store/backends/witness.ts';
import type { Store } from '../store/store.ts';

/** `went-back` is behind what was seen of it, and not used. */
export type StoreCondition = 'available' | 'unavailable' | 'went-back';

/** A disk or database that takes longer does not answer, for those who wait for their numbers. */
const ANSWERS_WITHIN_MS = 2000;

/** How a look at the store goes. Never throws. */
export function conditionOf(store: Store): Promise<StoreCondition> {
  const look = store.revision().then(
    (): StoreCondition => 'available',
    (error: unknown): StoreCondition => (error instanceof WentBack ? 'went-back' : 'unavailable'),
  );
  return inTime(look, 'unavailable');
}

export interface FreeBytes {
  readonly storeFreeBytes?: number;
  readonly auditFreeBytes?: number;
}

/** What is left for the server on its disks; nothing is said of one that can't be asked. */
export async function freeBytes(location: Location, auditFile: string | undefined): Promise<FreeBytes> {
  const [store, audit] = await Promise.all([
    freeIn(directoryOf(location)),
    freeIn(auditFile && dirname(auditFile)),
  ]);
  return {
    ...(store === undefined ? {} : { storeFreeBytes: store }),
    ...(audit === undefined ? {} : { auditFreeBytes: audit }),
  };
}

async function freeIn(directory: string | undefined): Promise<number | undefined> {
  if (directory === undefined) return undefined;
  const asked = statfs(directory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
  return inTime(asked, undefined);
}

/** @param late what stands for an answer that does not come in time. */
async function inTime<T>(answer: Promise<T>, late: T): Promise<T> {
  const given = new AbortController();
  const limit = pause(ANSWERS_WITHIN_MS, late, { signal: given.signal, ref: false }).catch(() => late);
  try {
    return await Promise.race([answer, limit]);
  } finally {
    given.abort();
  }
}
