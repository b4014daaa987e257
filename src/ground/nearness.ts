import { alternatives } from './alternatives.ts';

/** Finds the name that was probably meant by one that does not exist. @see docs/decisions/0268 */

/**
 * Minimum length of a name, in characters, for each number of mistakes in it: `ab` is similar to too many names.
 */
const LENGTHS: readonly (readonly [mistakes: number, least: number])[] = [
  [3, 13],
  [2, 7],
  [1, 3],
];

/** Longest name that is compared, in characters: the cost of a comparison grows with its square. */
const MAX_LENGTH = 128;

/** More candidates than this are no help. */
const MAX_CANDIDATES = 3;

/**
 * Returns the names that are nearest to a word: those that differ only in case and separators, otherwise those with the
 * fewest slips of the finger (a letter added, missing, replaced, or exchanged with its neighbour). Nothing is returned
 * rather than a wrong name: `app-1` is not near to `app-2`, since a number is rarely mistyped for another.
 * @param names existing names; if the word itself is among them, nothing else was meant
 * @returns at most three names, in the given order; empty if none or too many are near
 */
export function nearest(word: string, names: readonly string[]): readonly string[] {
  if (word === '' || word.length > MAX_LENGTH || names.includes(word)) return [];
  const alike = names.filter((name) => plain(name) === plain(word) && plain(word) !== '');
  const found = alike.length > 0 ? alike : withFewestMistakes(word, names);
  return found.length > MAX_CANDIDATES ? [] : found;
}

/** Reduces a name to its letters, digits and other signs, without case and the separators that names are made with. */
const plain = (name: string): string => name.toLowerCase().replace(/[-_.:/\s]/g, '');

function withFewestMistakes(word: string, names: readonly string[]): readonly string[] {
  let fewest = mistakesAllowed(word.length);
  let found: string[] = [];
  for (const name of names) {
    const allowed = Math.min(fewest, mistakesAllowed(name.length));
    if (allowed === 0 || Math.abs(name.length - word.length) > allowed) continue;
    const mistakes = mistakesBetween(word.toLowerCase(), name.toLowerCase());
    if (mistakes > allowed) continue;
    if (mistakes < fewest) {
      fewest = mistakes;
      found = [];
    }
    found.push(name);
  }
  return found;
}

const mistakesAllowed = (length: number): number =>
  length > MAX_LENGTH ? 0 : (LENGTHS.find(([, least]) => length >= least)?.[0] ?? 0);

/** Counts the slips between two words: the optimal string alignment distance, with no way from one digit to another. */
function mistakesBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const letter = one.charAt(row - 1);
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const theirs = other.charAt(column - 1);
      const isExchanged =
        row > 1 &&
        column > 1 &&
        letter === other.charAt(column - 2) &&
        one.charAt(row - 2) === theirs &&
        letter !== theirs;
      current[column] = Math.min(
        (last[column] ?? 0) + costOf(letter),
        (current[column - 1] ?? 0) + costOf(theirs),
        (last[column - 1] ?? 0) + (letter === theirs ? 0 : costOf(letter, theirs)),
        isExchanged ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}

const DIGIT = /\d/;

/** A digit that is added, missing or replaced makes another number, which counts as another name. */
const costOf = (...letters: readonly string[]): number =>
  letters.some((letter) => DIGIT.test(letter)) ? Number.POSITIVE_INFINITY : 1;

/** Formats names as a question: `did you mean "orders" or "order-items"?` */
export const meantText = (names: readonly string[]): string =>
  `did you mean ${alternatives(names.map((name) => `"${name}"`))}?`;
