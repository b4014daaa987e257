/**
 * A stream of random choices that is the same for the same seed on every machine. Each case of a run has one of its own, made
 * from the seed, the target and the number of the case, so that a case can be repeated without those before it.
 */
export class Chance {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, stream: number, index: number) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    this.#c = index | 0;
    // The first outputs still show the seed.
    for (let i = 0; i < 12; i++) this.#next();
  }

  /** The generator sfc32, whose period is 2^32 at least. */
  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + sum) | 0;
    return sum >>> 0;
  }

  /** A whole number from 0 to `bound` - 1; 0 for a bound of 0. */
  below(bound: number): number {
    return bound <= 0 ? 0 : this.#next() % bound;
  }

  /** True in one of `n` cases. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  /** @param list has at least one element. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** A small number mostly, a large one now and then. */
  size(most: number): number {
    return this.below(1 + this.below(1 + this.below(most + 1)));
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let i = 0; i < length; i++) bytes[i] = this.#next();
    return bytes;
  }
}

/** A number for a name, to keep the streams of two targets apart (FNV-1a). */
export function streamOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash;
}
