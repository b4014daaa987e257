import type { Offer } from '../../access/doors.ts';
import { elapsedMs } from '../../ground/clock.ts';
import { denied } from '../../ground/errors.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask, Desk } from './desk.ts';
import { keyNameOf } from './key-name.ts';

/**
 * Time in milliseconds after a denial during which the user is not asked about the same key; doubled by each further
 * denial. A program cannot wear the user down with prompts, and after a mistaken denial the user waits only a moment.
 */
const FIRST_QUIET_MS = 10_000;
const MOST_QUIET_MS = 10 * 60_000;

/** Answers about a key of a protocol. */
interface Answers {
  /** Last prompt. Prompts are shown one at a time, and a denial also applies to those waiting behind it. */
  last: Promise<unknown>;
  /** Number of denials since the last approval. */
  noes: number;
  quietUntil: number;
}

/**
 * Creates the function that asks the user before a key is used, if its offer requires that.
 * @param ask undefined if the user cannot be asked
 * @param now monotonic clock, in milliseconds
 * @see docs/decisions/0245
 */
export function consentBy({ name }: AgentDoorKind, ask: Ask | undefined, now = elapsedMs): Desk['consent'] {
  const known = new Map<string, Answers>();

  const put = async (answers: Answers, question: string, gone: AbortSignal): Promise<void> => {
    if (now() < answers.quietUntil) throw denied('the same use was denied a moment ago');
    if (await ask?.(question, gone)) {
      answers.noes = 0;
      return;
    }
    // A client that has disconnected was not denied.
    if (!gone.aborted) {
      answers.quietUntil = now() + Math.min(FIRST_QUIET_MS * 2 ** answers.noes, MOST_QUIET_MS);
      answers.noes += 1;
    }
    throw denied('denied');
  };

  return async (offer: Offer, what, gone) => {
    if (!offer.confirm) return;
    if (ask === undefined) throw denied('cannot prompt for confirmation');
    const key = keyNameOf(offer);
    const answers = known.get(key) ?? {
      last: Promise.resolve(),
      noes: 0,
      quietUntil: Number.NEGATIVE_INFINITY,
    };
    known.set(key, answers);
    const answered = answers.last.then(() =>
      put(answers, `Allow ${name} to use key ${key} to ${what}?`, gone),
    );
    answers.last = answered.catch(() => undefined);
    await answered;
  };
}
