/**
 * Whether the long proof runs (`npm run test:all`, or `LONG=1` before one file): all rounds, fresh seeds, and the files called
 * `*.long.test.ts`. `npm test` holds each promise with fewer rounds of the same.
 */
export const isLong = process.env['LONG'] === '1';

/** How many rounds of a proof are gone through: all of them in the long proof, a tenth otherwise. */
export const rounds = (all: number): number => (isLong ? all : Math.ceil(all / 10));
