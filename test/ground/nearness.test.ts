import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meantText, nearest } from '../../src/ground/nearness.ts';

describe('the names that are near to a word', () => {
  it.each([
    ['order', ['orders', 'invoices'], ['orders']],
    ['ordres', ['orders', 'invoices'], ['orders']],
    ['rsa4096', ['rsa-2048', 'rsa-4096'], ['rsa-4096']],
    ['RSA_4096', ['rsa-2048', 'rsa-4096'], ['rsa-4096']],
    ['ecdsa-p265', ['ecdsa-p256', 'ecdsa-p384'], ['ecdsa-p256']],
    ['env:prd', ['env:prod', 'env:dev'], ['env:prod']],
    ['defalt', ['default', 'root'], ['default']],
    ['billing-porduction', ['billing-production', 'billing-staging'], ['billing-production']],
    ['k-a', ['k-b', 'k-c', 'k-d', 'x'], ['k-b', 'k-c', 'k-d']],
    ['x'.repeat(127), ['x'.repeat(128)], ['x'.repeat(128)]],
    ['x'.repeat(128), ['x'.repeat(127)], ['x'.repeat(127)]],
  ])('has what was meant by %s', (word, names, meant) => {
    expect(nearest(word, names)).toEqual(meant);
  });

  it.each([
    ['undo', ['unlock', 'unseal', 'edit']],
    ['audit', ['auth', 'edit', 'unwrap']],
    ['history', ['store', 'policy']],
    ['info', ['init', 'read']],
    ['app-1', ['app-2', 'app-12', 'app-']],
    ['ab', ['abc', 'ac']],
    ['web', ['job', 'wax']],
    ['', ['orders']],
    ['--', ['_', '.']],
    ['k-a', ['k-b', 'k-c', 'k-d', 'k-e']],
    ['x'.repeat(129), ['x'.repeat(128)]],
    ['x'.repeat(128), ['x'.repeat(129)]],
  ])('has nothing rather than a wrong name for %s', (word, names) => {
    expect(nearest(word, names)).toEqual([]);
  });

  it('has nothing for a name that exists, whatever else is near', () => {
    expect(nearest('orders', ['order', 'orders'])).toEqual([]);
  });

  it('has only existing names, and each of them for itself with two neighbouring letters exchanged', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(letters, fc.nat(), fc.array(letters, { maxLength: 5 }), (name, at, others) => {
        const index = at % (name.length - 1);
        const slipped =
          name.slice(0, index) + name.charAt(index + 1) + name.charAt(index) + name.slice(index + 2);
        const names = [...others, name];
        const found = nearest(slipped, names);
        expect(found.every((near) => names.includes(near))).toBe(true);
        if (!names.includes(slipped)) expect(nearest(slipped, [name])).toEqual([name]);
      }),
    );
  });

  it('are said as a question', () => {
    expect(meantText(['orders', 'order-items'])).toBe('did you mean "orders" or "order-items"?');
  });
});
