import { invalid } from '../../ground/errors.ts';
import type { Session } from '../session.ts';
import { inputText, readStandardInput } from './input.ts';

/** Typed source of a secret. */
interface TypedSource {
  readonly value: string | undefined;
  /** File of `--in`. */
  readonly file: string | undefined;
  /** Whether a pipe is it, although it is otherwise only read on request. */
  readonly isRequired?: boolean;
}

/**
 * Asks the user for a new secret, if no other source gives one.
 * @returns undefined if the user was not asked, or if an empty answer is allowed and given
 * @throws `invalid` if it is given as an argument
 */
export async function askedSecret(
  session: Session,
  param: string,
  { secret: question = param, onRequest }: { readonly secret?: string; readonly onRequest?: true },
  { value, file, isRequired = false }: TypedSource,
): Promise<string | undefined> {
  if (value !== undefined && value !== '-') {
    throw invalid('secrets cannot be passed as arguments: other users could see them', {
      field: param,
      hint: 'pass it on standard input (-) or with --in, or omit it to be prompted',
    });
  }
  if (isRequired && value === undefined && file === undefined) {
    const piped = pipedSecret(session, param);
    if (piped !== '') return piped;
  }
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

/**
 * Reads a secret from a pipe. A file is not taken for one: it may be what a shell loop reads.
 * @throws `invalid` for several lines, as such a loop may have as well
 */
function pipedSecret(session: Session, param: string): string {
  if (session.streams.in.bytes !== undefined) return '';
  const text = inputText(readStandardInput(session), param);
  if (!text.includes('\n')) return text;
  throw invalid('standard input has several lines', {
    field: param,
    hint: 'pass only the secret, or use - to take all of the input for it',
  });
}
