import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Occurrence, Occurrences } from '../../src/ground/occurrences.ts';
import { rounds } from '../long.ts';

const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength });

/** The same, by looking at every piece at every place. */
function lookedUp(text: string, pieces: readonly string[]): readonly Occurrence[] {
  const found: Occurrence[] = [];
  for (let end = text.length; end > 0; ) {
    const here = pieces.filter((piece) => piece !== '' && text.slice(0, end).endsWith(piece));
    const length = Math.max(0, ...here.map((piece) => piece.length));
    if (length > 0) found.push({ start: end - length, end });
    end -= Math.max(length, 1);
  }
  return found.reverse();
}

describe('pieces of a text', () => {
  it('are found as by a look at every place', () => {
    fc.assert(
      fc.property(letters(40), fc.array(letters(6), { maxLength: 6 }), (text, pieces) => {
        const occurrences = new Occurrences(text);
        for (const piece of pieces) occurrences.mark(piece);
        expect(occurrences.marked()).toEqual(lookedUp(text, pieces));
      }),
      { numRuns: rounds(2000) },
    );
  });

  it('are found by their beginnings where the text cuts them short', () => {
    fc.assert(
      fc.property(letters(40), fc.array(letters(9), { maxLength: 4 }), (text, pieces) => {
        const occurrences = new Occurrences(text);
        for (const piece of pieces) occurrences.mark(piece, 3);
        const beginnings = pieces.flatMap((piece) =>
          Array.from({ length: piece.length }, (_, index) => piece.slice(0, index + 1)).filter(
            (one) => one.length >= 3 || one === piece,
          ),
        );
        expect(occurrences.marked()).toEqual(lookedUp(text, beginnings));
      }),
      { numRuns: rounds(1000) },
    );
  });
});
