/** A piece of a text, by its first character and the one behind its last. */
export interface Occurrence {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds which of many pieces stand in one short text. To look for each piece by itself takes their number times the length of
 * the text; this takes a look at each character of a piece, and at most as many as stand in the text one behind another.
 *
 * It is a suffix automaton: each state stands for the pieces of the text that end at the same places.
 */
export class Occurrences {
  readonly #text: string;
  /** By the code of a character. */
  readonly #next: Map<number, number>[] = [new Map()];
  readonly #lengths: number[] = [0];
  readonly #links: number[] = [-1];
  /** The state of the whole text up to each character. */
  readonly #ends: number[] = [];
  /** The longest piece that was found in each state; 0 for none. */
  readonly #found: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    let last = 0;
    for (let at = 0; at < text.length; at++) {
      last = this.#extend(last, text.charCodeAt(at));
      this.#ends.push(last);
    }
  }

  /**
   * Marks where a piece stands in the text; and where its beginning does that is cut short, if that is long enough to be no
   * chance.
   * @returns whether the whole piece stands there.
   */
  mark(piece: string, leastOfBeginning = Number.POSITIVE_INFINITY): boolean {
    let state: number | undefined = 0;
    for (let length = 1; length <= piece.length; length++) {
      state = this.#next[state]?.get(piece.charCodeAt(length - 1));
      if (state === undefined) return false;
      if (length < leastOfBeginning && length < piece.length) continue;
      this.#found[state] = Math.max(this.#found[state] ?? 0, length);
    }
    return piece !== '';
  }

  /** What was marked, from left to right and none over another: from the end of the text on, the longest at each place. */
  marked(): readonly Occurrence[] {
    const longest = this.#longestByState();
    const occurrences: Occurrence[] = [];
    for (let end = this.#text.length; end > 0; ) {
      const length = longest[this.#ends[end - 1] ?? 0] ?? 0;
      if (length > 0) occurrences.push({ start: end - length, end });
      end -= Math.max(length, 1);
    }
    return occurrences.reverse();
  }

  /** What ends somewhere also ends there in the states of its shorter ends. */
  #longestByState(): readonly number[] {
    const longest = [...this.#found];
    const byLength = this.#lengths.map((_, state) => state).sort((a, b) => this.#length(a) - this.#length(b));
    for (const state of byLength) {
      if (longest[state] === 0) longest[state] = longest[this.#links[state] ?? -1] ?? 0;
    }
    return longest;
  }

  #length(state: number): number {
    return this.#lengths[state] ?? 0;
  }

  #extend(last: number, code: number): number {
    const added = this.#add(this.#length(last) + 1, new Map());
    let before = last;
    while (before !== -1 && this.#next[before]?.has(code) === false) {
      this.#next[before]?.set(code, added);
      before = this.#links[before] ?? -1;
    }
    this.#links[added] = before === -1 ? 0 : this.#linkTo(before, code);
    return added;
  }

  /** The state for exactly what `before` stands for and the character, told apart from longer ones where need be. */
  #linkTo(before: number, code: number): number {
    const there = this.#next[before]?.get(code) ?? 0;
    if (this.#length(there) === this.#length(before) + 1) return there;
    const apart = this.#add(this.#length(before) + 1, new Map(this.#next[there]));
    this.#links[apart] = this.#links[there] ?? 0;
    this.#links[there] = apart;
    for (let state = before; state !== -1 && this.#next[state]?.get(code) === there; ) {
      this.#next[state]?.set(code, apart);
      state = this.#links[state] ?? -1;
    }
    return apart;
  }

  #add(length: number, next: Map<number, number>): number {
    this.#next.push(next);
    this.#lengths.push(length);
    this.#links.push(0);
    this.#found.push(0);
    return this.#next.length - 1;
  }
}
