import { DIALECTS, type Dialect } from '../../transit/engine.ts';
import { taking } from '../command.ts';
import { choiceOption, type Given } from '../given.ts';

export const dialectOption = taking(
  'dialect',
  'D',
  'Write ciphertexts and signatures for all callers as "service:v1:…" or "vault:v1:…"; with "vault", signing keys can be rotated without --force, as in Vault. Default: "vault" for clients of the Vault API, else "service".',
  { choices: DIALECTS },
);

/**
 * Returns the requested dialect.
 * @throws `invalid` for an unknown one
 */
export const dialectOf = (options: Given['options']): Dialect | undefined =>
  choiceOption(options, dialectOption.flag, DIALECTS);
