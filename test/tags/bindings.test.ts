import { describe, expect, it } from 'vitest';
import { type NewBinding, withBindings } from '../../src/tags/bindings.ts';
import { refusal } from '../refusal.ts';

const bound = (...added: readonly NewBinding[]) => withBindings([], added, 5);
const numbered = (count: number): NewBinding[] =>
  Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: '' }));

describe('the key-value tags of a workspace', () => {
  it('are ten at most, those that it has among them', () => {
    const ten = bound(...numbered(10));
    expect(ten).toHaveLength(10);
    expect(withBindings(ten, [{ key: 'k9', value: 'other' }], 6)).toHaveLength(10);
    for (const many of [
      () => bound(...numbered(11)),
      () => withBindings(ten, [{ key: 'more', value: '' }], 6),
    ]) {
      expect(refusal(many).message).toBe('Tag bindings cannot exceed 10 bindings per resource');
    }
  });

  it('have keys of 128 characters and values of 256 at most', () => {
    const longest = { key: 'k'.repeat(128), value: 'v'.repeat(256) };
    expect(bound(longest)).toEqual([{ ...longest, createdAt: 5 }]);
    expect(refusal(() => bound({ ...longest, key: `${longest.key}k` })).message).toBe(
      'Key is too long (maximum is 128 characters)',
    );
    expect(refusal(() => bound({ ...longest, value: `${longest.value}v` })).message).toBe(
      'Value is too long (maximum is 256 characters)',
    );
  });

  it.each([
    ['', 'x', "Key can't be blank"],
    ['a b', '', 'Key is invalid'],
    ['a/b', '', 'Key is invalid'],
    ['ä', '', 'Key is invalid'],
    ['hc:x', '', 'Key is invalid'],
    ['hcp:', '', 'Key is invalid'],
    ['k', 'a b', 'Value is invalid'],
    ['k', 'a\n', 'Value is invalid'],
  ])('are refused as %j=%j', (key, value, message) => {
    expect(refusal(() => bound({ key, value })).message).toBe(message);
  });

  it.each(['hc', 'hcx:a', 'ahc:', 'HC:a', 'A_z.0=+-@:'])('may be called %j', (key) => {
    expect(bound({ key, value: '' })).toHaveLength(1);
  });

  it('are given twice with one value only', () => {
    expect(bound({ key: 'k', value: 'v' }, { key: 'k', value: 'v' })).toHaveLength(1);
    expect(refusal(() => bound({ key: 'k', value: 'v' }, { key: 'k', value: '' }))).toMatchObject({
      kind: 'exists',
      message: 'Key has already been taken',
    });
  });

  it('keep their order and the time when they were made, whatever value they get', () => {
    const first = bound({ key: 'b', value: '1' }, { key: 'a', value: '1' });
    expect(
      withBindings(
        first,
        [
          { key: 'b', value: '2' },
          { key: 'c', value: '' },
        ],
        9,
      ),
    ).toEqual([
      { key: 'b', value: '2', createdAt: 5 },
      { key: 'a', value: '1', createdAt: 5 },
      { key: 'c', value: '', createdAt: 9 },
    ]);
  });
});
