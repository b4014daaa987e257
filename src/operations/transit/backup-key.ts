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
    const engine = await core.engine(mount);
    // A codec of a thousand lines, which nothing else needs.
    const { backupKey } = await import('../../transit/backup/backup-key.ts');
    return { data: { backup: await backupKey(engine, values.name) } };
  },
});
