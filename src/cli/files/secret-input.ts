import { invalid } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import type { RawValues } from './operation-values.ts';

/**
 * Refuses a secret that is given as an argument: as such, or as a parameter like those of `vault write`, which would
 * otherwise become a policy or an address range.
 * @param values other parameters
 * @throws `invalid` without the secret
 */
export function refuseSecretArgument(param: string, value: string | undefined, values: RawValues): void {
  const words = Object.values(values).flat();
  const isParameter = words.some((word) => typeof word === 'string' && word.startsWith(`${param}=`));
  if (!isParameter && (value === undefined || value === '-')) return;
  throw invalid('secrets cannot be passed as arguments: other users could see them', {
    field: param,
    hint: 'pass it on standard input (-) or with --in, or omit it to be prompted',
  });
}

/**
 * Asks the user for a new secret, if no other source gives one.
 * @returns undefined if the user was not asked, or if an empty answer is allowed and given
 */
export async function askedSecret(
  session: Session,
  param: string,
  { secret: question = param, onRequest }: { readonly secret?: string; readonly onRequest?: true },
  { value, file }: { readonly value: string | undefined; readonly file: string | undefined },
): Promise<string | undefined> {
  // Data on standard input is the secret, if one is required.
  const isPiped = onRequest !== true && !session.streams.in.isTerminal;
  if (value !== undefined || file !== undefined || isPiped || !session.prompts.available()) return undefined;
  if (onRequest !== true) return session.prompts.newSecret(question);
  for (;;) {
    const first = await session.prompts.secret(
      `${question} (press Enter for none or to keep the current one)`,
    );
    if (first === '') return undefined;
    if ((await session.prompts.secret('Once more')) === first) return first;
    session.write('The entries do not match, try again.');
  }
}
