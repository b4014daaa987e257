import { expect, it } from 'vitest';
import { WentBack, Witness } from '../../../src/store/backends/witness.ts';

it('an owner who accepts a state that went back accepts the one that was shown, and no other', () => {
  const witness = new Witness({ file: '/store' });
  const refusedOf = (revision: number): WentBack => {
    try {
      witness.check({ generation: 1, revision });
    } catch (error) {
      if (error instanceof WentBack) return error;
      throw error;
    }
    throw new Error('it was not refused');
  };
  witness.check({ generation: 1, revision: 5 });
  const first = refusedOf(3);
  expect(refusedOf(3)).toBe(first);
  const second = refusedOf(4);
  witness.takeUp(first);
  expect(refusedOf(4)).toBe(second);
  expect(witness.seen).toEqual({ generation: 1, revision: 5 });
  witness.takeUp(second);
  witness.check({ generation: 1, revision: 4 });
  expect(witness.seen).toEqual({ generation: 1, revision: 4 });
});
