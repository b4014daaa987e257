import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatValue, isCut, looksDamaged, parseValue, valuesIn } from '../../src/secret-files/value.ts';

const word = fc.stringMatching(/^\w(?:[\w.-]{0,8}\w)?$/);
const value = fc.record({
  mount: fc.oneof(
    fc.constant('transit'),
    fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => ['team', ...parts].join('/')),
  ),
  key: word,
  version: fc.integer({ min: 1, max: 999_999_999 }),
  payload: fc.base64String({ minLength: 4 }),
});

describe('an encrypted value', () => {
  it('names its mount only where that is another one than transit', () => {
    expect(formatValue({ mount: 'transit', key: 'app', version: 2, payload: 'QUJD' })).toBe(
      'coffer:app:v2:QUJD',
    );
    expect(formatValue({ mount: 'team/a', key: 'app', version: 2, payload: 'QUJD' })).toBe(
      'coffer:team/a/app:v2:QUJD',
    );
  });

  it('is read as it was written', () => {
    fc.assert(
      fc.property(value, (parts) => {
        expect(parseValue(formatValue(parts))).toEqual(parts);
      }),
    );
  });

  it('is found in any text that it stands in', () => {
    fc.assert(
      fc.property(value, (parts) => {
        const text = formatValue(parts);
        expect([...valuesIn(`a: "${text}", b`)]).toEqual([{ start: 4, end: 4 + text.length, value: parts }]);
      }),
    );
  });

  it.each([
    'coffer:latest',
    'coffer:app:1:QUJD',
    'coffer:app:v0:QUJD',
    'coffer:sys/app:v1:QUJD',
    'coffer:../x/app:v1:QUJD',
    ' coffer:app:v1:QUJD',
    'coffer:app:v1:QUJD\n',
    'coffer:a b:v1:QUJD',
  ])('is not what %j is', (text) => {
    expect(parseValue(text)).toBeUndefined();
  });

  it('is not found where its mount can be none', () => {
    expect([...valuesIn('a: coffer:sys/app:v1:QUJD, coffer:app:v1:QUJD')]).toMatchObject([{ start: 27 }]);
  });

  it.each([
    ['coffer:app:v1:QUJD', false],
    ['coffer:app:v1:', false],
    ['coffer:latest', false],
    ['coffer:app:', true],
    ['coffer:app:v', true],
    ['coffer:app:v12', true],
    ['coffer:app:v1:QU?D', true],
    ['coffer:team/a/app:v1:QU D', true],
    ['coffer:app:vx', false],
  ])('leaves what looks like a damaged one in %j: %j', (text, isDamaged) => {
    expect(looksDamaged(text)).toBe(isDamaged);
  });

  it('is cut if it is shorter than any, or ends within a group', () => {
    const cut = (payload: string) => isCut({ mount: 'transit', key: 'app', version: 1, payload });
    expect([40, 39, 38, 37].map((length) => cut('A'.repeat(length)))).toEqual([false, true, true, true]);
    expect([36, 4, 0].map((length) => cut('A'.repeat(length)))).toEqual([true, true, true]);
  });

  it('stays one when its end was cut off, so that nobody takes it for a plaintext', () => {
    expect(parseValue('coffer:app:v1:QU')).toMatchObject({ payload: 'QU' });
    expect(parseValue('coffer:app:v1:')).toMatchObject({ payload: '' });
  });
});
