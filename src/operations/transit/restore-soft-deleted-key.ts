import { operation } from '../operation.ts';
import { keyData } from './key-data.ts';
import { existingKey } from './parameters.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST keys/:name/soft-delete-restore',
  capability: 'update',
  params: { name: existingKey },
  async run({ core, mount }, values) {
    const transit = await core.transit(mount);
    const { key, changed } = await transit.setSoftDeleted(values.name, false);
    return { data: keyData(key), warnings: changed ? [] : ['key was already restored'] };
  },
});
