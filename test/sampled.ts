import type { Chance } from './chance.ts';
import { isLong } from './long.ts';

/** All of these in the long proof; otherwise one out of each ten that follow each other, so that every region of a file has its own. */
export function sampled<T>(all: readonly T[], chance: Chance): readonly T[] {
  if (isLong) return all;
  return Array.from({ length: Math.ceil(all.length / 10) }, (_, index) =>
    chance.pick(all.slice(index * 10, index * 10 + 10)),
  );
}

/** As `sampled`, of the positions below a length. */
export const sampledBelow = (length: number, chance: Chance): readonly number[] =>
  sampled([...Array(length).keys()], chance);
