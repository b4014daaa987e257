import { lostVersionsWarning } from '../../transit/lost-versions.ts';
import { flag, text } from '../declaration/params.ts';
import { existingKey, transitOperation } from './parameters.ts';

export const backup = transitOperation({
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
  async run({ engine }, values) {
    // A codec of a thousand lines, which nothing else needs.
    const { backupKey } = await import('../../transit/backup/backup-key.ts');
    return { data: { backup: await backupKey(engine, values.name) } };
  },
});

export const restore = transitOperation({
  route: 'POST restore(/:name)',
  capability: 'update',
  unfolds: true,
  params: {
    // Errors about a name are the same for one given here and one inside a backup.
    name: text({
      help: 'What the restored key is called; without it, as it was called when it was backed up.',
      cli: { positional: true, metavar: 'NAME' },
    }),
    backup: text({
      long: true,
      help: 'The text that a backup printed, here, in Vault or in OpenBao.',
      default: '',
    }),
    force: flag({ help: 'Replace a key of the same name, with all its versions.', default: false }),
  },
  cli: {
    makes: true,
    input: { param: 'backup', as: 'text' },
    done: () => 'Restored the key.',
    examples: [
      ['coffer transit restore --in orders.backup', 'under the name that it had'],
      [
        'vault read -field=backup transit/backup/orders | coffer transit restore',
        'a key of Vault, used offline',
      ],
    ],
  },
  async run({ engine }, values) {
    // A codec of a thousand lines, which nothing else needs.
    const { restoreKey } = await import('../../transit/backup/restore-key.ts');
    const { document } = await restoreKey(engine, {
      backup: values.backup,
      force: values.force,
      name: values.name || undefined,
    });
    return { warnings: lostVersionsWarning(document) };
  },
});
