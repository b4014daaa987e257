import { turn } from '../../../ground/pause.ts';

/** So many turns of the event loop are given to others between two looks. Without others they take microseconds. */
const GATHERING_TURNS = 8;

/**
 * One look at something far away for all who ask at about the same time. A look counts for those who asked before it was
 * sent, and for nobody else: whoever asks later may know of changes that it misses. One look is under way at a time; all
 * who come meanwhile share the next one. It is sent only after those who got the last answer have had their turn, and
 * others have had time to come: so looks are few under load, and nobody waits without it.
 */
export class SharedLook<T> {
  readonly #look: () => Promise<T>;
  #underWay: Promise<unknown> = Promise.resolve();
  /** Not sent yet. */
  #next: Promise<T> | undefined;

  constructor(look: () => Promise<T>) {
    this.#look = look;
  }

  ask(): Promise<T> {
    this.#next ??= this.#after(this.#underWay);
    return this.#next;
  }

  #after(before: Promise<unknown>): Promise<T> {
    const send = (): Promise<T> => {
      this.#next = undefined;
      return this.#look();
    };
    const sent = before.then(send);
    this.#underWay = sent.catch(() => undefined).then(gather);
    return sent;
  }
}

async function gather(): Promise<void> {
  for (let turns = 0; turns < GATHERING_TURNS; turns++) await turn();
}
