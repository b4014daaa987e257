import { asCofferError, invalid } from '../../ground/errors.ts';
import type { Mount, Mounts } from '../../mounts/mounts.ts';
import { operation } from '../declaration/operation.ts';
import { mountPath, noEngine, printMount } from './mount-info.ts';

export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/mounts/:path+',
  capability: 'read',
  params: { path: mountPath },
  async run({ core }, values) {
    return { data: printMount(await existingMount(core.mounts, values.path)) };
  },
});

/** @throws `invalid`, since peers call a missing mount the caller's mistake also where one only reads it. */
export async function existingMount(mounts: Mounts, path: string): Promise<Mount> {
  try {
    return await mounts.get(path);
  } catch (error) {
    if (asCofferError(error)?.kind !== 'not-found') throw error;
    throw invalid(noEngine(path), { field: 'path', hint: 'list the mounts with "coffer mounts list"' });
  }
}
