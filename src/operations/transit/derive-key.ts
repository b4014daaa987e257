import { DEFAULT_KEY_TYPE, encryptMakes, keyTypes } from '../../transit/key-types/index.ts';
import { integer, text } from '../declaration/params.ts';
import { keyName, transitOperation } from './parameters.ts';

export const declaration = transitOperation({
  route: 'POST derive-key/:name',
  withoutSecret: true,
  params: {
    name: keyName({
      help: 'Key to create from the result, or existing key that gets it as a new version.',
      required: true,
      cli: { positional: true },
    }),
    key_derivation_algorithm: text({
      help: 'Key agreement algorithm: ecdh.',
      default: 'ecdh',
      cli: { metavar: 'ALGORITHM', suggest: () => ['ecdh'] },
    }),
    peer_public_key: text({
      help: 'Public key of the peer, PEM.',
      default: '',
      cli: { metavar: 'PEM' },
    }),
    base_key_name: text({
      help: 'Your key, of an ECDSA type, whose private key is combined with PEM.',
      default: '',
      cli: { metavar: 'NAME', refersTo: 'key' },
    }),
    base_key_version: integer({
      help: 'Version of the base key (0: latest).',
      default: 0,
      cli: { metavar: 'N' },
    }),
    derived_key_type: text({
      help: 'Type of the new key, case-insensitive; encryption types only. Default: aes256-gcm96.',
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
    done: (values) =>
      `Derived key ${values['name']} (${values['derived_key_type'] ?? DEFAULT_KEY_TYPE}, version 1).`,
    examples: [
      [
        'coffer transit derive-key with-bob --base-key-name mine --in bob.pem',
        'Derive a key shared with Bob',
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
