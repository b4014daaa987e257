import { unavailable } from '../../ground/errors.ts';

/** Passwords that are computed at once in a process: the threads that do it also read and write files. */
const AT_ONCE = 2;
/** Logins that may wait for that. */
const MOST_WAITING = 100;

/**
 * Puts logins that cost much in a row: few run at once, those of one name one after the other, so that failures are counted
 * before the next try.
 */
export class Turns {
  readonly #names = new Map<string, Promise<unknown>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #inside = 0;

  /** @throws `unavailable` when too many wait. */
  async take<T>(name: string, run: () => Promise<T>): Promise<T> {
    if (this.#inside >= MOST_WAITING) {
      throw unavailable('too many logins at once', { hint: 'try again in a moment' });
    }
    this.#inside += 1;
    const before = this.#names.get(name) ?? Promise.resolve();
    const mine = before.then(() => this.#inTurn(run));
    const settled = mine.catch(() => undefined);
    this.#names.set(name, settled);
    try {
      return await mine;
    } finally {
      this.#inside -= 1;
      if (this.#names.get(name) === settled) this.#names.delete(name);
    }
  }

  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
