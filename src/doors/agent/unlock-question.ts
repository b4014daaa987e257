import { elapsedMs } from '../../ground/clock.ts';
import { asCofferError } from '../../ground/errors.ts';
import type { AgentUnlocking } from '../../service/agent/calls.ts';

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
