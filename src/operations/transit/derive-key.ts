import { encryptMakes, keyTypes } from '../../transit/key-types/index.ts';
import { integer, text } from '../declaration/params.ts';
import { keyName, transitOperation } from './parameters.ts';

export const declaration = transitOperation({
  route: 'POST derive-key/:name',
  capability: 'update',
  withoutSecret: true,
  params: {
    name: keyName({
      help: 'Name of the new key, or of one that is to get another version.',
      required: true,
      cli: { positional: true },
    }),
    key_derivation_algorithm: text({
      help: 'How the two keys make a secret: ecdh.',
      default: 'ecdh',
      cli: { metavar: 'ALGORITHM', suggest: () => ['ecdh'] },
    }),
    peer_public_key: text({
      help: "The other side's public key, in PEM.",
      default: '',
      cli: { metavar: 'PEM' },
    }),
    base_key_name: text({
      help: 'The ECDSA key whose private half counts.',
      default: '',
      cli: { metavar: 'NAME', refersTo: 'key' },
    }),
    base_key_version: integer({
      help: 'Its version; 0 for the latest.',
      default: 0,
      cli: { metavar: 'N' },
    }),
    derived_key_type: text({
      help: 'Type of the new key, in any case: one that encrypts (default aes256-gcm96).',
      cli: {
        suggest: () =>
          keyTypes()
            .filter(encryptMakes)
            .map(({ name }) => name),
      },
    }),
  },
  cli: {
    input: { param: 'peer_public_key', as: 'text' },
    done: (values) => `Derived key ${values['name']}.`,
    examples: [
      [
        'coffer transit derive-key with-bob --base-key-name mine --in bob.pem',
        'Bob computes the same key from his private key and the public key of mine',
      ],
    ],
  },
  async run({ engine }, values) {
    const { deriveKey } = await import('../../transit/key-exchange/derive-key.ts');
    await deriveKey(engine, values.name, {
      algorithm: values.key_derivation_algorithm,
      peerPublicKey: values.peer_public_key,
      baseKeyName: values.base_key_name,
      baseKeyVersion: values.base_key_version,
      type: values.derived_key_type,
    });
    return {};
  },
});
