import { transferKey } from '../../transit/key-exchange/byok-export.ts';
import { wrappingHashNames, wrappingPublicKey } from '../../transit/key-exchange/wrapping.ts';
import { text } from '../declaration/params.ts';
import { keyName, transitOperation } from './parameters.ts';

export interface TransferData {
  readonly name: string;
  readonly type: string;
  readonly keys: Readonly<Record<string, string>>;
}

export const byokExport = transitOperation({
  route: 'GET byok-export/:destination/:source(/:version)',
  capability: 'read',
  params: {
    destination: keyName({
      help: "The key to wrap under: the other server's wrapping key, imported as an RSA public key.",
      required: true,
      cli: { positional: true, refersTo: 'key' },
    }),
    source: keyName({
      help: 'The key to transfer.',
      required: true,
      cli: { positional: true, refersTo: 'key' },
    }),
    version: text({
      help: 'A version number, or latest; without it every version that may be used.',
      default: '',
      cli: { metavar: 'N' },
    }),
    hash: text({
      help: 'Hash of RSA-OAEP.',
      default: 'SHA256',
      cli: { suggest: () => wrappingHashNames },
    }),
  },
  cli: {
    lines: (data: TransferData) => Object.values(data.keys),
    table: (data: TransferData) => ({ head: ['version', data.type], rows: Object.entries(data.keys) }),
    examples: [
      [
        'coffer transit byok-export other-server orders --version latest',
        'what "transit import" takes over there',
      ],
    ],
  },
  async run({ engine }, values) {
    const { key, wrapped } = await transferKey(engine, values);
    const data: TransferData = { name: key.document.name, type: key.type.name, keys: wrapped };
    return { data };
  },
});

export const wrappingKey = transitOperation({
  route: 'GET wrapping_key',
  capability: 'read',
  params: {},
  cli: {
    result: { member: 'public_key', as: 'text' },
    examples: [
      ['coffer transit wrapping-key > wrapping.pem', 'what others wrap keys under that they bring here'],
    ],
  },
  async run({ engine }) {
    return { data: { public_key: await wrappingPublicKey(engine) } };
  },
});
