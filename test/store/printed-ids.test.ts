import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printIndex, withId } from '../../src/store/sealed/collection-index.ts';
import { anyText } from '../any-text.ts';

/** Names as people give them, and texts that look like the JSON around them. */
const id = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '.', '-', '7'), minLength: 1, maxLength: 3 }),
  fc.string({ unit: fc.constantFrom('a', ',', '"', '\\', ']', '[', ' '), minLength: 1, maxLength: 4 }),
  anyText({ minLength: 1, maxLength: 3 }),
);

describe('the JSON of a list of IDs', () => {
  it('is the same whether it was printed at once or grew with each ID', () => {
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 40 }), fc.array(fc.boolean()), (added, prints) => {
        let ids: readonly string[] = Object.freeze([]);
        for (const [index, one] of added.entries()) {
          if (prints[index] !== false) printIndex({ ids });
          ids = Object.freeze(withId(ids, ids.filter((other) => other < one).length, one));
          expect(ids).toEqual(added.slice(0, index + 1).sort());
          expect(printIndex({ ids: Object.freeze([...ids]) })).toBe(JSON.stringify({ ids }));
          if (prints[index] !== true) continue;
          expect(printIndex({ ids })).toBe(JSON.stringify({ ids }));
        }
      }),
    );
  });

  it('is JSON of the other parts of an index as well', () => {
    const head = { pages: [{ page: 0, from: '' }], next: 1 };
    expect(printIndex(head)).toBe(JSON.stringify(head));
  });
});
