import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inBoundedCalls } from '../../../src/cli/files/bounded-calls.ts';

it('items are cut into calls in order, none empty, none over its bounds but for one item alone, and no two that fit into one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 12 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 6 }),
      fc.option(fc.nat({ max: 20 })),
      (sizes, items, most) => {
        const size = most === null ? undefined : { most, of: (item: number) => item };
        const calls = [...inBoundedCalls(sizes, { items, size })];
        const sum = (call: readonly number[]): number => call.reduce((all, one) => all + one, 0);
        const fits = (call: readonly number[]): boolean =>
          call.length <= items && (most === null || call.length === 1 || sum(call) <= most);
        expect(calls.flat()).toEqual(sizes);
        expect(calls.filter((call) => call.length === 0 || !fits(call))).toEqual([]);
        const unfilled = calls.filter((call, index) =>
          fits([...call, ...(calls[index + 1] ?? []).slice(0, 1)]),
        );
        expect(unfilled.length).toBeLessThanOrEqual(calls.length === 0 ? 0 : 1);
      },
    ),
  );
});
