import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonOf, withoutUndefined } from '../../src/ground/objects.ts';

describe('a value without what is undefined', () => {
  it('is what JSON makes of it', () => {
    const value = fc.anything({
      values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(undefined), fc.constant(null)],
      maxDepth: 4,
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (object) => {
        const kept = withoutUndefined(object);
        expect(JSON.stringify(kept)).toBe(JSON.stringify(object));
      }),
    );
  });

  it('has none of the members that are undefined, however deep they are', () => {
    const kept = withoutUndefined({ a: undefined, b: [{ c: undefined, d: 1 }], e: null });
    expect(Object.keys(kept)).toEqual(['b', 'e']);
    expect(Object.keys(kept.b[0] ?? {})).toEqual(['d']);
  });

  it('has them nowhere in a list whose other items are whole', () => {
    const kept = withoutUndefined([1, { c: undefined, d: 1 }, 'x'] as const);
    expect(Object.keys(kept[1])).toEqual(['d']);
    expect([kept[0], kept[2]]).toEqual([1, 'x']);
  });

  it('is the same object where nothing is undefined, and bytes are left as they are', () => {
    const bytes = Buffer.from('bytes');
    const whole = { a: [1, { b: bytes }] };
    expect(withoutUndefined(whole)).toBe(whole);
    expect(withoutUndefined({ a: undefined, bytes }).bytes).toBe(bytes);
  });
});

describe('a value as JSON', () => {
  it('has numbers without a limit as texts, and is empty for what JSON does not have', () => {
    expect(jsonOf({ a: [2n ** 64n, 1], b: undefined })).toBe('{"a":["18446744073709551616",1]}');
    expect([jsonOf(undefined), jsonOf(null)]).toEqual(['', 'null']);
  });

  it('is tried once if a member cannot be printed for another reason', () => {
    let tries = 0;
    const toJSON = () => {
      tries++;
      throw new RangeError('too large');
    };
    expect(() => jsonOf({ toJSON })).toThrow('too large');
    expect(tries).toBe(1);
  });
});
