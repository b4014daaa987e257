/** Sets of small numbers as bits: of epochs, which are few compared with the queries about them. */
export type Bits = Int32Array;

const WORD_BITS = 32;
const wordOf = (at: number): number => at >> 5;
const bitOf = (at: number): number => 1 << (at & 31);
/** Returns the position of the lowest set bit of a non-zero word. */
const lowest = (word: number): number => 31 - Math.clz32(word & -word);

export const noBits = (count: number): Bits => new Int32Array(Math.max(1, Math.ceil(count / WORD_BITS)));

export const has = (bits: Bits, at: number): boolean => ((bits[wordOf(at)] ?? 0) & bitOf(at)) !== 0;

export function put(bits: Bits, at: number): void {
  bits[wordOf(at)] = (bits[wordOf(at)] ?? 0) | bitOf(at);
}

export function drop(bits: Bits, at: number): void {
  bits[wordOf(at)] = (bits[wordOf(at)] ?? 0) & ~bitOf(at);
}

/** Adds all of `more`. */
export function join(bits: Bits, more: Bits): void {
  for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] ?? 0) | (more[i] ?? 0);
}

/** Adds those of `more` that are not in `but`. */
export function joinBut(bits: Bits, more: Bits, but: Bits): void {
  for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] ?? 0) | ((more[i] ?? 0) & ~(but[i] ?? 0));
}

/** Removes all of `others`. */
export function without(bits: Bits, others: Bits): void {
  for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] ?? 0) & ~(others[i] ?? 0);
}

/** Keeps those that are also in `others`. */
export function keep(bits: Bits, others: Bits): void {
  for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] ?? 0) & (others[i] ?? 0);
}

export function meets(bits: Bits, others: Bits): boolean {
  for (let i = 0; i < bits.length; i++) if (((bits[i] ?? 0) & (others[i] ?? 0)) !== 0) return true;
  return false;
}

export function each(bits: Bits, visit: (at: number) => void): void {
  for (let i = 0; i < bits.length; i++) {
    for (let word = bits[i] ?? 0; word !== 0; word &= word - 1) visit(i * WORD_BITS + lowest(word));
  }
}

/** Returns the first one that is in both, starting with the word of `from`; -1 if there is none. */
export function firstInBoth(bits: Bits, others: Bits, from = 0): number {
  for (let i = wordOf(from); i < bits.length; i++) {
    const word = (bits[i] ?? 0) & (others[i] ?? 0);
    if (word !== 0) return i * WORD_BITS + lowest(word);
  }
  return -1;
}
