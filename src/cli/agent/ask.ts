import { asCofferError } from '../../ground/errors.ts';
import { variable } from '../given.ts';
import { FAMILY_TOKEN, withoutOwnSecrets } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';
import { visible } from '../terminal/visible.ts';

/** The program that asks, where one is named. */
export const askpassOf = ({ environment }: Session): string | undefined =>
  variable(environment, 'COFFER_ASKPASS') ?? variable(environment, 'SSH_ASKPASS');

/** What that program gets: it shows a window, and may be anything. */
export function askpassVariables({ environment }: Session): Readonly<Record<string, string>> {
  const { [FAMILY_TOKEN]: _, SSH_ASKPASS_PROMPT: __, ...others } = withoutOwnSecrets(environment);
  return others;
}

/** Whoever is asked and does not answer in this time has said no. */
export const ANSWER_WITHIN_MS = 120_000;

/**
 * How an agent asks whoever sits at the machine: by the program that ssh-agent asks with, else on the terminal that it runs on. One
 * question at a time.
 * @returns undefined where nobody can be asked.
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

/** Exit code 0 is a yes; the variable tells the program that a yes or no is wanted, and no text. */
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
