/**
 * Whether the long proof runs (`npm run test:all`, or `LONG=1` before one file): all rounds, fresh seeds, and the files called
 * `*.long.test.ts`. `npm test` holds each promise with fewer rounds of the same, and by the files called `*.short.test.ts`.
 */
export const isLong = process.env['LONG'] === '1' || process.env['SLOW'] === '1';

/** How many rounds of a proof are gone through: all of them in the long proof, a tenth otherwise. */
export const rounds = (all: number): number => (isLong ? all : Math.ceil(all / 10));

/**
 * Whether more of the same is tried than fits into the long proof: `SLOW=1`, which takes all that the long proof does, and hours. Before a
 * release, or when what it tries was changed.
 */
export const isSlow = process.env['SLOW'] === '1';
