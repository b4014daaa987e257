import type { Offer } from '../../access/doors.ts';
import { elapsedMs } from '../../ground/clock.ts';
import { denied } from '../../ground/errors.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask, Desk } from './desk.ts';
import { keyNameOf } from './key-name.ts';

/**
 * After a no nobody is asked about the same key for so long, and twice as long after each further one: a program that asks until
 * somebody tires of it gets nowhere, and who said no by mistake waits a moment.
 */
const FIRST_QUIET_MS = 10_000;
const MOST_QUIET_MS = 10 * 60_000;

/** What was answered about a key of a door. */
interface Answers {
  /** One question at a time: what is answered no answers those who wait behind it. */
  last: Promise<unknown>;
  /** Since the last yes. */
  noes: number;
  quietUntil: number;
}

/**
 * Asks before a key is used, where that was said when it was offered.
 * @param ask undefined where nobody can be asked.
 * @param now in milliseconds, of a clock that nobody sets.
 * @see docs/decisions/0245
 */
export function consentBy({ name }: AgentDoorKind, ask: Ask | undefined, now = elapsedMs): Desk['consent'] {
  const known = new Map<string, Answers>();

  const put = async (answers: Answers, question: string, gone: AbortSignal): Promise<void> => {
    if (now() < answers.quietUntil) throw denied('it was not allowed a moment ago');
    if (await ask?.(question, gone)) {
      answers.noes = 0;
      return;
    }
    // Who has hung up was not answered.
    if (!gone.aborted) {
      answers.quietUntil = now() + Math.min(FIRST_QUIET_MS * 2 ** answers.noes, MOST_QUIET_MS);
      answers.noes += 1;
    }
    throw denied('it was not allowed');
  };

  return async (offer: Offer, what, gone) => {
    if (!offer.confirm) return;
    if (ask === undefined) throw denied('there is nobody to ask');
    const key = keyNameOf(offer);
    const answers = known.get(key) ?? {
      last: Promise.resolve(),
      noes: 0,
      quietUntil: Number.NEGATIVE_INFINITY,
    };
    known.set(key, answers);
    const answered = answers.last.then(() =>
      put(answers, `Let ${name} use the key ${key} to ${what}?`, gone),
    );
    answers.last = answered.catch(() => undefined);
    await answered;
  };
}
