import fc from 'fast-check';

/** Code points that halves of pairs of UTF-16 have, which no text holds by themselves. */
const HALVES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

const sign = fc
  .integer({ min: 0, max: LAST - HALVES.count })
  .map((point) => String.fromCodePoint(point < HALVES.first ? point : point + HALVES.count));

/**
 * Texts of any characters. fast-check's own for this (`unit: 'binary'`) begin with a map of all million characters, which takes each process
 * of tests a second and a fifth of its memory.
 * @returns an arbitrary, of code points as many as `minLength` and `maxLength` say
 */
export const anyText = (lengths: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ ...lengths, unit: sign });
