import type { Engine } from '../../transit/engine.ts';
import { deleteKey, setSoftDeleted } from '../../transit/lifecycle.ts';
import type { Outcome } from '../declaration/operation.ts';
import { type KeyData, keyData } from './key-data.ts';
import { existingKey, transitOperation } from './parameters.ts';

export const remove = transitOperation({
  route: 'DELETE keys/:name',
  capability: 'delete',
  params: { name: existingKey },
  cli: {
    confirm: async (values) =>
      `Delete key ${values['name']} for good? What it encrypted can never be decrypted.`,
    done: (values) => `Deleted key ${values['name']}.`,
  },
  async run({ engine }, values) {
    await deleteKey(engine, values.name);
    return {};
  },
});

export const softDelete = transitOperation({
  route: 'DELETE keys/:name/soft-delete',
  capability: 'delete',
  params: { name: existingKey },
  run: ({ engine }, values) =>
    markSoftDeleted(engine, values.name, true, 'key was already marked as soft deleted'),
});

export const restore = transitOperation({
  route: 'POST keys/:name/soft-delete-restore',
  capability: 'update',
  params: { name: existingKey },
  run: ({ engine }, values) => markSoftDeleted(engine, values.name, false, 'key was already restored'),
});

/**
 * Marks a key as soft-deleted, or takes the mark away.
 * @param unchanged the warning when it was so already.
 */
async function markSoftDeleted(
  engine: Engine,
  name: string,
  softDeleted: boolean,
  unchanged: string,
): Promise<Outcome<KeyData>> {
  const { key, changed } = await setSoftDeleted(engine, name, softDeleted);
  return { data: keyData(key), warnings: changed ? [] : [unchanged] };
}
