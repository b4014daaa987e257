import { expect } from 'vitest';
import { unavailable } from '../../src/ground/errors.ts';
import type { Job } from '../../src/service/frames.ts';
import { type Lane, Lanes, type LanesOptions } from '../../src/service/lanes.ts';

interface Done {
  readonly caller: string;
  readonly number: number;
}

/** A lane that does what the test says, when it says so. */
class FakeLane implements Lane {
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;
  state: 'opening' | 'open' | 'ended' = 'opening';
  job: (Done & { readonly answered: PromiseWithResolvers<Job> }) | undefined;

  readonly #began: (done: Done) => void;

  constructor(began: (done: Done) => void) {
    this.#began = began;
  }

  open(): void {
    this.state = 'open';
    this.#ready.resolve();
  }

  work({ head }: Job): Promise<Job> {
    if (this.state !== 'open' || this.job !== undefined) throw new Error('a lane takes one job at a time');
    const done = head as Done;
    this.job = { ...done, answered: Promise.withResolvers() };
    this.#began(done);
    return this.job.answered.promise;
  }

  finish(): void {
    const { job } = this;
    this.job = undefined;
    job?.answered.resolve({ head: { did: job.number }, body: [] });
  }

  end(): Promise<void> {
    if (this.state === 'ended') return this.ended;
    this.state = 'ended';
    this.#ready.reject(unavailable('it ended'));
    this.job?.answered.reject(unavailable('it ended'));
    this.job = undefined;
    this.#ended.resolve();
    return this.ended;
  }
}

export interface Submitted {
  readonly caller: string;
  readonly number: number;
  readonly settled: Promise<unknown>;
  readonly hangUp: AbortController;
  outcome: 'waits' | 'done' | 'refused';
  began: boolean;
}

/** Lanes of fakes, and all that was asked of them. */
export class World {
  readonly fakes: FakeLane[] = [];
  readonly jobs: Submitted[] = [];
  readonly began: Done[] = [];
  readonly lanes: Lanes;

  constructor(options: Partial<LanesOptions> = {}) {
    this.lanes = new Lanes(() => {
      const fake = new FakeLane((done) => this.#begin(done));
      this.fakes.push(fake);
      return fake;
    }, options);
  }

  #begin(done: Done): void {
    const job = this.jobs[done.number];
    if (job !== undefined) job.began = true;
    this.began.push(done);
  }

  submit(caller: string, bytes = 0): Submitted {
    const number = this.jobs.length;
    const ticket = this.lanes.enter(caller, bytes);
    const hangUp = new AbortController();
    const job: Submitted = {
      ...{ caller, number, hangUp, began: false, outcome: 'waits' },
      settled: Promise.resolve().then(async () => {
        try {
          const { head } = await ticket.work(
            { head: { caller, number }, body: [Buffer.alloc(bytes)] },
            hangUp.signal,
          );
          expect(head).toEqual({ did: number });
          job.outcome = 'done';
        } catch (error) {
          expect(error).toMatchObject({ kind: 'unavailable' });
          job.outcome = 'refused';
        } finally {
          ticket.leave();
        }
      }),
    };
    this.jobs.push(job);
    return job;
  }

  get live(): readonly FakeLane[] {
    return this.fakes.filter(({ state }) => state !== 'ended');
  }

  get busy(): readonly FakeLane[] {
    return this.fakes.filter(({ job }) => job !== undefined);
  }

  get waiting(): readonly Submitted[] {
    return this.jobs.filter(({ outcome, began }) => outcome === 'waits' && !began);
  }

  workingFor(caller: string): number {
    return this.busy.filter(({ job }) => job?.caller === caller).length;
  }

  order(): readonly string[] {
    return this.began.map(({ caller, number }) => `${caller}${number}`);
  }
}

/** Until nothing more follows from what was done. */
export const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
