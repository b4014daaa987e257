import { lostVersionsWarning } from '../../transit/lost-versions.ts';
import { flag, text } from '../declaration/params.ts';
import { foreseeBackup } from './foreseen.ts';
import { existingKey, transitOperation } from './parameters.ts';

export const backup = transitOperation({
  route: 'GET backup/:name',
  params: { name: existingKey },
  cli: {
    result: { member: 'backup', as: 'text' },
    foresee: foreseeBackup,
    examples: [
      [
        'coffer transit backup orders --out orders.backup',
        'Write a backup; it contains the key material in plaintext',
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
  unfolds: true,
  params: {
    // Errors about a name are the same for one given here and one inside a backup.
    name: text({
      help: 'Name for the restored key. Default: its name in the backup.',
      cli: { positional: true, metavar: 'NAME' },
    }),
    backup: text({
      long: true,
      help: 'Backup from Coffer, Vault or OpenBao.',
      default: '',
    }),
    force: flag({ help: 'Overwrite a key of the same name and all its versions.', default: false }),
  },
  cli: {
    makes: true,
    input: { param: 'backup', as: 'text', what: 'the backup' },
    done: ({ name }) => (name === undefined ? 'Restored the key.' : `Restored key ${name}.`),
    examples: [
      ['coffer transit restore --in orders.backup', 'Restore under the original name'],
      [
        'vault read -field=backup transit/backup/orders | coffer transit restore',
        'Restore a key from Vault to use it offline',
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
