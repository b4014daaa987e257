import type { AskToUnlock } from '../../doors/agent/questions.ts';
import { closing, refusedAs } from '../../ground/errors.ts';
import type { UnlockTimes } from '../../service/agent/calls.ts';
import { handOver } from '../../store/handed-over.ts';
import {
  ANSWER_WITHIN_MS,
  answerByProgram,
  askpassOf,
  askpassVariables,
  confirmByProgram,
} from '../secrets/askpass.ts';
import { openWith } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import { visible } from '../terminal/visible.ts';

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
      ? (question: string, gone: AbortSignal) =>
          confirmByProgram(program, question, askpassVariables(session), inTime(gone))
      : session.prompts.available()
        ? (question: string, gone: AbortSignal) => session.prompts.confirm(question, { ended: inTime(gone) })
        : undefined;
  if (asking === undefined) return undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (question, gone) => {
    const answer = last.then(() => !gone.aborted && asking(visible(question), gone));
    last = answer.catch(() => undefined);
    return answer.catch(refusedAs(false));
  };
}

const inTime = (gone: AbortSignal): AbortSignal =>
  AbortSignal.any([gone, AbortSignal.timeout(ANSWER_WITHIN_MS)]);

/** Number of wrong answers accepted before the request fails. */
const ATTEMPTS = 3;

/**
 * Returns the function with which a locked agent asks for the passphrase: the askpass program of the session. It does
 * not ask on a terminal, where a question would appear between the agent's log lines.
 * @param times times for which the store is then unlocked
 * @returns the function; undefined without an askpass program
 */
export function askToUnlockOf(session: Session, times: UnlockTimes): AskToUnlock | undefined {
  const program = askpassOf(session);
  if (program === undefined) return undefined;
  return async (door) => {
    let wrong = 0;
    const question = `A program wants to use a key (${door}). Passphrase for the Coffer store:`;
    const store = await openWith(session, [
      {
        source: 'the passphrase',
        kind: 'passphrase',
        asks: true,
        reveal: () =>
          answerByProgram(
            program,
            wrong === 0 ? question : `Wrong passphrase. ${question}`,
            askpassVariables(session),
          ),
        again: () => ++wrong < ATTEMPTS,
      },
    ]);
    return closing(store, async () => ({ handed: await handOver(store), ...times }));
  };
}
