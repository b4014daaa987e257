import { dirname } from 'node:path';
import { wrapFileSystem } from '../../faults/layer/functions.ts';
import { arm, disarm, install } from '../../faults/layer/layer.ts';
import type { Call } from '../../faults/layer/plan.ts';

/** Returns the calls of `node:fs` that changed or synced something below a directory while some work was done. */
export async function changesBelow(root: string, work: () => Promise<unknown>): Promise<readonly Call[]> {
  install(wrapFileSystem);
  arm({ root, watch: 'changes' });
  let calls: readonly Call[] = [];
  try {
    await work();
  } finally {
    ({ calls } = disarm());
  }
  return calls;
}

/** Paths of the files that were written last and not synced after that. */
export function unsyncedOf(calls: readonly Call[]): readonly string[] {
  const unsynced = new Set<string>();
  for (const { kind, path } of calls) {
    if (kind === 'write') unsynced.add(path);
    if (kind === 'sync') unsynced.delete(path);
  }
  return [...unsynced];
}

/** Directories that were given a name, and not synced after that. */
export function unsyncedNamesOf(calls: readonly Call[]): readonly string[] {
  const unsynced = new Set<string>();
  for (const { kind, path, to } of calls) {
    if (to !== undefined) unsynced.add(dirname(to));
    if (kind === 'create' || kind === 'mkdir') unsynced.add(dirname(path));
    if (kind === 'sync') unsynced.delete(path);
  }
  return [...unsynced];
}
