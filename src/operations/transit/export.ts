/** Operations with which keys leave the store; those with which they come back are here as far as they are backups. */

import {
  exportKinds,
  exportKey as exportVersions,
  isPublicKind,
  notExportable,
} from '../../transit/export.ts';
import { lostVersionsWarning } from '../../transit/version-choice.ts';
import { flag, text } from '../declaration/params.ts';
import { foreseeBackup, foreseeExport } from './foreseen.ts';
import { existingKey, keyInPath, transitOperation, wrappingHashNames } from './parameters.ts';

/** Exported versions of a key. */
type ExportedKeys = {
  readonly name: string;
  readonly type: string;
  readonly keys: Readonly<Record<string, string>>;
};

/** Their output on the command line. */
const exportedKeysShape = {
  lines: (data: ExportedKeys) => Object.values(data.keys),
  table: (data: ExportedKeys) => ({ head: ['version', data.type], rows: Object.entries(data.keys) }),
};

/** Version to export. */
const exportedVersion = text({
  help: 'Key version to export: a number or "latest". Default: all usable versions.',
  default: '',
  cli: { metavar: 'N' },
});

export const exportKey = transitOperation({
  route: 'GET export/:key_type/:name(/:version)',
  withoutSecret: ({ key_type: kind }) => isPublicKind(kind),
  params: {
    key_type: text({
      help: 'What to export: encryption-key, signing-key, hmac-key, public-key or certificate-chain.',
      required: true,
      cli: { suggest: exportKinds },
    }),
    name: existingKey,
    version: exportedVersion,
    format: text({
      help: 'Output encoding: raw, der or pem. Default: depends on the key type.',
      default: '',
      cli: { suggest: () => ['raw', 'der', 'pem'] as const },
    }),
  },
  cli: {
    ...exportedKeysShape,
    async foresee({ name, key_type: kind }, runner) {
      if (!isPublicKind(kind)) await foreseeExport(name, runner, notExportable);
    },
    examples: {
      'coffer transit keys export releases --key-type public-key --version latest':
        'Export the public key of the latest version',
      'coffer transit keys export orders --key-type encryption-key -o json':
        'Export the secret key of every version as JSON',
    },
  },
  async run({ engine }, values) {
    const { key, printed } = await exportVersions(engine, values.name, {
      kind: values.key_type,
      version: values.version,
      format: values.format,
    });
    const data: ExportedKeys = { name: key.document.name, type: key.typeNameFor(engine), keys: printed };
    return { data };
  },
});

export const byokExport = transitOperation({
  route: 'GET byok-export/:destination/:source(/:version)',
  params: {
    destination: keyInPath(
      'Key to encrypt SOURCE with: the wrapping key of the other server, which you must first import as an RSA public key.',
    ),
    source: keyInPath('Key to export.'),
    version: exportedVersion,
    hash: text({
      help: 'Hash function of RSA-OAEP, which encrypts the exported key.',
      default: 'SHA256',
      cli: { suggest: wrappingHashNames },
    }),
  },
  cli: {
    ...exportedKeysShape,
    async foresee({ source }, runner) {
      const { sourceNotExportable } = await import('../../transit/key-exchange/byok-export.ts');
      await foreseeExport(source, runner, sourceNotExportable);
    },
    examples: {
      'coffer transit byok-export other-server orders --version latest':
        'Print the encrypted key, for "transit import" on the other server',
    },
  },
  async run({ engine }, values) {
    const { transferKey } = await import('../../transit/key-exchange/byok-export.ts');
    const { key, wrapped } = await transferKey(engine, values);
    const data: ExportedKeys = { name: key.document.name, type: key.typeNameFor(engine), keys: wrapped };
    return { data };
  },
});

export const wrappingKey = transitOperation({
  route: 'GET wrapping_key',
  withoutSecret: true,
  cli: {
    result: { member: 'public_key', as: 'text' },
    examples: {
      'coffer transit wrapping-key > wrapping.pem':
        'Save the public key with which to encrypt keys for import',
    },
  },
  async run({ engine }) {
    const { wrappingPublicKey } = await import('../../transit/key-exchange/wrapping.ts');
    return { data: { public_key: await wrappingPublicKey(engine) } };
  },
});

export const backup = transitOperation({
  route: 'GET backup/:name',
  params: { name: existingKey },
  cli: {
    result: { member: 'backup', as: 'text' },
    foresee: foreseeBackup,
    examples: {
      'coffer transit backup orders --out orders.backup':
        'Write a backup; it contains the key material in plaintext',
    },
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
      cli: { positional: true },
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
    input: {
      param: 'backup',
      as: 'text',
      what: 'the backup',
      expected: { what: 'a key backup', hint: 'use the output of "coffer transit backup NAME"' },
    },
    nameIn: async (backup) => (await import('../../transit/backup/backup-name.ts')).nameInBackup(backup),
    done: ({ name }) => (name === undefined ? 'Restored the key.' : `Restored key ${name}.`),
    examples: {
      'coffer transit restore --in orders.backup': 'Restore under the original name',
      'vault read -field=backup transit/backup/orders | coffer transit restore':
        'Restore a key from Vault to use it offline',
    },
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
