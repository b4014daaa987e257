import { CofferError } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { type PlaceLimits, Places } from '../../ground/places.ts';

export interface TurnOptions extends PlaceLimits {
  /** Maximum number of concurrent runs. */
  readonly atOnce: number;
  /** Error text if the queue is full. */
  readonly refusal: string;
  /** Pause of a slot before its next run, given the duration of the last one in milliseconds. */
  readonly rest?: (tookMs: number) => Promise<void>;
}

/** Identity of a waiting caller: its source, and the name it acts for. */
export interface Claim {
  readonly source: string;
  readonly name: string;
}

/** Thrown if the queue is full for a source. */
export class Crowded extends CofferError {
  constructor(refusal: string) {
    super('unavailable', refusal, { hint: 'retry in a moment' });
  }
}

interface WaitingLogin {
  readonly name: string;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Fair queue for work that unauthenticated clients can request, with few concurrent runs. Sources take turns, round
 * robin, so that no source waits for all requests of another one; and runs for the same name are sequential, so that a
 * failure is counted before the next attempt.
 * @see docs/decisions/0275
 */
export class LoginTurns {
  readonly #options: TurnOptions;
  readonly #places: Places;
  /** Queues by source; the source whose turn is next comes first. */
  readonly #queues = new Map<string, WaitingLogin[]>();
  readonly #busyNames = new Set<string>();
  #running = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#places = new Places(options);
  }

  /**
   * Runs work when its turn comes.
   * @throws `Crowded` if the source has reached its limit; and for a waiting caller if all places are taken and a
   * source with fewer places arrives: the last caller of the source with the most places is evicted
   */
  async take<T>({ source, name }: Claim, run: () => Promise<T>): Promise<T> {
    if (!this.#places.enter(source)) {
      this.#makeRoom(source);
      if (!this.#places.enter(source)) throw new Crowded(this.#options.refusal);
    }
    await this.#turn(source, name);
    try {
      return await this.#run(name, run);
    } finally {
      this.#places.leave(source);
    }
  }

  #makeRoom(source: string): void {
    const most = this.#places.mayHoldMore(source) ? this.#places.owesTo(source) : undefined;
    const queue = most === undefined ? undefined : this.#queues.get(most);
    const last = queue?.pop();
    if (most === undefined || last === undefined) return;
    if (queue?.length === 0) this.#queues.delete(most);
    this.#places.leave(most);
    last.refuse(new Crowded(this.#options.refusal));
  }

  #turn(source: string, name: string): Promise<void> {
    return new Promise((begin, refuse) => {
      madeOnce(this.#queues, source, () => []).push({ name, begin, refuse });
      this.#next();
    });
  }

  async #run<T>(name: string, run: () => Promise<T>): Promise<T> {
    const startMs = performance.now();
    try {
      return await run();
    } finally {
      this.#busyNames.delete(name);
      const rested = this.#options.rest?.(performance.now() - startMs);
      if (rested === undefined) this.#free();
      else void rested.then(() => this.#free());
    }
  }

  #free(): void {
    this.#running -= 1;
    this.#next();
  }

  #next(): void {
    while (this.#running < this.#options.atOnce) {
      const next = this.#takeNext();
      if (next === undefined) return;
      this.#running += 1;
      this.#busyNames.add(next.name);
      next.begin();
    }
  }

  /** Takes the first runnable caller of the first source that has one: its name must not be running. */
  #takeNext(): WaitingLogin | undefined {
    for (const [source, queue] of this.#queues) {
      const at = queue.findIndex(({ name }) => !this.#busyNames.has(name));
      const [found] = at === -1 ? [] : queue.splice(at, 1);
      if (found === undefined) continue;
      this.#queues.delete(source);
      if (queue.length > 0) this.#queues.set(source, queue);
      return found;
    }
    return undefined;
  }
}
