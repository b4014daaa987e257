import { operation } from '../declaration/operation.ts';
import { existingKey } from './parameters.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'GET backup/:name',
  capability: 'read',
  params: { name: existingKey },
  cli: {
    result: { member: 'backup', as: 'text' },
    examples: [
      [
        'coffer transit backup orders --out orders.backup',
        'everything about the key: keep it as you keep the key',
      ],
    ],
  },
  async run({ core, mount }, values) {
    const transit = await core.transit(mount);
    return { data: { backup: await transit.backupKey(values.name) } };
  },
});
