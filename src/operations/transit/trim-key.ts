import { trimKey } from '../../transit/trim.ts';
import { integer } from '../declaration/params.ts';
import { keyData, keyTable } from './key-data.ts';
import { existingKey, transitOperation } from './parameters.ts';

export const declaration = transitOperation({
  route: 'POST keys/:name/trim',
  capability: 'update',
  params: {
    name: existingKey,
    min_available_version: integer({
      help: 'Oldest version to keep; every earlier one is deleted for good.',
      required: true,
      cli: { metavar: 'N' },
    }),
  },
  cli: {
    examples: [
      [
        'coffer transit keys trim orders --min-available-version 2',
        'version 1 is gone; both minimum versions of the key must be 2 or more',
      ],
    ],
    acts: true,
    table: keyTable,
    done: (values) => `Trimmed key ${values['name']}.`,
    confirm: async (values) =>
      `Delete every version of key ${values['name']} below ${values['min_available_version']} for good?`,
  },
  async run({ engine }, values) {
    return { data: keyData(await trimKey(engine, values.name, values.min_available_version)) };
  },
});
