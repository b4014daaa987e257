import { configureKey } from '../../transit/configuration.ts';
import { duration, flag, integer } from '../declaration/params.ts';
import { keyData, keyTable } from './key-data.ts';
import { existingKey, transitOperation } from './parameters.ts';

export const declaration = transitOperation({
  route: 'POST keys/:name/config',
  capability: 'update',
  params: {
    name: existingKey,
    min_decryption_version: integer({
      help: 'Oldest version that may decrypt and verify.',
      cli: { metavar: 'N' },
    }),
    min_encryption_version: integer({
      help: 'Oldest version that may encrypt and sign; 0 for no limit of its own.',
      cli: { metavar: 'N' },
    }),
    deletion_allowed: flag({ help: 'Whether the key may be deleted.', cli: { negatable: true } }),
    exportable: flag({ help: 'Key material may be exported; cannot be undone.' }),
    allow_plaintext_backup: flag({ help: 'The key may be backed up in plaintext; cannot be undone.' }),
    auto_rotate_period: duration({
      help: 'Rotate by itself when the latest version is this old (at least 1h); 0 for never.',
      cli: { metavar: 'DURATION' },
    }),
  },
  cli: {
    acts: true,
    table: keyTable,
    done: (values) => `Configured key ${values['name']}.`,
    examples: [
      ['coffer transit keys config orders --min-decryption-version 2', 'old ciphertext no longer decrypts'],
      ['coffer transit keys config orders --deletion-allowed', 'needed before the key can be deleted'],
    ],
  },
  async run({ engine }, values) {
    const { key, warnings } = await configureKey(engine, values.name, {
      ...present('minDecryptionVersion', values.min_decryption_version),
      ...present('minEncryptionVersion', values.min_encryption_version),
      ...present('deletionAllowed', values.deletion_allowed),
      ...present('exportable', values.exportable),
      ...present('allowPlaintextBackup', values.allow_plaintext_backup),
      ...present('autoRotatePeriodSeconds', values.auto_rotate_period),
    });
    return { data: keyData(key), warnings };
  },
});

/** Only what the caller gave changes. */
const present = <K extends string, V>(name: K, value: V | undefined): { readonly [N in K]?: V } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [N in K]?: V });
