import { DEFAULT_KEY_TYPE, keyTypeNames } from '../../transit/key-types/index.ts';
import { createKey } from '../../transit/lifecycle.ts';
import { duration, flag, integer, text } from '../declaration/params.ts';
import { keyData, keyTable } from './key-data.ts';
import { keyName, transitOperation } from './parameters.ts';

export const declaration = transitOperation({
  route: 'POST keys/:name',
  capability: 'update',
  params: {
    name: keyName({ help: 'Name of the key to create.', required: true, cli: { positional: true } }),
    type: text({
      help: 'Key type.',
      default: DEFAULT_KEY_TYPE,
      cli: { suggest: keyTypeNames },
    }),
    derived: flag({ help: 'Each context has a key of its own, derived from this one.', default: false }),
    convergent_encryption: flag({
      help: 'Equal plaintext under equal context gives equal ciphertext; needs derived.',
      default: false,
    }),
    exportable: flag({ help: 'Key material may be exported; cannot be undone.', default: false }),
    allow_plaintext_backup: flag({
      help: 'The key may be backed up in plaintext; cannot be undone.',
      default: false,
    }),
    auto_rotate_period: duration({
      help: 'Rotate by itself when the latest version is this old (at least 1h); 0 for never.',
      default: 0,
      cli: { metavar: 'DURATION' },
    }),
    key_size: integer({
      help: 'Length of the key in bytes, for types whose length is chosen.',
      default: 0,
      cli: { metavar: 'BYTES' },
    }),
  },
  cli: {
    acts: true,
    table: keyTable,
    done: (values, data) =>
      `Key ${values['name']} is there (${data?.type}, version ${data?.latest_version}).`,
    examples: [
      ['coffer transit keys create orders', 'a key that encrypts and decrypts (AES-256-GCM)'],
      ['coffer transit keys create releases --type ed25519', 'a key that signs and verifies'],
      ['coffer transit keys create search --derived --convergent-encryption', 'equal values stay comparable'],
    ],
  },
  async run({ engine }, values) {
    const key = await createKey(engine, values.name, {
      type: values.type,
      derived: values.derived,
      convergentEncryption: values.convergent_encryption,
      exportable: values.exportable,
      allowPlaintextBackup: values.allow_plaintext_backup,
      autoRotatePeriodSeconds: values.auto_rotate_period,
      keyBytes: values.key_size,
    });
    return { data: keyData(key) };
  },
});
