import { operation } from '../operation.ts';
import { flag } from '../params.ts';
import { keyData, keyTable } from './key-data.ts';
import { existingKey } from './parameters.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST keys/:name/rotate',
  capability: 'update',
  params: {
    name: existingKey,
    force: flag({ help: 'Rotate a key that only signs, too.', default: false }),
  },
  cli: { table: keyTable },
  async run({ core, mount }, values) {
    const transit = await core.transit(mount);
    return { data: keyData(await transit.rotateKey(values.name, { force: values.force })) };
  },
});
