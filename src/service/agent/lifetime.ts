import { elapsedMs, printGoTime } from '../../ground/clock.ts';
import type { AgentStatus, UnlockTimes } from './calls.ts';
import type { Deadline, UnlockDeadlines } from './watchdog.ts';

/** Maximum interval between checks of the clocks, in milliseconds: one of them stops while the machine sleeps. */
const TICK_MS = 5000;
const SECOND_MS = 1000;

/** Clocks of a machine, in milliseconds: the wall clock, and the monotonic clock, which stops in suspend. */
interface Clocks {
  wall(): number;
  steady(): number;
}

const MACHINE: Clocks = { wall: () => Date.now(), steady: elapsedMs };

/** Moment on both clocks. */
interface Moment {
  readonly wall: number;
  readonly steady: number;
}

/**
 * Timeouts of an unlocked store. A timeout expires as soon as it does on either clock: one continues while the machine
 * sleeps, the other cannot be set back.
 */
export class Lifetime {
  readonly #clocks: Clocks;
  readonly #idleMs: number;
  readonly #end: Moment;
  #idleEnd: Moment;

  constructor({ idleMs, forMs }: UnlockTimes, clocks: Clocks = MACHINE) {
    this.#clocks = clocks;
    this.#idleMs = idleMs;
    this.#end = this.#after(forMs);
    this.#idleEnd = this.#after(idleMs);
  }

  /** Resets the idle timeout after a use. */
  use(): void {
    this.#idleEnd = this.#after(this.#idleMs);
  }

  /** Returns the milliseconds until the next timeout as of now; 0 or less if it has expired. */
  get leftMs(): number {
    const wall = this.#clocks.wall();
    const steady = this.#clocks.steady();
    const end = this.#end;
    const idleEnd = this.#idleEnd;
    return Math.min(end.wall - wall, end.steady - steady, idleEnd.wall - wall, idleEnd.steady - steady);
  }

  /** Returns the ends of the timeouts as of now. */
  get ends(): UnlockDeadlines {
    const steady = this.#clocks.steady();
    const deadline = (end: Moment): Deadline => ({ wall: end.wall, leftMs: end.steady - steady });
    return { latest: deadline(this.#end), idle: deadline(this.#idleEnd), idleMs: this.#idleMs };
  }

  /** Times of both timeouts, in milliseconds since the epoch. */
  get until(): { readonly idle: number; readonly latest: number } {
    return { idle: Math.min(this.#idleEnd.wall, this.#end.wall), latest: this.#end.wall };
  }

  /** Timeouts as shown in the status of an agent: RFC 3339, whole seconds. */
  get status(): Pick<AgentStatus, 'idle_until' | 'until'> {
    const { idle, latest } = this.until;
    return { idle_until: printGoTime(wholeSecond(idle)), until: printGoTime(wholeSecond(latest)) };
  }

  /** Returns the milliseconds until the clocks are to be checked again. */
  get nextCheckMs(): number {
    return Math.min(TICK_MS, Math.max(this.leftMs, 1));
  }

  #after(ms: number): Moment {
    return { wall: this.#clocks.wall() + ms, steady: this.#clocks.steady() + ms };
  }
}

const wholeSecond = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS;
