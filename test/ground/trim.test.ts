import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trimSlashes, withoutFirst, withoutLast } from '../../src/ground/trim.ts';

describe('the ends of a text', () => {
  it('lose one character however often it stands there, and nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('/', 'a', '.') }), (text) => {
        expect(withoutLast(text, '/')).toBe(text.replace(/\/+$/, ''));
        expect(withoutFirst(text, '/')).toBe(text.replace(/^\/+/, ''));
        expect(trimSlashes(text)).toBe(text.replace(/^\/+|\/+$/g, ''));
      }),
    );
  });
});
