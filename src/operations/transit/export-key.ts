import { exportKey, exportKinds, isPublicKind, notExportable } from '../../transit/export.ts';
import { text } from '../declaration/params.ts';
import { foreseeExport } from './foreseen.ts';
import { existingKey, transitOperation } from './parameters.ts';

/** Exported versions of a key. */
export interface ExportedKeys {
  readonly name: string;
  readonly type: string;
  readonly keys: Readonly<Record<string, string>>;
}

/** Their output on the command line. */
export const exportedKeysShape = {
  lines: (data: ExportedKeys) => Object.values(data.keys),
  table: (data: ExportedKeys) => ({ head: ['version', data.type], rows: Object.entries(data.keys) }),
};

/** Version to export. */
export const exportedVersion = text({
  help: 'Key version to export: a number or "latest". Default: all usable versions.',
  default: '',
  cli: { metavar: 'N' },
});

export const declaration = transitOperation({
  route: 'GET export/:key_type/:name(/:version)',
  withoutSecret: ({ key_type: kind }) => isPublicKind(kind),
  params: {
    key_type: text({
      help: 'What to export: encryption-key, signing-key, hmac-key, public-key or certificate-chain.',
      required: true,
      cli: { suggest: exportKinds },
    }),
    name: existingKey,
    version: exportedVersion,
    format: text({
      help: 'Output encoding: raw, der or pem. Default: depends on the key type.',
      default: '',
      cli: { suggest: () => ['raw', 'der', 'pem'] as const },
    }),
  },
  cli: {
    ...exportedKeysShape,
    async foresee({ name, key_type: kind }, runner) {
      if (!isPublicKind(kind)) await foreseeExport(name, runner, notExportable);
    },
    examples: [
      [
        'coffer transit keys export releases --key-type public-key --version latest',
        'Export the public key of the latest version',
      ],
      [
        'coffer transit keys export orders --key-type encryption-key -o json',
        'Export the secret key of every version as JSON',
      ],
    ],
  },
  async run({ engine }, values) {
    const { key, printed } = await exportKey(engine, values.name, {
      kind: values.key_type,
      version: values.version,
      format: values.format,
    });
    const data: ExportedKeys = { name: key.document.name, type: key.typeNameFor(engine), keys: printed };
    return { data };
  },
});
