import { appendFileSync } from 'node:fs';
import { expect, inject } from 'vitest';

/** Counts faults and what they broke, over a test; the sums are printed at the end of the suite. */
export class Tally {
  readonly #broken: string[] = [];
  readonly #kind: string;
  injected = 0;

  /** @param kind what is counted on its own as well, such as "crash states". */
  constructor(kind = '') {
    this.#kind = kind;
  }

  /**
   * Checks what must hold after a fault that has happened. A failure does not end the test, so that one run shows all.
   * @param what names the fault, so that it can be found again.
   */
  async after(what: string, check: () => Promise<void> | void): Promise<void> {
    this.injected++;
    appendFileSync(inject('tally'), `injected ${this.#kind}\n`);
    try {
      await check();
    } catch (error) {
      appendFileSync(inject('tally'), 'broken\n');
      this.#broken.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** @throws when a promise was broken, or nothing was tried. */
  settle(): void {
    expect(this.#broken).toEqual([]);
    expect(this.injected).toBeGreaterThan(0);
  }
}
