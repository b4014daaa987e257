import type { AskToUnlock } from '../../doors/agent/questions.ts';
import { closing } from '../../ground/closing.ts';
import type { UnlockTimes } from '../../service/agent/calls.ts';
import { handOver } from '../../store/handed-over.ts';
import { answerByProgram, askpassOf, askpassVariables } from '../secrets/askpass.ts';
import { openWith } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';

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
