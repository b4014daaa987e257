import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import {
  base58,
  newExternalId,
  newHome,
  newKey,
  parseIdentifier,
  printIdentifier,
  spread,
} from '../../src/tags/names.ts';

const LETTERS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

describe('identifiers', () => {
  it('are a prefix and 16 letters of base 58', () => {
    const address = { home: newHome(systemRandom), key: newKey(systemRandom) };
    expect(printIdentifier('tag', address)).toMatch(/^tag-[1-9A-HJ-NP-Za-km-z]{16}$/);
    expect(printIdentifier('ws', address)).toMatch(/^ws-[1-9A-HJ-NP-Za-km-z]{16}$/);
    expect(newExternalId(systemRandom)).toMatch(/^org-[1-9A-HJ-NP-Za-km-z]{16}$/);
  });

  it('lead back to their address', () => {
    const letters = (length: number) =>
      fc.string({ unit: fc.constantFrom(...LETTERS), minLength: length, maxLength: length });
    fc.assert(
      fc.property(letters(4), letters(12), (home, key) => {
        expect(parseIdentifier('ws', printIdentifier('ws', { home, key }))).toEqual({ home, key });
      }),
    );
  });

  it.each([
    '',
    'tag-',
    'tag-1',
    'nonexisting',
    'ws-Hn4jLs8TdFg6WcXe',
    'tag-Kx7mPq2RtVw9YzB0',
    'tag-Kx7mPq2RtVw9YzBnn',
  ])('cannot be %j for a tag', (text) => {
    expect(parseIdentifier('tag', text)).toBeUndefined();
  });

  it('use every letter about as often as the others', () => {
    const counts = new Map<string, number>();
    for (const letter of base58(systemRandom, 58_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual([...LETTERS].sort());
    // 1,000 of each on average; seven standard deviations either way.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(220);
  });

  it('spread keys over the whole range', () => {
    expect(spread('111zzzzzzzzz')).toBe(0);
    expect(spread('zzz111111111')).toBe(58 ** 3 - 1);
  });
});
