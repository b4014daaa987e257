/** What names are made of once their case is folded. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789:_-';
const LETTER_COUNT = LETTERS.length;
const TRIGRAM_COUNT = LETTER_COUNT ** 3;
const UNKNOWN = 255;

const codes = new Uint8Array(128).fill(UNKNOWN);
for (let i = 0; i < LETTER_COUNT; i++) codes[LETTERS.charCodeAt(i)] = i;

const codeAt = (text: string, at: number): number => codes[text.charCodeAt(at)] ?? UNKNOWN;

/** The number of the three letters from `at` on, or -1 when one of them is in no name. */
function trigramAt(text: string, at: number): number {
  const [first, second, third] = [codeAt(text, at), codeAt(text, at + 1), codeAt(text, at + 2)];
  if (first === UNKNOWN || second === UNKNOWN || third === UNKNOWN) return -1;
  return (first * LETTER_COUNT + second) * LETTER_COUNT + third;
}

/**
 * For every three letters, the places of the names that have them. Built in two passes over all names: how many
 * places each trigram has, then the places themselves, one run after the other in a single array.
 */
export class Trigrams {
  readonly #starts = new Uint32Array(TRIGRAM_COUNT + 1);
  readonly #places: Uint32Array;

  constructor(names: readonly string[]) {
    const starts = this.#starts;
    eachTrigram(names, (trigram) => {
      starts[trigram + 1] = (starts[trigram + 1] ?? 0) + 1;
    });
    for (let i = 0; i < TRIGRAM_COUNT; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0);
    const places = new Uint32Array(starts[TRIGRAM_COUNT] ?? 0);
    const next = starts.slice();
    eachTrigram(names, (trigram, place) => {
      const at = next[trigram] ?? 0;
      places[at] = place;
      next[trigram] = at + 1;
    });
    this.#places = places;
  }

  /**
   * The places, ascending, of all names that can contain `query` (three letters or more): those that have the rarest
   * trigram in it.
   */
  candidates(query: string): Uint32Array {
    let rarest: Uint32Array | undefined;
    for (let at = 0; at + 3 <= query.length; at++) {
      const trigram = trigramAt(query, at);
      if (trigram === -1) return new Uint32Array(0);
      const places = this.#places.subarray(this.#starts[trigram], this.#starts[trigram + 1]);
      if (rarest === undefined || places.length < rarest.length) rarest = places;
    }
    return rarest ?? new Uint32Array(0);
  }
}

/** Each trigram of each name once, however often the name has it. */
function eachTrigram(names: readonly string[], found: (trigram: number, place: number) => void): void {
  const lastPlace = new Int32Array(TRIGRAM_COUNT).fill(-1);
  for (const [place, name] of names.entries()) {
    for (let at = 0; at + 3 <= name.length; at++) {
      const trigram = trigramAt(name, at);
      if (trigram === -1 || lastPlace[trigram] === place) continue;
      lastPlace[trigram] = place;
      found(trigram, place);
    }
  }
}
