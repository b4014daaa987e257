import { asCofferError } from '../../ground/errors.ts';
import { variable } from '../given.ts';
import { FAMILY_TOKEN, withoutOwnSecrets } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import { visible } from '../terminal/visible.ts';

/** Returns the askpass program that the environment names. */
export const askpassOf = ({ environment }: Session): string | undefined =>
  variable(environment, 'COFFER_ASKPASS') ?? variable(environment, 'SSH_ASKPASS');

/** Returns the environment of that program, without secrets: it shows a window, and may be any program. */
export function askpassVariables({ environment }: Session): Readonly<Record<string, string>> {
  const { [FAMILY_TOKEN]: _, SSH_ASKPASS_PROMPT: __, ...others } = withoutOwnSecrets(environment);
  return others;
}

/** Time within which a question must be answered, in milliseconds. No answer is a refusal. */
export const ANSWER_WITHIN_MS = 120_000;

/**
 * Returns the function with which an agent asks its user for confirmation: through the askpass program of ssh-agent, or
 * on the terminal that it runs on. Only one question is open at a time.
 * @returns the function; undefined if there is neither
 */
export function askerOf(
  session: Session,
): ((question: string, gone: AbortSignal) => Promise<boolean>) | undefined {
  const program = askpassOf(session);
  const asking =
    program !== undefined
      ? (question: string, gone: AbortSignal) => askByProgram(program, session, question, gone)
      : session.prompts.available()
        ? (question: string, gone: AbortSignal) => session.prompts.confirm(question, inTime(gone))
        : undefined;
  if (asking === undefined) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (question, gone) => {
    const answer = last.then(() => !gone.aborted && asking(visible(question), gone));
    last = answer.catch(() => undefined);
    return answer.catch((error: unknown) => {
      if (asCofferError(error) === undefined) throw error;
      return false;
    });
  };
}

const inTime = (gone: AbortSignal): AbortSignal =>
  AbortSignal.any([gone, AbortSignal.timeout(ANSWER_WITHIN_MS)]);

/**
 * Asks through the program. Exit code 0 is a yes; a variable tells the program to ask for a yes or no rather than for
 * text.
 */
function askByProgram(
  program: string,
  session: Session,
  question: string,
  gone: AbortSignal,
): Promise<boolean> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn(program, [question], {
    env: { ...askpassVariables(session), SSH_ASKPASS_PROMPT: 'confirm' },
    stdio: 'ignore',
    signal: inTime(gone),
  });
  child.once('error', () => resolve(false));
  child.once('exit', (code) => resolve(code === 0));
  return promise;
}
