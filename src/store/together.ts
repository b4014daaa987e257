import { Draft } from './draft.ts';
import type { Store, Transaction } from './store.ts';

/** Changes of one transaction: those behind wait for the next. */
const MOST_AT_ONCE = 64;

interface Waiting {
  /** Makes the change, or nothing of it when it fails. */
  run(tx: Transaction): Promise<void>;
  /** To be called once everything is durable. */
  settle(): void;
  fail(error: unknown): void;
}

/**
 * Puts small changes that come at the same time into one transaction: what is durable costs the same for many as for one. Each is
 * made alone, one after the other, and sees those before it; one that throws leaves nothing behind and harms no other.
 * @see docs/decisions/0188
 */
export class Together {
  readonly #store: Store;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** As `Store.transact`; but within `change`, lists are those of before. */
  transact<T>(change: (tx: Transaction) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let settle: () => void = () => undefined;
    this.#waiting.push({
      async run(tx) {
        const draft = new Draft(tx);
        try {
          const result = await change(draft);
          draft.applyTo(tx);
          settle = () => resolve(result);
        } catch (error) {
          settle = () => reject(error);
        }
      },
      settle: () => settle(),
      fail: reject,
    });
    if (!this.#isRunning) void this.#work();
    return promise;
  }

  async #work(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) await this.#turn();
    this.#isRunning = false;
  }

  async #turn(): Promise<void> {
    const taken: Waiting[] = [];
    try {
      await this.#store.transact(async (tx) => {
        // Who came while the lock was waited for comes along.
        taken.push(...this.#waiting.splice(0, MOST_AT_ONCE));
        for (const one of taken) await one.run(tx);
      });
      for (const one of taken) one.settle();
    } catch (error) {
      if (taken.length === 0) taken.push(...this.#waiting.splice(0, MOST_AT_ONCE));
      for (const one of taken) one.fail(error);
    }
  }
}
