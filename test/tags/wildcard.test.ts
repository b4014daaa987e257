import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wildcard } from '../../src/tags/names.ts';

it.each([
  ['env:*', 'env:prod', true],
  ['env:*', 'env:', true],
  ['env:*', 'environment', false],
  ['*-prod', 'billing-prod', true],
  ['*-prod', 'prod', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['b*l*g', 'billing', true],
  ['b*l*g', 'bg', false],
  ['*', '', true],
  ['**', 'x', true],
  ['*ab*b', 'ab', false],
  ['Env:Prod', 'env:prod', true],
  ['a.c', 'abc', false],
  ['a_c', 'abc', false],
])('for the pattern %s, whether the name %s fits is %s', (pattern, name, fits) => {
  expect(wildcard(pattern)(name)).toBe(fits);
});

it('a star stands for what a regular expression of it would find', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  const names = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
  fc.assert(
    fc.property(letters, names, (pattern, name) => {
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);
      expect(wildcard(pattern)(name)).toBe(expected);
    }),
  );
});
