import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { choice, text, textMap } from '../declaration/params.ts';
import { mountPath } from './mount-info.ts';

const DIALECTS = ['service', 'vault'] as const;

export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/mounts/:path+',
  capability: 'update',
  params: {
    path: mountPath,
    type: text({ help: 'The engine: transit is the only one.', default: 'transit', cli: { hidden: true } }),
    dialect: choice(DIALECTS, {
      help: 'Prefix of new ciphertexts; "vault" also lets every key type rotate.',
      cli: { metavar: 'D' },
    }),
    description: text({ help: 'A note for people.', default: '' }),
    options: textMap({ help: 'May hold "dialect", as mounts show it.', cli: { hidden: true } }),
  },
  cli: {
    done: (values) => `Mounted transit at ${String(values['path'])}/.`,
    examples: [['coffer mounts add teams/payments --dialect vault', 'keys of their own, prefix "vault:"']],
  },
  async run({ core }, values) {
    if (values.type !== 'transit') {
      throw invalid(`plugin not found in the catalog: ${values.type}`, {
        field: 'type',
        hint: 'use "transit"',
      });
    }
    const dialect = values.dialect ?? dialectIn(values.options);
    await core.mounts.add(values.path, {
      description: values.description,
      ...(dialect === undefined ? {} : { dialect }),
    });
    return {};
  },
});

/** @throws `invalid` for a word that is no dialect. */
export function dialectIn(
  options: Readonly<Record<string, string>> | undefined,
): (typeof DIALECTS)[number] | undefined {
  const word = options?.['dialect'];
  if (word === undefined) return undefined;
  const dialect = DIALECTS.find((candidate) => candidate === word);
  if (dialect === undefined) {
    throw invalid(`options.dialect must be one of ${DIALECTS.join(', ')}, not "${word}"`, {
      field: 'options',
    });
  }
  return dialect;
}
