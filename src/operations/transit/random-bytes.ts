import { randomBytes } from '../../transit/random-bytes.ts';
import { integer, text } from '../declaration/params.ts';
import { transitTool } from './parameters.ts';

export const declaration = transitTool({
  route: [
    'POST random(/:bytes)',
    'POST random/:source<platform|seal|all>',
    'POST random/:source/:bytes',
    'POST /sys/tools/random(/:bytes)',
    'POST /sys/tools/random/:source<platform|seal|all>',
    'POST /sys/tools/random/:source/:bytes',
  ],
  withoutSecret: true,
  computes: true,
  params: {
    bytes: integer({
      help: 'Number of bytes, 1 to 131072.',
      default: 32,
      cli: { positional: true, metavar: 'BYTES', help: 'Number of bytes, 1 to 131072. Default: 32.' },
    }),
    format: text({
      help: 'Output encoding: base64 or hex.',
      default: 'base64',
      cli: { suggest: () => ['base64', 'hex'] as const },
    }),
    source: text({
      help: 'Accepted for compatibility: platform, seal or all.',
      default: 'platform',
      cli: { hidden: true },
    }),
  },
  cli: {
    result: { member: 'random_bytes', as: 'text' },
    copies: true,
    examples: [['coffer transit random 16 --format hex', 'Print 16 random bytes as 32 hex digits']],
  },
  async run({ core }, values) {
    const { text: printed, warnings } = randomBytes(core, {
      ...values,
      source: values.source || 'platform',
    });
    return { data: { random_bytes: printed }, warnings };
  },
});
