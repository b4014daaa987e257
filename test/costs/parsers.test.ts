import { describe, expect, it } from 'vitest';
import { withoutLast } from '../../src/ground/trim.ts';
import { isLong } from '../long.ts';
import { processorMsUntil } from '../processor-time.ts';
import { daily } from '../sampled.ts';
import { seeded } from '../seeded.ts';
import { hurtfulTexts, mixedTexts, nestedDer } from './hurtful.ts';
import { PARSERS, type Parser } from './parsers.ts';

const SHORT = isLong ? 16 * 1024 : 8 * 1024;
const LONG = 4 * SHORT;
/** What costs the square of its length is 16 times as dear at four times the length, and what costs in proportion 4 times. */
const MOST_TIMES_AS_DEAR = 8;
/** Whatever costs less than this at the greater length does no harm. */
const FREE_MS = 25;
const MORE = 600;

const costOf = (work: () => unknown): Promise<number> =>
  processorMsUntil(async () => {
    try {
      await work();
    } catch {
      // A refusal is as good as an answer.
    }
  });

const TIMES = isLong ? 5 : 3;

/** The least of several, since the compiler and the collector of garbage come upon each now and then. */
async function leastOf(work: () => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < TIMES; time++) least = Math.min(least, await costOf(work));
  return least;
}

/** Whether it seems dear to one of many looks: beside work that takes both cores, it may not to the first. */
async function isSeen(take: (length: number) => unknown): Promise<boolean> {
  for (let look = 0; look < 20; look++) if (await seemsDear(take)) return true;
  return false;
}

/** What is seen to be dear once, by a busy machine or a full memory, is looked at again: what costs the square is dear each time. */
async function isDear(take: (length: number) => unknown): Promise<boolean> {
  for (let look = 0; look < 6; look++) if (!(await seemsDear(take))) return false;
  return true;
}

async function seemsDear(take: (length: number) => unknown): Promise<boolean> {
  if ((await costOf(() => take(LONG))) <= FREE_MS) return false;
  const long = await leastOf(() => take(LONG));
  if (long <= FREE_MS) return false;
  const short = await leastOf(() => take(SHORT));
  return long > MOST_TIMES_AS_DEAR * Math.max(short, 1);
}

async function dearOf({ take, starts, oneIn = 1 }: Parser): Promise<readonly string[]> {
  const chance = seeded();
  const all = hurtfulTexts(starts);
  // A parser that is slow by itself is given a part of them, drawn by the seed: in the long proof a larger one, and the others all.
  const share = isLong ? Math.ceil(oneIn / 3) : 6 * oneIn;
  // At least one of them, whatever is drawn.
  const offset = chance.below(Math.min(share, all.length));
  const mixed = isLong ? mixedTexts((of) => chance.pick(of), Math.ceil(MORE / share), starts) : [];
  const texts = [...all.filter((_, index) => index % share === offset), ...mixed];
  const dear: string[] = [];
  for (const { what, of } of daily(texts, chance)) {
    if (await isDear((length) => take(of(length)))) dear.push(what);
  }
  return dear;
}

describe('what a stranger sends', () => {
  it.each(Object.entries(PARSERS))(
    'is read in proportion to its length, whatever it repeats: %s',
    async (_, parser) => {
      expect(await dearOf(parser)).toEqual([]);
    },
  );

  it.each(['DER', 'a certificate', 'a list of revoked certificates'])(
    'is read in proportion to its length, however deep it is: %s',
    async (name) => {
      const take = PARSERS[name]?.take;
      expect(await isDear((length) => take?.(nestedDer(length).toString('latin1')))).toBe(false);
    },
  );

  it('is seen to take too long where it is the square of its length', async () => {
    // This part of it takes long enough to be seen, on a fast machine as well.
    const slashes = (length: number): string => `a${'/'.repeat(length / (isLong ? 3 : 4))}a`;
    expect(await isSeen((length) => slashes(length).replace(/\/+$/, ''))).toBe(true);
    expect(await isDear((length) => withoutLast(slashes(length), '/'))).toBe(false);
  });
});
