import { requireKey } from '../../transit/key-collection.ts';
import { operation } from '../declaration/operation.ts';
import { base64 } from '../declaration/params.ts';
import { keyData, keyTable } from './key-data.ts';
import { existingKey } from './parameters.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'GET keys/:name',
  capability: 'read',
  params: {
    name: existingKey,
    context: base64({
      help: 'Derivation context, base64: shows the public keys of this context, for a derived key that signs.',
      cli: { textTwin: true, metavar: 'B64' },
    }),
  },
  cli: { table: keyTable },
  async run({ core, mount }, values) {
    const engine = await core.engine(mount);
    const key = await requireKey(engine, values.name, 'key not found');
    return { data: keyData(key, values.context) };
  },
});
