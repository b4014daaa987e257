/**
 * Whether the long proof runs (`npm run test:all`, or `LONG=1` before one file): all rounds, fresh seeds, and the files called
 * `*.long.test.ts`. `npm test` holds each promise with fewer rounds of the same, and by the files called `*.short.test.ts`.
 */
export const isLong = process.env['LONG'] === '1' || process.env['SLOW'] === '1';

/** Says that only what is not the same in `npm test` is run, behind it. */
export const ONLY_LONGER = 'ONLY_LONGER';

/**
 * Whether more of the same is tried than fits into the long proof: `SLOW=1`, which takes all that the long proof does, and hours. Before a
 * release, or when what it tries was changed.
 */
export const isSlow = process.env['SLOW'] === '1';

/**
 * Whether this is the share of the long proof that fits into the half hour of `.ci/run`: of its largest parts, two cases of three, drawn by
 * the seed of the day. `npm run test:all` has all of them.
 */
export const isDaily = isLong && !isSlow && process.env[ONLY_LONGER] === '1';

/** How many of all are gone through each day. */
export const ofDay = (all: number): number => (isDaily ? Math.ceil((2 * all) / 3) : all);

/** How many rounds of a proof are gone through: all of them in the long proof, a tenth otherwise. */
export const rounds = (all: number): number => (isLong ? ofDay(all) : Math.ceil(all / 10));
