import type { Chance } from './chance.ts';
import { isLong } from './long.ts';

/**
 * All of these in the long proof; otherwise one out of each ten, or as many as said, that follow each other, so that every region of a
 * file has its own.
 */
export const sampled = <T>(all: readonly T[], chance: Chance, oneOf = 10): readonly T[] =>
  isLong ? all : oneOutOf(oneOf, all, chance);

/** One out of each so many that follow each other. */
export const oneOutOf = <T>(many: number, all: readonly T[], chance: Chance): readonly T[] =>
  Array.from({ length: Math.ceil(all.length / many) }, (_, index) =>
    chance.pick(all.slice(index * many, index * many + many)),
  );

/** As `sampled`, of the positions below a length. */
export const sampledBelow = (length: number, chance: Chance): readonly number[] =>
  sampled([...Array(length).keys()], chance);
