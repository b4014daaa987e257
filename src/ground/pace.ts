import { elapsedMs } from './clock.ts';
import { turn } from './pause.ts';

/** So long may a loop hold the event loop before others get their turn. */
const MAX_STRETCH_MS = 15;
/** Looks at the clock this close together cost more than they tell. */
const QUICK_MS = 1;
/** Rounds between two looks at the most: a slow round may follow upon quick ones at any time. */
const MAX_ROUNDS = 16;

/** Breaks long loops, so that the rest of the process gets its turn. */
export class Pace {
  #since = elapsedMs();
  #looked = this.#since;
  #rounds = 1;
  #left = 1;

  /** Called at each round of a loop; true once enough time has gone by that {@link pause} is due. */
  isDue(): boolean {
    this.#left--;
    return this.#left === 0 && this.#look();
  }

  /** Lets the event loop turn once. */
  async pause(): Promise<void> {
    await turn();
    this.#since = elapsedMs();
    this.#looked = this.#since;
  }

  /** Called at each round of a loop whose rounds wait for something anyway. */
  async step(): Promise<void> {
    if (this.isDue()) await this.pause();
  }

  /** Quick rounds are looked at less and less often, slow ones at once. */
  #look(): boolean {
    const now = elapsedMs();
    this.#rounds = now - this.#looked < QUICK_MS ? Math.min(2 * this.#rounds, MAX_ROUNDS) : 1;
    this.#left = this.#rounds;
    this.#looked = now;
    return now - this.#since >= MAX_STRETCH_MS;
  }
}
