import { otherNameRefused, type ScalarPlace } from './format.ts';

/**
 * Range of the values below one anchor: from `from` up to, but not including, `to`, counted in the order of the text.
 */
interface Anchored {
  readonly from: number;
  to: number;
}

/** Place whose alias is found after it was created. */
export interface AliasedPlace extends ScalarPlace {
  otherNameAt?: number;
}

/** Anchor name for readers of YAML 1.1. */
const SHORT_NAME = /^[\w-]+/;

/**
 * Anchors and aliases of one YAML document. An alias gives a value a second name, which an encrypted value must not
 * have: it is bound to its own.
 */
export class Anchors {
  readonly #anchored = new Map<string, Anchored>();
  readonly #aliases: { readonly of: Anchored; readonly offset: number }[] = [];
  readonly #first: number;

  /** @param first number of the values before this document */
  constructor(first: number) {
    this.#first = first;
  }

  /**
   * Begins a node. An anchor counts from its node on, and hides an earlier one with the same name.
   * @param from number of values before it
   * @returns function to call at its end, with the number of values then
   */
  begin(anchor: string | undefined, from: number): (to: number) => void {
    if (anchor === undefined) return () => undefined;
    const anchored: Anchored = { from, to: from };
    this.#anchored.set(anchor, anchored);
    return (to) => {
      anchored.to = to;
    };
  }

  /**
   * Records an alias. One of an unknown anchor has no meaning. For readers of YAML 1.1 its name ends earlier: `[*p:x]`
   * has an alias of `p` for them.
   */
  use(anchor: string, offset: number): void {
    const [short = anchor] = SHORT_NAME.exec(anchor) ?? [];
    for (const name of new Set([anchor, short])) {
      const of = this.#anchored.get(name);
      if (of !== undefined) this.#aliases.push({ of, offset });
    }
  }

  /**
   * Marks each value with the position of its first alias. Each value is visited once, however many aliases there are.
   * @param places values of the file up to the end of this document
   * @throws `invalid` with the line of an alias of an encrypted value, or of a node that contains one
   */
  mark(places: readonly AliasedPlace[], text: string, file: string): void {
    if (this.#aliases.length === 0) return;
    const unmarked = new NextUnmarked(this.#first, places.length);
    for (const { of, offset } of this.#aliases) {
      for (let index = unmarked.from(of.from); index < of.to; index = unmarked.from(index)) {
        const place = places[index];
        if (place === undefined) return;
        place.otherNameAt = offset;
        if (place.sealed !== undefined) throw otherNameRefused('yaml', file, text, place);
        unmarked.mark(index);
      }
    }
  }
}

/**
 * Numbers in a range, of which some are marked: finds the next unmarked one, in nearly constant time (a disjoint-set
 * forest).
 */
class NextUnmarked {
  readonly #first: number;
  readonly #next: Int32Array;

  constructor(first: number, end: number) {
    this.#first = first;
    this.#next = Int32Array.from({ length: end - first + 1 }, (_, index) => index);
  }

  mark(index: number): void {
    this.#next[index - this.#first] = index - this.#first + 1;
  }

  from(index: number): number {
    const next = this.#next;
    let found = index - this.#first;
    while (next[found] !== found) {
      const after = next[found] ?? found;
      next[found] = next[after] ?? after;
      found = after;
    }
    return found + this.#first;
  }
}
