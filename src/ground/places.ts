/** Total number of places, and the maximum per source. */
export interface PlaceLimits {
  readonly most: number;
  readonly mostOfOne: number;
}

/** Limited places for unauthenticated clients, counted by source from their arrival. */
export class Places {
  readonly #room: PlaceLimits;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(room: PlaceLimits) {
    this.#room = room;
  }

  /**
   * Takes a place; false if there is none for that source.
   * @param mostOfOne maximum of this source, if it has its own
   */
  enter(source: string, mostOfOne = this.#room.mostOfOne): boolean {
    if (!this.mayHoldMore(source, mostOfOne) || this.#taken >= this.#room.most) return false;
    this.#held.set(source, this.heldBy(source) + 1);
    this.#taken += 1;
    return true;
  }

  /** Returns a place. */
  leave(source: string): void {
    const held = this.heldBy(source);
    if (held === 0) return;
    if (held === 1) this.#held.delete(source);
    else this.#held.set(source, held - 1);
    this.#taken -= 1;
  }

  heldBy(source: string): number {
    return this.#held.get(source) ?? 0;
  }

  /** Whether a source is below its maximum, regardless of the total. */
  mayHoldMore(source: string, mostOfOne = this.#room.mostOfOne): boolean {
    return this.heldBy(source) < mostOfOne;
  }

  /**
   * Returns the source that must give up a place when all are taken, so that another source gets one: the one with the
   * most, unless the other would have as many then.
   */
  owesTo(source: string): string | undefined {
    let most = this.heldBy(source) + 1;
    let found: string | undefined;
    for (const [one, held] of this.#held) {
      if (held > most) [most, found] = [held, one];
    }
    return found;
  }
}
