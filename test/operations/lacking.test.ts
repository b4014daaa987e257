import { describe, expect, it } from 'vitest';
import { lacking, lackingAtAll } from '../../src/operations/declaration/lacking.ts';
import { refusal } from '../refusal.ts';

describe('a setting that this server does not have', () => {
  const parse = (value: unknown, field = 'mfa') =>
    lacking('', 'there are none here', ['usual', 32]).parse(value, field);

  it.each([[''], ['0'], ['0s'], ['false'], [0], [false], [null], [[]], [{}], ['usual'], [32]])(
    'is not asked for by %j',
    (value) => {
      expect(parse(value)).toBeUndefined();
    },
  );

  it.each([['x'], ['1'], [1], [true], [['']], [[0]], [{ a: 0 }], ['32'], ['Usual']])(
    'is refused where it is asked for by %j',
    (value) => {
      expect(refusal(() => parse(value))).toEqual({
        kind: 'unsupported',
        message: 'mfa cannot be set: there are none here',
        field: 'mfa',
      });
    },
  );

  it('is not asked for by null alone where zero and empty mean something', () => {
    const strict = (value: unknown) => lackingAtAll('', 'there are none here', ['usual']).parse(value, 'mfa');
    expect(strict(null)).toBeUndefined();
    expect(strict('usual')).toBeUndefined();
    for (const value of [0, '0s', '', false]) expect(refusal(() => strict(value)).kind).toBe('unsupported');
  });
});
