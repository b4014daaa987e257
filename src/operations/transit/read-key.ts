import { requireKey } from '../../transit/key-collection.ts';
import { base64 } from '../declaration/params.ts';
import { keyData, keyTable } from './key-data.ts';
import { existingKey, transitOperation } from './parameters.ts';

export const declaration = transitOperation({
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
  async run({ engine }, values) {
    const key = await requireKey(engine, values.name, 'key not found');
    return { data: keyData(key, values.context) };
  },
});
