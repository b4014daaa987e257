import type { Chance } from './chance.ts';
import { isDaily, isLong } from './long.ts';

/**
 * All of these in the long proof, and two of each three in that of a day; otherwise one out of each ten, or as many as said, that follow each other, so that every region of a
 * file has its own.
 */
export const sampled = <T>(all: readonly T[], chance: Chance, oneOf = 10): readonly T[] =>
  isLong ? daily(all, chance) : oneOutOf(oneOf, all, chance);

/** In the long proof of a day, two out of each three that follow each other. */
export function daily<T>(all: readonly T[], chance: Chance): readonly T[] {
  if (!isDaily) return all;
  const out = new Set(oneOutOf(3, [...all.keys()], chance));
  return all.length < 3 ? all : all.filter((_, index) => !out.has(index));
}

/** One out of each so many that follow each other. */
export const oneOutOf = <T>(many: number, all: readonly T[], chance: Chance): readonly T[] =>
  Array.from({ length: Math.ceil(all.length / many) }, (_, index) =>
    chance.pick(all.slice(index * many, index * many + many)),
  );

/** As `sampled`, of the positions below a length. */
export const sampledBelow = (length: number, chance: Chance): readonly number[] =>
  sampled([...Array(length).keys()], chance);
