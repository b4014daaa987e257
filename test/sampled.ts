import type { Chance } from './chance.ts';
import { isLong } from './long.ts';

/**
 * All of these in the long proof; otherwise one out of each ten, or as many as said, that follow each other, so that every region of a
 * file has its own.
 */
export function sampled<T>(all: readonly T[], chance: Chance, oneOf = 10): readonly T[] {
  if (isLong) return all;
  return Array.from({ length: Math.ceil(all.length / oneOf) }, (_, index) =>
    chance.pick(all.slice(index * oneOf, index * oneOf + oneOf)),
  );
}

/** As `sampled`, of the positions below a length. */
export const sampledBelow = (length: number, chance: Chance): readonly number[] =>
  sampled([...Array(length).keys()], chance);
