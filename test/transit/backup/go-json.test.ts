import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GoJsonLimits, readGoJson, writeGoJson } from '../../../src/transit/backup/go-json.ts';
import { anyText } from '../../any-text.ts';
import { rounds } from '../../long.ts';
import { thrownBy } from '../../reference/thrown.ts';

const limits: GoJsonLimits = { depth: 8, values: 1000, digits: 1300 };
const read = (text: string) => readGoJson(text, limits);

describe('reading JSON as Go does', () => {
  it('keeps whole numbers of any size exact', () => {
    expect(read('{"n":123456789012345678901234567890,"z":-0,"m":-7}')).toEqual({
      n: 123456789012345678901234567890n,
      z: 0n,
      m: -7n,
    });
  });

  it.each(['1.0', '1e3', '-2.5E-1'])('does not take %s for a whole number', (text) => {
    expect(read(`[${text}]`)).toEqual([Number(text)]);
  });

  it('takes a number of as many digits as are allowed', () => {
    const digits = '9'.repeat(limits.digits);
    expect(read(`[${digits}]`)).toEqual([BigInt(digits)]);
  });

  it('takes as many values, and as deep ones, as are allowed', () => {
    expect(read(`[${'0,'.repeat(limits.values - 1)}0]`)).toHaveLength(limits.values);
    expect(read('['.repeat(limits.depth) + ']'.repeat(limits.depth))).toHaveLength(1);
  });

  it('ignores what follows the document', () => {
    expect(read('{"a":"}\\""} {"b":2} nonsense')).toEqual({ a: '}"' });
    expect(read('{"a":1}\n')).toEqual({ a: 1n });
  });

  it('keeps a member called __proto__ to itself', () => {
    const value = read('{"__proto__":{"polluted":true}}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it.each([
    ['unexpected end of JSON input', '{"a":'],
    ['unexpected end of JSON input', '{"a":"never closed'],
    ['unexpected end of JSON input', '{"a":"\\'],
    ['invalid JSON', ''],
    ['invalid JSON', '{secret}'],
    ['invalid JSON', '{"a":01}'],
    ['invalid JSON', '{"a":+1}'],
    ['invalid JSON', '{"a":0x10}'],
    ['invalid JSON', '{"a":1,}'],
    ['invalid JSON', '"text" {}'],
    ['invalid JSON', ']'],
    ['invalid JSON', '\u0000\u0000\u0000'],
  ])('says "%s" of %j and quotes nothing of it', (message, text) => {
    expect(thrownBy(() => read(text))).toMatchObject({ kind: 'invalid', message, field: 'backup' });
  });

  it.each([
    ['nine lists', 'nested more than 8 deep', '['.repeat(9)],
    ['a million objects', 'nested more than 8 deep', '{"a":'.repeat(1_000_000)],
    ['1001 numbers', 'more than 1000 values', `[${'0,'.repeat(1000)}0]`],
    ['501 lists and their commas', 'more than 1000 values', `[${'[],'.repeat(501)}0]`],
    ['a long number', 'a number has more than 1300 digits', `[${'9'.repeat(1301)}]`],
    ['a long exponent', 'a number has more than 1300 digits', `{"n":1e${'9'.repeat(1300)}}`],
  ])('refuses a document of %s: %s', (_, what, text) => {
    expect(thrownBy(() => read(text))).toMatchObject({
      kind: 'too-large',
      message: `JSON is refused: ${what}`,
    });
  });

  it('does not count what stands inside texts', () => {
    expect(read(`["${'[{,'.repeat(2000)}"]`)).toHaveLength(1);
  });
});

describe('writing JSON as Go does', () => {
  it('prints big numbers as bare digits, without whitespace, in the order given', () => {
    const document = {
      b: 2n ** 70n,
      a: [null, true, 1, 'x'],
      keys: new Map([
        ['10', 1],
        ['2', 2],
      ]),
    };
    expect(writeGoJson(document)).toBe(
      '{"b":1180591620717411303424,"a":[null,true,1,"x"],"keys":{"10":1,"2":2}}',
    );
  });

  it('escapes what HTML and JavaScript could trip over', () => {
    expect(writeGoJson('<&>\u2028\u2029"\\\n\u0001é')).toBe(
      '"\\u003c\\u0026\\u003e\\u2028\\u2029\\"\\\\\\n\\u0001é"',
    );
  });

  it('is undone by reading', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constant(null),
        fc.boolean(),
        fc.bigInt(),
        anyText(),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.array(value), (written) => {
        expect(read(writeGoJson(written as never))).toEqual(written);
      }),
      { numRuns: rounds(300) },
    );
  });
});
