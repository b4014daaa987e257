import { describe, expect, it } from 'vitest';
import { isElsewhere, pairOf } from '../../../src/cli/files/pairs.ts';

describe('KEY=VALUE on a command line', () => {
  it.each([
    ['a=b', ['a', 'b']],
    ['a=', ['a', '']],
    ['a=b=c', ['a', 'b=c']],
    ['a==', ['a', '=']],
  ])('is split at its first sign: %s', (text, pair) => {
    expect(pairOf(text)).toEqual(pair);
  });

  it.each(['', '=', '=b', 'a'])('is not %j', (text) => {
    expect(() => pairOf(text)).toThrow('is not KEY=VALUE');
  });

  it('has its value in a file or on standard input by one sign at its beginning', () => {
    expect(['-', '@', '@file', '--', 'a@b', ''].filter(isElsewhere)).toEqual(['-', '@', '@file']);
  });
});
