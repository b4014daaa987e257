/** Part of a text: position of its first character, and after its last. */
export interface Occurrence {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds which of many pieces occur in one short text. Searching each piece separately takes their number times the
 * length of the text; this is linear in the length of each piece, up to its longest prefix that occurs in the text.
 *
 * It is a suffix automaton: each state stands for the substrings that end at the same positions.
 */
export class Occurrences {
  readonly #text: string;
  /** Transitions by character code. */
  readonly #next: Map<number, number>[] = [new Map()];
  readonly #lengths: number[] = [0];
  readonly #links: number[] = [-1];
  /** State of each prefix of the text. */
  readonly #ends: number[] = [];
  /** Length of the longest piece found in each state; 0 for none. */
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
   * Marks the occurrences of a piece; and of its longest prefix that occurs, if it is long enough to rule out
   * coincidence.
   * @returns whether the whole piece occurs
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

  /**
   * Returns the marked parts, from left to right without overlaps: from the end of the text on, the longest at each
   * position.
   */
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

  /** Propagates lengths: a substring that ends at a position also ends there in the states of its suffixes. */
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

  /**
   * Returns the state for exactly the strings of `before` followed by the character, split from longer ones if
   * necessary.
   */
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
