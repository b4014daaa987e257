import { CofferError } from '../../ground/errors.ts';
import { Places, type Room } from '../../ground/places.ts';

export interface TurnOptions extends Room {
  /** How many run at once. */
  readonly atOnce: number;
  /** What there is too much of, in own words, for who finds no place. */
  readonly refusal: string;
  /** What a place rests for before the next one runs in it; given how long it ran, in milliseconds. */
  readonly rest?: (tookMs: number) => Promise<void>;
}

/** Who waits for a turn: by where they come from, and in whose name. */
export interface Claim {
  readonly source: string;
  readonly name: string;
}

/** There is no place to wait in, for that source. */
export class Crowded extends CofferError {
  constructor(refusal: string) {
    super('unavailable', refusal, { hint: 'try again in a moment' });
  }
}

interface Waiting {
  readonly name: string;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Puts work that strangers can ask for in a row: little of it runs at once. Sources take turns, whoever had one goes to the end, so
 * that nobody waits for all that another source asked for; and what is done in one name runs one after the other, so that a failure
 * is counted before the next try.
 * @see docs/decisions/0275
 */
export class Turns {
  readonly #options: TurnOptions;
  readonly #places: Places;
  /** What waits, by source; the source whose turn comes first stands first. */
  readonly #queues = new Map<string, Waiting[]>();
  readonly #busyNames = new Set<string>();
  #running = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#places = new Places(options);
  }

  /**
   * @throws `Crowded` where the source has as many places as it may have; and for who waits, when all places are taken and somebody
   *   comes whose source has fewer: the last of the source that has most goes.
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
      const queue = this.#queues.get(source) ?? [];
      queue.push({ name, begin, refuse });
      this.#queues.set(source, queue);
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

  /** The first of the first source that waits for no name. */
  #takeNext(): Waiting | undefined {
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
