import { importVersion } from '../../transit/key-exchange/import-version.ts';
import { operation } from '../declaration/operation.ts';
import { integer } from '../declaration/params.ts';
import { incomingKey } from './import-parameters.ts';
import { existingKey } from './parameters.ts';
import { wrapLocally } from './wrap-locally.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'POST keys/:name/import_version',
  capability: 'update',
  params: {
    name: existingKey,
    ...incomingKey,
    version: integer({
      help: 'Complete this version, of which only the public key is known, instead of adding one.',
      cli: { metavar: 'N' },
    }),
  },
  cli: {
    input: { param: 'ciphertext', as: 'text', optional: true },
    resolve: wrapLocally,
    done: (values) => `Imported a version of key ${values['name']}.`,
    examples: [
      ['coffer transit import-version releases --in next.pem', 'the next version of an imported key'],
    ],
  },
  async run({ core, mount }, values) {
    const engine = await core.engine(mount);
    await importVersion(engine, values.name, {
      ciphertext: values.ciphertext,
      publicKey: values.public_key,
      hashFunction: values.hash_function,
      ...(values.version === undefined ? {} : { version: values.version }),
    });
    return {};
  },
});
