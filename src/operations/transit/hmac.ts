import { onlyValue } from '../../transit/batch.ts';
import { DEFAULT_HASH, hashNames } from '../../transit/hashing.ts';
import { hmac } from '../../transit/hmac.ts';
import { computing, type Outcome } from '../declaration/operation.ts';
import { base64, text } from '../declaration/params.ts';
import {
  batchOf,
  engineItems,
  existingKey,
  keyVersion,
  reference,
  resultLines,
  type SingleOrBatch,
  transitOperation,
} from './parameters.ts';

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
  async run({ engine }, values): Promise<Outcome<SingleOrBatch<HmacData, HmacData>>> {
    const options = { algorithm: values.algorithm, keyVersion: values.key_version };
    if (values.batch_input === undefined) {
      return { data: answer(onlyValue(await hmac(engine, values.name, [hmacItem(values)], options))) };
    }
    const results = await hmac(engine, values.name, engineItems(values.batch_input, hmacItem), options);
    return { data: { batch_results: resultLines(values.batch_input, results, answer) } };
  },
});

const hmacItem = (values: { readonly input?: string }) => ({ input: values.input });

const answer = (hmac: string) => ({ hmac });

type HmacData = ReturnType<typeof answer>;
