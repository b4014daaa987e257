import { turn } from '../pause.ts';

/** As long as other requests of a server may wait for a bulk change to pause. */
const MAX_STRETCH_MS = 15;

/** Breaks long loops, so that the rest of the process gets its turn. */
export class Pace {
  #since = performance.now();

  /** Called at each round of a loop; waits for the event loop to turn once enough time has gone by. */
  async step(): Promise<void> {
    if (performance.now() - this.#since < MAX_STRETCH_MS) return;
    await turn();
    this.#since = performance.now();
  }
}
