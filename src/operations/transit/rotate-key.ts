import { rotateKey } from '../../transit/rotation.ts';
import { flag } from '../declaration/params.ts';
import { keyData, keyTable } from './key-data.ts';
import { existingKey, transitOperation } from './parameters.ts';

export const declaration = transitOperation({
  route: 'POST keys/:name/rotate',
  capability: 'update',
  params: {
    name: existingKey,
    force: flag({ help: 'Rotate a key that only signs, too.', default: false }),
  },
  cli: {
    acts: true,
    table: keyTable,
    done: (values, data) => `Key ${values['name']} is at version ${data?.latest_version}.`,
    examples: [
      ['coffer transit keys rotate orders', 'later values are encrypted with a new version'],
      ['coffer transit keys rotate releases --force', 'a key that only signs'],
    ],
  },
  async run({ engine }, values) {
    return { data: keyData(await rotateKey(engine, values.name, values.force)) };
  },
});
