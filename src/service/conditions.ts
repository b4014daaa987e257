/**
 * Checks the current condition of a server's dependencies, for monitoring: its store, and the free space on its disks.
 */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inTime } from '../ground/pause.ts';
import type { Location } from '../store/backends/backend-kind.ts';
import { directoryOf } from '../store/backends/registry.ts';
import { WentBack } from '../store/backends/witness.ts';
import type { Store } from '../store/store.ts';

/** State of the store. `went-back`: it was rolled back to an older revision and is not used. */
export type StoreCondition = 'available' | 'unavailable' | 'went-back';

/** Response timeout of the disk or database for monitoring, in milliseconds. */
const ANSWERS_WITHIN_MS = 2000;

/** Checks the store. Never throws. */
export function conditionOf(store: Store): Promise<StoreCondition> {
  const look = store.revision().then(
    (): StoreCondition => 'available',
    (error: unknown): StoreCondition => (error instanceof WentBack ? 'went-back' : 'unavailable'),
  );
  return inTime(look, ANSWERS_WITHIN_MS, () => 'unavailable' as const);
}

interface FreeBytes {
  readonly storeFreeBytes?: number | undefined;
  readonly auditFreeBytes?: number | undefined;
}

/** Free bytes on the disks of the store and the audit log; unknown values are omitted. */
export async function freeBytes(location: Location, auditFile: string | undefined): Promise<FreeBytes> {
  const [storeFreeBytes, auditFreeBytes] = await Promise.all([
    freeIn(directoryOf(location)),
    freeIn(auditFile && dirname(auditFile)),
  ]);
  return { storeFreeBytes, auditFreeBytes };
}

async function freeIn(directory: string | undefined): Promise<number | undefined> {
  if (directory === undefined) return undefined;
  const asked = statfs(directory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
  return inTime(asked, ANSWERS_WITHIN_MS, () => undefined);
}
