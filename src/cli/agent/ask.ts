import { refusedAs } from '../../ground/errors.ts';
import { ANSWER_WITHIN_MS, askpassOf, askpassVariables, confirmByProgram } from '../secrets/askpass.ts';
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
