import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formPairs,
  MAX_DEPTH,
  parseForm,
  parseObject,
  parseQuery,
} from '../../../src/doors/http/request-body.ts';
import { rounds } from '../../long.ts';
import { refusal } from '../../refusal.ts';

const parse = (text: string) => parseObject(Buffer.from(text));

/** How the platform itself gives whole numbers exactly, at a cost that no request may have. */
function exactly(_name: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d{1,308}$/.test(source) ? BigInt(source) : value;
}

/** JSON with `{ value: bigint }` as a bare number. */
function printed(value: unknown, gap: string): string {
  if (Array.isArray(value)) return `[${value.map((item) => printed(item, gap)).join(`,${gap}`)}${gap}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (typeof (value as { value?: unknown }).value === 'bigint')
    return `${(value as { value: bigint }).value}${gap}`;
  const members = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name)}:${gap}${printed(item, gap)}`,
  );
  return `{${members.join(`,${gap}`)}}`;
}

describe('a JSON body', () => {
  it('gives the members of its object', () => {
    expect(parse('{"plaintext":"aGk=","key_version":2}')).toEqual({ plaintext: 'aGk=', key_version: 2 });
  });

  it('may be empty or nothing but white space', () => {
    expect(parse('')).toEqual({});
    expect(parse(' \r\n\t')).toEqual({});
    // OpenBao's Go client, when it is given no data.
    expect(parse('null')).toEqual({});
  });

  it('counts the last of several members of one name, as Go does', () => {
    expect(parse('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
  });

  it('takes __proto__ for a member like any other', () => {
    const value = parse('{"__proto__":{"admin":true},"a":1}');
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it('keeps whole numbers exact that a double would change', () => {
    expect(parse('{"n":12345678901234567890}')).toEqual({ n: 12345678901234567890n });
    expect(parse('{"n":-9007199254740993}')).toEqual({ n: -9007199254740993n });
    expect(parse('{"n":9007199254740991}')).toEqual({ n: 9007199254740991 });
  });

  it('keeps them exact up to the range of doubles only, because millions of digits take long to read', () => {
    const longest = '9'.repeat(308);
    expect(parse(`{"n":${longest}}`)).toEqual({ n: BigInt(longest) });
    expect(parse(`{"n":${longest}9}`)).toEqual({ n: Number.POSITIVE_INFINITY });
  });

  it('is read as the parser of the platform reads it, whatever surrounds a long number', () => {
    const number = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map((value) => ({ value }));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.oneof(number, fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean()),
        fc.array(tie('tree')),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '12345678901234567')), tie('tree')),
      ),
    }));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), tree)), fc.constantFrom('', ' ', '\n\t'), (members, gap) => {
        const text = `{${gap}${members.map(([name, value]) => `${JSON.stringify(name)}${gap}:${gap}${printed(value, gap)}`).join(`,${gap}`)}}`;
        expect(parse(text)).toEqual(JSON.parse(text, exactly as never));
      }),
    );
  });

  it.each([
    '{12345678901234567890:1}',
    '{"a":1,12345678901234567890 :1}',
    '{"a":012345678901234567890}',
    '{"a":12345678901234567890"b"}',
    '{"a":--12345678901234567890}',
    '{"a":[12345678901234567890 1]}',
    '{"a":12345678901234567890',
  ])('with a long number where none may be is refused: %s', (text) => {
    expect(refusal(() => parse(text))).toMatchObject({ kind: 'invalid' });
  });

  it('leaves digits in texts alone', () => {
    expect(parse('{"n":"a,12345678901234567890"}')).toEqual({ n: 'a,12345678901234567890' });
  });

  it.each([
    ['{"a":1', 'the body is not valid JSON'],
    ['nonsense', 'the body is not valid JSON'],
    ['{"a":1} trailing', 'the body is not valid JSON'],
    ['[1]', 'the body is not an object'],
    ['"text"', 'the body is not an object'],
    ['7', 'the body is not an object'],
  ])('is refused when it is %s', (text, why) => {
    expect(refusal(() => parse(text))).toMatchObject({
      kind: 'invalid',
      message: `failed to decode JSON input: ${why}`,
    });
  });

  it('is never quoted by its refusal', () => {
    expect(refusal(() => parse('{"plaintext": hunter2}')).message).not.toContain('hunter2');
  });

  const nested = (levels: number, open = '[', close = ']') =>
    `{"a":${open.repeat(levels)}${close.repeat(levels)}}`;

  it('may be nested as deeply as peers read, and no deeper', () => {
    expect(parse(nested(MAX_DEPTH - 1))).toHaveProperty('a');
    const refused = {
      kind: 'invalid',
      message: `failed to decode JSON input: nested more than ${MAX_DEPTH} levels deep`,
    };
    expect(refusal(() => parse(nested(MAX_DEPTH)))).toMatchObject(refused);
    expect(refusal(() => parse(nested(2_000_000)))).toMatchObject(refused);
    expect(refusal(() => parse('{"a":'.repeat(100_000)))).toMatchObject(refused);
  });

  it('does not count brackets in texts', () => {
    const text = `${'['.repeat(1000)}"\\${'{'.repeat(1000)}\\\\`;
    expect(parse(JSON.stringify({ text }))).toEqual({ text });
  });

  it('is read as the platform reads JSON, whatever it holds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        // Numbers beyond what a double tells apart come exact.
        const inexact = (_name: string, member: unknown) =>
          typeof member === 'bigint' ? Number(member) : member;
        expect(JSON.stringify(parse(text), inexact)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('ends in a refusal or an object, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        try {
          expect(parseObject(Buffer.from(bytes))).toBeTypeOf('object');
        } catch (error) {
          expect(error).toMatchObject({ kind: 'invalid' });
        }
      }),
    );
  });
});

describe('a query or a form', () => {
  it('gives texts, decoded', () => {
    expect(parseQuery('q=a+b%26%C3%BC&page%5Bnumber%5D=2')).toEqual({ q: 'a b&ü', 'page[number]': '2' });
    expect(parseForm(Buffer.from('plaintext=aGk%3D&type='))).toEqual({ plaintext: 'aGk=', type: '' });
  });

  it('gives an array for a name that comes several times', () => {
    expect(parseQuery('a=1&b=2&a=3&a=4')).toEqual({ a: ['1', '3', '4'], b: '2' });
  });

  it('take time in proportion to their length: a name that comes very often does not hold up the server', () => {
    const count = 200_000;
    // With a copy for each further value this takes minutes.
    expect(parseForm(Buffer.from('a=1&'.repeat(count)))['a']).toHaveLength(count);
    expect(parseForm(Buffer.from('a&'.repeat(10 * count)))['a']).toHaveLength(10 * count);
  });

  it("has the pairs that the platform's own parser finds", () => {
    const piece = fc.constantFrom(
      'a',
      '=',
      '&',
      '?',
      '+',
      '%',
      '%41',
      '%zz',
      'ü',
      '%C3%BC',
      '%ff',
      '\u0000',
      '#',
    );
    const text = fc.oneof(
      fc.array(piece).map((pieces) => pieces.join('')),
      fc.string(),
    );
    const same = fc.property(text, (form) => {
      expect([...formPairs(form)]).toEqual([...new URLSearchParams(form)]);
    });
    fc.assert(same, { numRuns: rounds(1000) });
  });

  it('takes __proto__ for a name like any other', () => {
    expect(Object.keys(parseQuery('__proto__=1&toString=2'))).toEqual(['__proto__', 'toString']);
  });
});
