import { invalid } from '../../ground/errors.ts';
import { importKey } from '../../transit/key-exchange/import-key.ts';
import { DEFAULT_KEY_TYPE, keyTypeNames } from '../../transit/key-types/index.ts';
import { operation } from '../declaration/operation.ts';
import { duration, flag, text } from '../declaration/params.ts';
import { incomingKey } from './import-parameters.ts';
import { keyName } from './parameters.ts';
import { wrapLocally } from './wrap-locally.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'POST keys/:name/import',
  capability: 'update',
  params: {
    name: keyName({ help: 'Name of the new key.', required: true, cli: { positional: true } }),
    type: text({ help: 'Key type, in any case.', default: DEFAULT_KEY_TYPE, cli: { suggest: keyTypeNames } }),
    ...incomingKey,
    allow_rotation: flag({ help: 'The key may be rotated; new versions are made here.', default: false }),
    derived: flag({ help: 'Each context has a key of its own, derived from this one.', default: false }),
    exportable: flag({ help: 'Key material may be exported; cannot be undone.', default: false }),
    allow_plaintext_backup: flag({
      help: 'The key may be backed up in plaintext; cannot be undone.',
      default: false,
    }),
    auto_rotate_period: duration({
      help: 'Rotate by itself when the latest version is this old; 0 for never. Needs allow_rotation.',
      default: 0,
      cli: { metavar: 'DURATION' },
    }),
    convergent_encryption: flag({
      help: 'Not possible for imported keys; refused when it is there at all.',
      cli: { hidden: true },
    }),
  },
  cli: {
    input: { param: 'ciphertext', as: 'text', optional: true },
    resolve: wrapLocally,
    done: (values) => `Imported key ${values['name']}.`,
    examples: [
      ['coffer transit import releases --type ed25519 --in private.pem', 'a private key; wrapped on the way'],
      ['coffer transit import upstream --type rsa-4096 --in public.pem', 'a public key, to verify with'],
      ['openssl rand -base64 32 | coffer transit import orders', 'a symmetric key'],
    ],
  },
  async run({ core, mount }, values) {
    if (values.convergent_encryption !== undefined) {
      throw invalid('import cannot be used on keys with convergent encryption enabled', {
        field: 'convergent_encryption',
        hint: 'leave it out',
      });
    }
    const engine = await core.engine(mount);
    await importKey(engine, values.name, {
      type: values.type,
      ciphertext: values.ciphertext,
      publicKey: values.public_key,
      hashFunction: values.hash_function,
      allowRotation: values.allow_rotation,
      derived: values.derived,
      exportable: values.exportable,
      allowPlaintextBackup: values.allow_plaintext_backup,
      autoRotatePeriodSeconds: values.auto_rotate_period,
    });
    return {};
  },
});
