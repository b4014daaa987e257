import { DEFAULT_HASH, hash, plainHashNames } from '../../transit/hashing.ts';
import { operation } from '../declaration/operation.ts';
import { base64, text } from '../declaration/params.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: ['POST hash(/:algorithm)', 'POST /sys/tools/hash(/:algorithm)'],
  capability: 'update',
  computes: true,
  params: {
    input: base64({ help: 'What to hash, base64.' }),
    algorithm: text({
      help: 'Hash: sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384 or sha3-512.',
      default: DEFAULT_HASH,
      cli: { suggest: plainHashNames },
    }),
    format: text({
      help: 'How the hash is printed: hex or base64.',
      default: 'hex',
      cli: { suggest: () => ['hex', 'base64'] },
    }),
  },
  cli: {
    input: { param: 'input', as: 'bytes' },
    result: { member: 'sum', as: 'text' },
    examples: [['coffer transit hash --in backup.tar --algorithm sha3-256', 'the hash of a file']],
  },
  async run({ core, mount }, values) {
    // Nothing of the mount is needed, but below one that is not there nothing is answered.
    await core.engine(mount);
    return { data: { sum: hash(values.input, values.algorithm, values.format) } };
  },
});
