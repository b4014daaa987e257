import { sourceNotExportable, transferKey } from '../../transit/key-exchange/byok-export.ts';
import { wrappingHashNames, wrappingPublicKey } from '../../transit/key-exchange/wrapping.ts';
import { text } from '../declaration/params.ts';
import { type ExportedKeys, exportedKeysShape, exportedVersion } from './export-key.ts';
import { foreseeExport } from './foreseen.ts';
import { keyName, transitOperation } from './parameters.ts';

export const byokExport = transitOperation({
  route: 'GET byok-export/:destination/:source(/:version)',
  params: {
    destination: keyName({
      help: "Key to encrypt with: the other server's wrapping key, imported here before as an RSA public key.",
      required: true,
      cli: { positional: true, refersTo: 'key' },
    }),
    source: keyName({
      help: 'Key to export.',
      required: true,
      cli: { positional: true, refersTo: 'key' },
    }),
    version: exportedVersion,
    hash: text({
      help: 'Hash function of RSA-OAEP, which encrypts the exported key.',
      default: 'SHA256',
      cli: { suggest: () => wrappingHashNames },
    }),
  },
  cli: {
    ...exportedKeysShape,
    foresee: ({ source }, runner) => foreseeExport(source, runner, sourceNotExportable),
    examples: [
      [
        'coffer transit byok-export other-server orders --version latest',
        'Print the encrypted key, for "transit import" on the other server',
      ],
    ],
  },
  async run({ engine }, values) {
    const { key, wrapped } = await transferKey(engine, values);
    const data: ExportedKeys = { name: key.document.name, type: key.typeNameFor(engine), keys: wrapped };
    return { data };
  },
});

export const wrappingKey = transitOperation({
  route: 'GET wrapping_key',
  withoutSecret: true,
  params: {},
  cli: {
    result: { member: 'public_key', as: 'text' },
    examples: [
      [
        'coffer transit wrapping-key > wrapping.pem',
        'Save the public key with which to encrypt keys for import',
      ],
    ],
  },
  async run({ engine }) {
    return { data: { public_key: await wrappingPublicKey(engine) } };
  },
});
