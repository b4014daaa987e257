import { setSoftDeleted } from '../../transit/lifecycle.ts';
import type { MountCall, Outcome } from '../declaration/operation.ts';
import { type KeyData, keyData } from './key-data.ts';

/**
 * Marks a key as soft-deleted, or takes the mark away.
 * @param unchanged the warning when it was so already.
 */
export async function markSoftDeleted(
  { core, mount }: MountCall,
  name: string,
  softDeleted: boolean,
  unchanged: string,
): Promise<Outcome<KeyData>> {
  const engine = await core.engine(mount);
  const { key, changed } = await setSoftDeleted(engine, name, softDeleted);
  return { data: keyData(key), warnings: changed ? [] : [unchanged] };
}
