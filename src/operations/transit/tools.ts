/** Operations without a key, which are also below `sys/tools`. */

import { DEFAULT_HASH, hash, hashing, plainHashNames } from '../../transit/hashing.ts';
import { randomBytes } from '../../transit/random-bytes.ts';
import { computing } from '../declaration/operation.ts';
import { base64, hidden, integer, text } from '../declaration/params.ts';
import { transitTool } from './parameters.ts';

export const hashData = transitTool({
  route: ['POST hash(/:algorithm)', 'POST /sys/tools/hash(/:algorithm)'],
  ...computing,
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
    examples: { 'coffer transit hash --in backup.tar --algorithm sha3-256': 'Hash a file' },
  },
  async run(_, values) {
    return { data: { sum: hash(values.input, values.algorithm, values.format) } };
  },
});

export const random = transitTool({
  route: [
    'POST random(/:bytes)',
    'POST random/:source<platform|seal|all>',
    'POST random/:source/:bytes',
    'POST /sys/tools/random(/:bytes)',
    'POST /sys/tools/random/:source<platform|seal|all>',
    'POST /sys/tools/random/:source/:bytes',
  ],
  ...computing,
  params: {
    bytes: integer({
      help: 'Number of bytes, 1 to 131072.',
      default: 32,
      cli: { positional: true, help: 'Number of bytes, 1 to 131072. Default: 32.' },
    }),
    format: text({
      help: 'Output encoding: base64 or hex.',
      default: 'base64',
      cli: { suggest: () => ['base64', 'hex'] as const },
    }),
    source: text({ ...hidden('Accepted for compatibility: platform, seal or all.'), default: 'platform' }),
  },
  cli: {
    result: { member: 'random_bytes', as: 'text' },
    copies: true,
    examples: { 'coffer transit random 16 --format hex': 'Print 16 random bytes as 32 hex digits' },
  },
  async run({ core }, values) {
    const { text: printed, warnings } = randomBytes(core, {
      ...values,
      source: values.source || 'platform',
    });
    return { data: { random_bytes: printed }, warnings };
  },
});
