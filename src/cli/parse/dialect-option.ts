import { invalid } from '../../ground/errors.ts';
import { DIALECTS, type Dialect } from '../../transit/engine.ts';
import type { OptionSpec } from '../command.ts';
import { type Given, textOption } from '../given.ts';

export const dialectOption: OptionSpec = {
  flag: 'dialect',
  takes: 'value',
  metavar: 'D',
  help: 'Prefix of what the default transit mount writes; "vault" also rotates every key type.',
  choices: DIALECTS,
};

/** @throws `invalid` for an unknown word. */
export function dialectOf(options: Given['options']): Dialect | undefined {
  const text = textOption(options, dialectOption.flag);
  if (text === undefined) return undefined;
  const dialect = DIALECTS.find((candidate) => candidate === text);
  if (dialect !== undefined) return dialect;
  throw invalid(`"${text}" can't be right`, {
    field: '--dialect',
    hint: `use one of ${DIALECTS.join(', ')}`,
  });
}
