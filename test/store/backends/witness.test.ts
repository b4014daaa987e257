import { describe, expect, it } from 'vitest';
import { type Sighting, WentBack, Witness } from '../../../src/store/backends/witness.ts';

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

const at = (revision: number, generation = 1, more: Partial<Sighting> = {}): Sighting => ({
  generation,
  revision,
  ...more,
});

/** What is refused after one was seen, one after the other. */
function refusalsOf(seen: Sighting, ...found: readonly Sighting[]): readonly (string | undefined)[] {
  const witness = new Witness({ file: '/store' });
  witness.check(seen);
  return found.map((each) => {
    try {
      witness.check(each);
      return undefined;
    } catch (error) {
      return error instanceof WentBack ? error.message.replace('the store in /store ', '') : String(error);
    }
  });
}

describe('a store', () => {
  const replaced = 'was replaced by another copy or rolled back:';
  it.each([
    ['that is as it was', at(5), at(5), undefined],
    ['that went on', at(5), at(6, 2), undefined],
    [
      'of a lower revision',
      at(5),
      at(4),
      'was rolled back from generation 1, revision 5 to generation 1, revision 4',
    ],
    [
      'of a lower generation',
      at(5, 2),
      at(9, 1),
      'was rolled back from generation 2, revision 5 to generation 1, revision 9',
    ],
    [
      'of another history',
      at(5, 1, { history: 'a' }),
      at(6, 1, { history: 'b' }),
      `${replaced} from generation 1, revision 5 to generation 1, revision 6`,
    ],
    [
      'that was changed by another at the same revision',
      at(5, 1, { id: 'a' }),
      at(5, 1, { id: 'b' }),
      `${replaced} from generation 1, revision 5 to generation 1, revision 5`,
    ],
    ['that was changed by another since', at(5, 1, { id: 'a' }), at(6, 1, { id: 'b' }), undefined],
  ])('is refused or shown, %s', (_, seen, found, message) => {
    expect(refusalsOf(seen, found)).toEqual([message]);
  });

  it('is refused until the right state is back, though the other one has gone further meanwhile', () => {
    const own = at(5, 1, { id: 'own' });
    const other = (revision: number) => at(revision, 1, { id: `other ${revision}` });
    const shown = refusalsOf(own, other(4), other(6), own, other(6));
    expect(shown.map((message) => message?.replace(/ from.* to /, ' to '))).toEqual([
      'was rolled back to generation 1, revision 4',
      `${replaced} to generation 1, revision 6`,
      undefined,
      undefined,
    ]);
    const [mine, copy] = ['a', 'b'].map((history) => (revision: number) => at(revision, 1, { history }));
    const histories = refusalsOf(mine?.(5) ?? own, copy?.(6) ?? own, copy?.(7) ?? own, mine?.(5) ?? own);
    expect(histories.map((message) => message !== undefined)).toEqual([true, true, false]);
    const onward = refusalsOf(mine?.(5) ?? own, mine?.(3) ?? own, mine?.(6) ?? own);
    expect(onward.map((message) => message !== undefined)).toEqual([true, true]);
  });

  it.each([
    [
      'of a third history',
      at(9, 1, { history: 'a' }),
      at(9, 1, { history: 'b' }),
      at(9, 1, { history: 'c' }),
    ],
    ['of a third writer', at(9, 1, { id: 'a' }), at(9, 1, { id: 'b' }), at(9, 1, { id: 'c' })],
    ['of another generation', at(9), at(8), at(8, 2)],
  ])('is not accepted in place of the one that was shown: %s', (_, seen, shown, third) => {
    const witness = new Witness({ file: '/store' });
    witness.check(seen);
    const refusals = [shown, shown, third].map((found) => {
      try {
        witness.check(found);
      } catch (error) {
        return error as WentBack;
      }
      throw new Error('it was not refused');
    });
    expect(refusals[1]).toBe(refusals[0]);
    expect(refusals[2]?.to).toBe(third);
    witness.takeUp(refusals[0] as WentBack);
    expect(witness.seen).toBe(seen);
  });

  it('is refused that is about to be made of what is on the disk, if it is below what was seen', () => {
    const witness = new Witness({ file: '/store' });
    witness.examine(at(1));
    witness.check(at(5));
    expect(() => witness.examine(at(5))).not.toThrow();
    expect(() => witness.examine(at(4))).toThrow(WentBack);
    expect(witness.seen).toEqual(at(5));
  });

  it('is refused below the highest that was seen or made, in whichever order', () => {
    const witness = new Witness({ file: '/store' });
    witness.saw(at(7));
    witness.saw(at(6));
    expect(witness.seen).toEqual(at(7));
    const same = at(7);
    witness.saw(same);
    expect(witness.seen).toBe(same);
    // A look that began before the change.
    expect(() => witness.check(at(6), at(5))).not.toThrow();
    expect(witness.seen).toBe(same);
    const again = at(7);
    witness.check(again);
    expect(witness.seen).toBe(again);
    expect(() => witness.check(at(6))).toThrow(WentBack);
  });
});
