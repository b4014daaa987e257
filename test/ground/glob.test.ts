import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { glob } from '../../src/ground/glob.ts';

describe('a glob', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 12 });

  it('matches what a regular expression with the same runs matches', () => {
    fc.assert(
      fc.property(few, few, (pattern, text) => {
        const parts = pattern.split('*').map((part) => part.replaceAll('.', '\\.'));
        expect(glob(pattern)(text)).toBe(new RegExp(`^${parts.join('[^]*')}$`).test(text));
      }),
    );
  });

  it('of many runs costs no more than the text is long', () => {
    expect(glob('*a'.repeat(8_000))('a'.repeat(7_999))).toBe(false);
    expect(glob(`${'*a'.repeat(8_000)}*b`)('a'.repeat(60_000))).toBe(false);
  });
});
