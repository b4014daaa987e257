import { invalid } from '../../ground/errors.ts';
import { DIALECTS, type Dialect, isDialect } from '../../transit/engine.ts';
import { type Given, textOption } from '../given.ts';
import { taking } from './everywhere.ts';

export const dialectOption = taking(
  'dialect',
  'D',
  'Write ciphertexts and signatures for all callers as "service:v1:…" or "vault:v1:…"; with "vault", signing keys rotate without --force. Default: "vault" for clients of the Vault API, else "service".',
  { choices: DIALECTS },
);

/**
 * Returns the requested dialect.
 * @throws `invalid` for an unknown one
 */
export function dialectOf(options: Given['options']): Dialect | undefined {
  const text = textOption(options, dialectOption.flag);
  if (text === undefined) return undefined;
  if (isDialect(text)) return text;
  throw invalid(`invalid value "${text}"`, {
    field: '--dialect',
    hint: `use one of ${DIALECTS.join(', ')}`,
  });
}
