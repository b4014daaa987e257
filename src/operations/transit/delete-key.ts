import { deleteKey, setSoftDeleted } from '../../transit/lifecycle.ts';
import { type MountCall, type Outcome, operation } from '../declaration/operation.ts';
import { type KeyData, keyData } from './key-data.ts';
import { existingKey } from './parameters.ts';

export const remove = operation({
  api: 'vault',
  mount: 'transit',
  route: 'DELETE keys/:name',
  capability: 'delete',
  params: { name: existingKey },
  cli: {
    confirm: async (values) =>
      `Delete key ${values['name']} for good? What it encrypted can never be decrypted.`,
    done: (values) => `Deleted key ${values['name']}.`,
  },
  async run({ core, mount }, values) {
    const engine = await core.engine(mount);
    await deleteKey(engine, values.name);
    return {};
  },
});

export const softDelete = operation({
  api: 'vault',
  mount: 'transit',
  route: 'DELETE keys/:name/soft-delete',
  capability: 'delete',
  params: { name: existingKey },
  run: (call, values) => markSoftDeleted(call, values.name, true, 'key was already marked as soft deleted'),
});

export const restore = operation({
  api: 'vault',
  mount: 'transit',
  route: 'POST keys/:name/soft-delete-restore',
  capability: 'update',
  params: { name: existingKey },
  run: (call, values) => markSoftDeleted(call, values.name, false, 'key was already restored'),
});

/**
 * Marks a key as soft-deleted, or takes the mark away.
 * @param unchanged the warning when it was so already.
 */
async function markSoftDeleted(
  { core, mount }: MountCall,
  name: string,
  softDeleted: boolean,
  unchanged: string,
): Promise<Outcome<KeyData>> {
  const engine = await core.engine(mount);
  const { key, changed } = await setSoftDeleted(engine, name, softDeleted);
  return { data: keyData(key), warnings: changed ? [] : [unchanged] };
}
