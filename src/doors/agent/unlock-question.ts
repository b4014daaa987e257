import { elapsedMs } from '../../ground/clock.ts';
import { asCofferError } from '../../ground/errors.ts';
import type { Unlocking } from '../../service/agent/calls.ts';

/**
 * Asks whoever sits at the machine for what opens the store, on behalf of a door. Resolves to undefined for a no.
 * @throws what opening the store throws.
 */
export type AskToUnlock = (door: string) => Promise<Unlocking | undefined>;

/** After a no nobody is asked for so long: a program that tries again and again would open a window each time. */
const REFUSED_FOR_MS = 60_000;

/**
 * The question that a locked agent puts when a program wants a key: one at a time, for all doors together.
 * @see docs/decisions/0237
 */
export class UnlockQuestion {
  readonly #ask: AskToUnlock;
  readonly #unlock: (unlocking: Unlocking) => Promise<unknown>;
  readonly #now: () => number;
  #asking: Promise<void> | undefined;
  #silentUntil = Number.NEGATIVE_INFINITY;

  /** @param now in milliseconds, of a clock that nobody sets. */
  constructor(ask: AskToUnlock, unlock: (unlocking: Unlocking) => Promise<unknown>, now = elapsedMs) {
    this.#ask = ask;
    this.#unlock = unlock;
    this.#now = now;
  }

  /**
   * Resolves once there is nothing more to wait for: the store is open, or nobody opened it. Who comes while the question is open waits for
   * the same answer.
   * @throws what is no `CofferError`.
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
      // A wrong passphrase, a store that can't be read now: the program is told that it is locked.
      if (asCofferError(error) === undefined) throw error;
    } finally {
      if (!isUnlocked) this.#silentUntil = this.#now() + REFUSED_FOR_MS;
    }
  }
}
