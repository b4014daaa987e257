/**
 * One look at something far away for all who ask at about the same time. A look counts for those who asked before it was
 * sent, and for nobody else: whoever asks later may know of changes that it misses. One look is under way at a time; all
 * who come meanwhile share the next one.
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
    this.#underWay = sent.catch(() => undefined);
    return sent;
  }
}
