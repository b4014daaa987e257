import { DEFAULT_HASH, hashNames } from '../../transit/hashing.ts';
import { hmac } from '../../transit/hmac.ts';
import { computing } from '../declaration/operation.ts';
import { base64, text } from '../declaration/params.ts';
import { answered, batchOf, existingKey, keyVersion, reference, transitOperation } from './parameters.ts';

const input = base64({ help: 'Input to authenticate, base64 (may be empty).' });

export const declaration = transitOperation({
  route: 'POST hmac/:name(/:algorithm)',
  ...computing,
  params: {
    name: existingKey,
    input,
    algorithm: text({
      help: 'Hash function: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384 or sha3-512.',
      default: DEFAULT_HASH,
      cli: { suggest: hashNames },
    }),
    key_version: keyVersion,
    batch_input: batchOf('inputs', { input, reference }),
  },
  cli: {
    input: { param: 'input', as: 'bytes', help: 'Input to authenticate (may be empty).', what: 'the input' },
    largeInput: {
      hint: 'compute the HMAC of its hash: "coffer transit hash --in FILE | coffer transit hmac NAME"',
    },
    result: { member: 'hmac', as: 'text' },
    examples: {
      "printf 'order 17' | coffer transit hmac orders": 'Compute an HMAC (works with every key type)',
    },
  },
  run: ({ engine }, values) =>
    answered(
      values,
      ({ input }: { readonly input?: string }) => ({ input }),
      (items) =>
        hmac(engine, values.name, items, { algorithm: values.algorithm, keyVersion: values.key_version }),
      (hmac: string) => ({ hmac }),
    ),
});
