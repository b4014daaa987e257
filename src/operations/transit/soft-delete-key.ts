import { operation } from '../operation.ts';
import { keyData } from './key-data.ts';
import { existingKey } from './parameters.ts';

export const declaration = operation({
  api: 'vault',
  route: 'DELETE keys/:name/soft-delete',
  capability: 'delete',
  params: { name: existingKey },
  async run({ core, mount }, values) {
    const transit = await core.transit(mount);
    const { key, changed } = await transit.setSoftDeleted(values.name, true);
    return { data: keyData(key), warnings: changed ? [] : ['key was already marked as soft deleted'] };
  },
});
