import { elapsedMs } from '../../ground/clock.ts';
import type { Times } from './calls.ts';
import type { Deadline, Ends } from './watchdog.ts';

/** The two clocks of a machine, in milliseconds: that of the wall, and one that nobody sets, but which stands still in suspend. */
export interface Clocks {
  wall(): number;
  steady(): number;
}

const MACHINE: Clocks = { wall: () => Date.now(), steady: elapsedMs };

/** A moment on both. */
interface Moment {
  readonly wall: number;
  readonly steady: number;
}

/**
 * How long a store stays unlocked. A time is up as soon as either clock says so: one goes on while the machine sleeps, the other
 * can't be set back.
 */
export class Lifetime {
  readonly #clocks: Clocks;
  readonly #idleMs: number;
  readonly #end: Moment;
  #idleEnd: Moment;

  constructor({ idleMs, forMs }: Times, clocks: Clocks = MACHINE) {
    this.#clocks = clocks;
    this.#idleMs = idleMs;
    this.#end = this.#after(forMs);
    this.#idleEnd = this.#after(idleMs);
  }

  /** A key was used: its idle time starts anew. */
  use(): void {
    this.#idleEnd = this.#after(this.#idleMs);
  }

  /** Milliseconds until it is over as far as anybody knows now; 0 or less when it is. */
  get leftMs(): number {
    const wall = this.#clocks.wall();
    const steady = this.#clocks.steady();
    return Math.min(...[this.#end, this.#idleEnd].flatMap((end) => [end.wall - wall, end.steady - steady]));
  }

  /** When it is over as far as anybody knows now. */
  get ends(): Ends {
    const steady = this.#clocks.steady();
    const deadline = (end: Moment): Deadline => ({ wall: end.wall, leftMs: end.steady - steady });
    return { latest: deadline(this.#end), idle: deadline(this.#idleEnd), idleMs: this.#idleMs };
  }

  /** Milliseconds since 1970. */
  get until(): { readonly idle: number; readonly latest: number } {
    return { idle: Math.min(this.#idleEnd.wall, this.#end.wall), latest: this.#end.wall };
  }

  #after(ms: number): Moment {
    return { wall: this.#clocks.wall() + ms, steady: this.#clocks.steady() + ms };
  }
}
