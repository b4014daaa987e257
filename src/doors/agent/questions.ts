import type { Offer } from '../../access/doors.ts';
import { elapsedMs } from '../../ground/clock.ts';
import { asCofferError, denied } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import type { AgentUnlocking } from '../../service/agent/calls.ts';
import type { AgentDoorKind } from './agent-door.ts';
import { type Ask, type Desk, keyNameOf } from './desk.ts';

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
    if (now() < answers.quietUntil)
      throw denied('the same use was not confirmed a moment ago, and the user is not asked again yet');
    if (await ask?.(question, gone)) {
      answers.noes = 0;
      return;
    }
    // A client that has disconnected was not denied.
    if (!gone.aborted) {
      answers.quietUntil = now() + Math.min(FIRST_QUIET_MS * 2 ** answers.noes, MOST_QUIET_MS);
      answers.noes += 1;
    }
    throw denied('this use of the key was not confirmed', {
      hint: 'the user denied it or did not answer in time, or SSH_ASKPASS, the program that asks, failed',
    });
  };

  return async (offer: Offer, what, gone) => {
    if (!offer.confirm) return;
    if (ask === undefined)
      throw denied(
        'the agent cannot ask for confirmation: it has neither a terminal nor a program for that (SSH_ASKPASS)',
      );
    const key = keyNameOf(offer);
    const answers = madeOnce(known, key, () => ({
      last: Promise.resolve(),
      noes: 0,
      quietUntil: Number.NEGATIVE_INFINITY,
    }));
    const answered = answers.last.then(() =>
      put(answers, `Allow ${name} to use key ${key} to ${what}?`, gone),
    );
    answers.last = answered.catch(() => undefined);
    await answered;
  };
}

/**
 * Asks the user to unlock the store, on behalf of a protocol. Resolves to undefined if the user refuses.
 * @throws errors of opening the store
 */
export type AskToUnlock = (door: string) => Promise<AgentUnlocking | undefined>;

/**
 * Time in milliseconds after a refusal during which the user is not asked again: a program that retries would open a
 * window each time.
 */
const REFUSED_FOR_MS = 60_000;

/**
 * Prompt of a locked agent when a program wants a key: one at a time, for all protocols together.
 * @see docs/decisions/0237
 */
export class UnlockQuestion {
  readonly #ask: AskToUnlock;
  readonly #unlock: (unlocking: AgentUnlocking) => Promise<unknown>;
  readonly #now: () => number;
  #asking: Promise<void> | undefined;
  #silentUntil = Number.NEGATIVE_INFINITY;

  /** @param now monotonic clock, in milliseconds */
  constructor(ask: AskToUnlock, unlock: (unlocking: AgentUnlocking) => Promise<unknown>, now = elapsedMs) {
    this.#ask = ask;
    this.#unlock = unlock;
    this.#now = now;
  }

  /**
   * Resolves once the store is open, or was not unlocked. Callers that arrive during the prompt wait for the same
   * answer.
   * @throws any error that is not a `CofferError`
   */
  put(door: string): Promise<void> {
    if (this.#asking === undefined && this.#now() < this.#silentUntil) return Promise.resolve();
    this.#asking ??= this.#once(door).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #once(door: string): Promise<void> {
    let isUnlocked = false;
    try {
      const unlocking = await this.#ask(door);
      if (unlocking === undefined) return;
      await this.#unlock(unlocking);
      isUnlocked = true;
    } catch (error) {
      // A wrong passphrase, or a store that cannot be read now: the program gets the error that the store is locked.
      if (asCofferError(error) === undefined) throw error;
    } finally {
      if (!isUnlocked) this.#silentUntil = this.#now() + REFUSED_FOR_MS;
    }
  }
}
