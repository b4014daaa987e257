import { DIALECTS, type Dialect } from '../../transit/engine.ts';
import { taking } from '../command.ts';
import { choiceOption, type Given } from '../given.ts';

export const dialectOption = taking(
  'dialect',
  'D',
  'Format of new ciphertexts and signatures, for all callers: service ("service:v1:…") or vault ' +
    '("vault:v1:…"). With vault, signing keys can be rotated without --force, as in Vault. Default: vault for ' +
    'clients of the Vault API, else service.',
  { choices: DIALECTS },
);

/**
 * Returns the requested dialect.
 * @throws `invalid` for an unknown one
 */
export const dialectOf = (options: Given['options']): Dialect | undefined =>
  choiceOption(options, dialectOption.flag, DIALECTS);
