import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatValue, parseValue, valuesIn } from '../../src/secret-files/value.ts';

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

  it('stays one when its end was cut off, so that nobody takes it for a plaintext', () => {
    expect(parseValue('coffer:app:v1:QU')).toMatchObject({ payload: 'QU' });
    expect(parseValue('coffer:app:v1:')).toMatchObject({ payload: '' });
  });
});
