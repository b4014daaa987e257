import { elapsedMs } from './clock.ts';
import { turn } from './pause.ts';

/** Maximum time in milliseconds that a loop may block the event loop. */
const MAX_STRETCH_MS = 15;
/** Interval in milliseconds below which reading the clock costs more than it is worth. */
const QUICK_MS = 1;
/** Maximum number of rounds between two readings of the clock: a slow round may follow fast ones at any time. */
const MAX_ROUNDS = 16;

/** Interrupts long loops, so that other work of the process gets a turn. */
export class Pace {
  #since = elapsedMs();
  #looked = this.#since;
  #rounds = 1;
  #left = 1;

  /** Called in each round of a loop; true once enough time has passed that {@link pause} is due. */
  isDue(): boolean {
    this.#left--;
    return this.#left === 0 && this.#look();
  }

  /** Yields to the event loop once. */
  async pause(): Promise<void> {
    await turn();
    this.#since = elapsedMs();
    this.#looked = this.#since;
  }

  /** Called in each round of a loop that is asynchronous anyway. */
  async step(): Promise<void> {
    if (this.isDue()) await this.pause();
  }

  /** Reads the clock; less and less often in fast rounds, at once after slow ones. */
  #look(): boolean {
    const now = elapsedMs();
    this.#rounds = now - this.#looked < QUICK_MS ? Math.min(2 * this.#rounds, MAX_ROUNDS) : 1;
    this.#left = this.#rounds;
    this.#looked = now;
    return now - this.#since >= MAX_STRETCH_MS;
  }
}
