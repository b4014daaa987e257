import { expect, it } from 'vitest';
import { Lookahead } from '../../../src/transit/envelope/ports.ts';

/** A source that gives its bytes in pieces of this size. */
function sourceOf(text: string, piece: number): Lookahead {
  let rest = Buffer.from(text);
  return new Lookahead({
    read: async (into) => {
      const count = Math.min(piece, into.length, rest.length);
      rest.copy(into, 0, 0, count);
      rest = rest.subarray(count);
      return count;
    },
  });
}

it.each([1, 3, 100])(
  'a line has as many bytes as are allowed, and no more, in pieces of %i',
  async (piece) => {
    expect(await sourceOf('abc\ndef\n', piece).line(3)).toBe('abc');
    expect(await sourceOf('abc\ndef\n', piece).line(2)).toBeUndefined();
    expect(await sourceOf('abc', piece).line(3)).toBeUndefined();
    expect(await sourceOf('\nabc', piece).line(0)).toBe('');
    const source = sourceOf('abc\ndef', piece);
    expect([await source.line(9), source.taken]).toEqual(['abc', 4]);
    expect((await source.peek(9)).toString()).toBe('def');
    expect([await source.line(9), (await source.peek(2)).toString()]).toEqual([undefined, 'de']);
  },
);
