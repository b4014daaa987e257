import { DEFAULT_HASH, hash, hashing, plainHashNames } from '../../transit/hashing.ts';
import { base64, text } from '../declaration/params.ts';
import { transitTool } from './parameters.ts';

export const declaration = transitTool({
  route: ['POST hash(/:algorithm)', 'POST /sys/tools/hash(/:algorithm)'],
  withoutSecret: true,
  computes: true,
  params: {
    input: base64({ help: 'Input to hash, base64.' }),
    algorithm: text({
      help: 'Hash function: sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384 or sha3-512.',
      default: DEFAULT_HASH,
      cli: { suggest: plainHashNames },
    }),
    format: text({
      help: 'Output encoding: hex or base64.',
      default: 'hex',
      cli: { suggest: () => ['hex', 'base64'] as const },
    }),
  },
  cli: {
    input: { param: 'input', as: 'bytes', help: 'Input to hash.', what: 'the input' },
    hashesInput(values) {
      const { algorithm, of } = hashing(String(values['algorithm']), String(values['format']));
      return { algorithm, of: (digest) => ({ sum: of(digest) }) };
    },
    result: { member: 'sum', as: 'text' },
    examples: [['coffer transit hash --in backup.tar --algorithm sha3-256', 'Hash a file']],
  },
  async run(_, values) {
    return { data: { sum: hash(values.input, values.algorithm, values.format) } };
  },
});
