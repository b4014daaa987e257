import { invalid } from '../../ground/errors.ts';
import type { Session } from '../session.ts';

/**
 * Asks the user for a new secret, if no other source gives one.
 * @returns undefined if the user was not asked, or if an empty answer is allowed and given
 * @throws `invalid` if it is given as an argument
 */
export async function askedSecret(
  session: Session,
  param: string,
  { secret: question = param, onRequest }: { readonly secret?: string; readonly onRequest?: true },
  { value, file }: { readonly value: string | undefined; readonly file: string | undefined },
): Promise<string | undefined> {
  if (value !== undefined && value !== '-') {
    throw invalid('secrets cannot be passed as arguments: other users could see them', {
      field: param,
      hint: 'pass it on standard input (-) or with --in, or omit it to be prompted',
    });
  }
  // Data on standard input is the secret, if one is required.
  const isPiped = onRequest !== true && !session.streams.in.isTerminal;
  if (value !== undefined || file !== undefined || isPiped || !session.prompts.available()) return undefined;
  if (onRequest !== true) return session.prompts.newSecret(question);
  const first = await session.prompts.secret(`${question} (press Enter for none or to keep the current one)`);
  if (first === '') return undefined;
  if ((await session.prompts.secret('Once more')) === first) return first;
  throw invalid('the entries do not match', { field: param });
}
