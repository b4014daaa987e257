import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duration } from '../../src/operations/declaration/duration.ts';
import * as params from '../../src/operations/declaration/params.ts';
import { keyName } from '../../src/operations/transit/parameters.ts';

const parse = (param: params.Param<unknown>, value: unknown): unknown =>
  (params.parseValues({ field: param }, { field: value }).values as { field: unknown }).field;

const refusal = (message: string) => expect.objectContaining({ kind: 'invalid', message });

describe('a parameter', () => {
  it.each([
    ['text', 'text'],
    [7, '7'],
    [true, '1'],
    [false, '0'],
    [null, ''],
  ])('of text takes %j as %j', (given, parsed) => {
    expect(parse(params.text({ help: '' }), given)).toBe(parsed);
  });

  it.each([
    [12, 12],
    ['12', 12],
    ['-3', -3],
    ['0x1f', 31],
    ['0b101', 5],
    ['017', 15],
    ['', 0],
    [null, 0],
    [true, 1],
  ])('of whole numbers takes %j as %j', (given, parsed) => {
    expect(parse(params.integer({ help: '' }), given)).toBe(parsed);
  });

  it.each([[1.5], ['1.5'], ['twelve'], ['1e3'], [2 ** 60], [{}], [[]]])(
    'of whole numbers refuses %j',
    (given) => {
      expect(() => parse(params.integer({ help: '' }), given)).toThrowError(
        refusal('Field validation failed: error converting input for field "field": expected a whole number'),
      );
    },
  );

  it.each([
    [params.integer({ help: '' }), 2 ** 31, 'field must be at most 2147483647, not 2147483648'],
    [params.integer({ help: '' }), -(2 ** 31), 'field must be at least -2147483647, not -2147483648'],
    [duration({ help: '' }), 1e300, 'field must be at most 9223372036 seconds'],
    [duration({ help: '' }), '9000000000000s', 'field must be at most 9223372036 seconds'],
    [params.text({ help: '' }), 'x'.repeat(16_385), 'field must have at most 16384 characters, not 16385'],
    [params.texts({ help: '' }), 'a,'.repeat(10_000), 'field must have at most 10000 items, not 10001'],
    [params.texts({ help: '' }), ['x'.repeat(16_385)], 'field must have at most 16384 characters, not 16385'],
    [
      params.batch({}, { help: '' }),
      Array.from({ length: 500_001 }, () => ({})),
      'field must have at most 500000 items, not 500001',
    ],
  ])('names what is too much for it, and the bound: case %#', (param, given, message) => {
    expect(() => parse(param, given)).toThrowError(refusal(message));
  });

  it('takes texts of up to 16,384 characters', () => {
    expect(parse(params.text({ help: '' }), 'x'.repeat(16_384))).toBe('x'.repeat(16_384));
    expect(() => parse(params.text({ help: '' }), 'x'.repeat(16_385))).toThrowError(
      refusal('field must have at most 16384 characters, not 16385'),
    );
  });

  it('takes durations up to the longest that Go can write, and long texts where they are declared', () => {
    expect(parse(duration({ help: '' }), '876000h')).toBe(3_153_600_000);
    expect(parse(duration({ help: '' }), 9_223_372_036)).toBe(9_223_372_036);
    expect(parse(params.text({ help: '', long: true }), 'x'.repeat(1_000_000))).toHaveLength(1_000_000);
  });

  it.each([
    [true, true],
    ['true', true],
    ['T', true],
    ['1', true],
    [1, true],
    ['false', false],
    ['', false],
    [null, false],
    [0, false],
  ])('of yes or no takes %j as %j', (given, parsed) => {
    expect(parse(params.flag({ help: '' }), given)).toBe(parsed);
  });

  it.each([['yes'], [-1], [2], [1.5], ['-1'], [[]], [{}]])('of yes or no refuses %j', (given) => {
    expect(() => parse(params.flag({ help: '' }), given)).toThrowError(/expected true or false/);
  });

  it.each([
    [3600, 3600],
    ['3600', 3600],
    ['24h', 86_400],
    ['1h30m', 5400],
    ['7d', 604_800],
    ['1.5h', 5400],
    ['', 0],
  ])('of durations takes %j as %j seconds', (given, parsed) => {
    expect(parse(duration({ help: '' }), given)).toBe(parsed);
  });

  it.each([['1 h'], ['h'], ['1h30'], ['soon'], [{}]])('of durations refuses %j', (given) => {
    expect(() => parse(duration({ help: '' }), given)).toThrowError(/expected a duration/);
  });

  it('of durations takes null for none, as peers do for these alone', () => {
    expect(params.parseValues({ ttl: duration({ help: '' }) }, { ttl: null }).values).toEqual({});
    const usual = { ttl: duration({ help: '', default: 60 }) };
    expect(params.parseValues(usual, { ttl: null }).values).toEqual({ ttl: 60 });
  });

  it('of durations refuses a negative one', () => {
    expect(() => parse(duration({ help: '' }), '-1')).toThrowError(
      refusal("cannot provide negative value '-1'"),
    );
  });

  it('with bounds refuses what lies outside', () => {
    const bounded = params.integer({ help: '', minimum: 1, maximum: 3 });
    expect(parse(bounded, 3)).toBe(3);
    expect(() => parse(bounded, 0)).toThrowError(refusal('field must be at least 1, not 0'));
    expect(() => parse(bounded, 4)).toThrowError(refusal('field must be at most 3, not 4'));
  });

  it('of a few words names them when it refuses another', () => {
    const colour = params.choice(['red', 'green'], { help: '' });
    expect(parse(colour, 'red')).toBe('red');
    expect(() => parse(colour, 'Red')).toThrowError(refusal('field must be one of red, green, not "Red"'));
  });

  it('of a few words lists them without an empty one, which would only show as a stray comma', () => {
    const colour = params.choice(['', 'red', 'green'], { help: '' });
    expect(parse(colour, '')).toBe('');
    expect(() => parse(colour, 'Red')).toThrowError(refusal('field must be one of red, green, not "Red"'));
  });

  it('of key names takes letters, digits and underscores, inside also dots and hyphens', () => {
    const name = keyName({ help: '' });
    for (const good of ['a', '_', 'a.b-c_d', '0']) expect(parse(name, good)).toBe(good);
    for (const bad of ['', '-a', 'a-', 'a/b', 'a b', '..', 'ü', 'a\n']) {
      expect(() => parse(name, bad), bad).toThrowError(expect.objectContaining({ kind: 'invalid' }));
    }
  });
});

describe('parseValues', () => {
  const declared = {
    name: params.text({ help: 'The name.', required: true }),
    size: params.integer({ help: '', default: 32 }),
    note: params.text({ help: '' }),
  };

  it('fills in defaults and leaves optional values out', () => {
    expect(params.parseValues(declared, { name: 'a' }).values).toEqual({ name: 'a', size: 32 });
  });

  it('counts null as present, with the zero value', () => {
    expect(params.parseValues(declared, { name: 'a', size: null, note: null }).values).toEqual({
      name: 'a',
      size: 0,
      note: '',
    });
  });

  it('names a required parameter that is missing', () => {
    expect(() => params.parseValues(declared, {})).toThrowError(
      expect.objectContaining({ kind: 'invalid', field: 'name', message: 'missing name' }),
    );
  });

  it('lists what it does not know, sorted, and refuses nothing for it', () => {
    expect(params.parseValues(declared, { name: 'a', zebra: 1, apple: 2 }).unrecognized).toEqual([
      'apple',
      'zebra',
    ]);
  });

  it('does not take members of the prototype for values', () => {
    const polluted = JSON.parse('{"__proto__":{"name":"x"}}') as Record<string, unknown>;
    expect(() => params.parseValues(declared, polluted)).toThrowError(/missing name/);
    expect(() =>
      params.parseValues({ constructor: params.text({ help: '', required: true }) }, {}),
    ).toThrowError(/missing constructor/);
  });

  it('never crashes, whatever JSON comes', () => {
    const everything = {
      text: params.text({ help: '' }),
      integer: params.integer({ help: '' }),
      flag: params.flag({ help: '' }),
      duration: duration({ help: '' }),
      texts: params.texts({ help: '' }),
      map: params.textMap({ help: '' }),
      items: params.batch({ input: params.base64({ help: '' }) }, { help: '' }),
    };
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(everything), 'other'), fc.jsonValue()),
        (raw) => {
          try {
            params.parseValues(everything, raw);
          } catch (error) {
            expect(error).toMatchObject({ name: 'CofferError', kind: 'invalid' });
          }
        },
      ),
    );
  });
});

describe('a batch', () => {
  const items = params.batch(
    { plaintext: params.base64({ help: '' }), key_version: params.integer({ help: '' }) },
    { help: '' },
  );

  it('parses each item on its own, and an item that fails carries its problem', () => {
    const parsed = items.parse(
      [{ plaintext: 'YQ==', other: 1 }, { plaintext: {}, key_version: 2 }, {}],
      'batch_input',
    );
    expect(parsed?.[0]).toEqual({ values: { plaintext: 'YQ==' } });
    expect(parsed?.[1]).toMatchObject({
      values: { key_version: 2 },
      problem: { kind: 'invalid', field: 'batch_input[1].plaintext' },
    });
    expect(parsed?.[2]).toEqual({ values: {} });
  });

  it('is none when it is null', () => {
    expect(items.parse(null, 'batch_input')).toBeUndefined();
  });

  it.each([1, null, 'text', [[]]])('lets an item that is no object fail alone: %j', (item) => {
    const parsed = items.parse([item, {}], 'batch_input');
    expect(parsed).toMatchObject([
      { values: {}, problem: { kind: 'invalid', field: 'batch_input[0]' } },
      { values: {} },
    ]);
    expect(parsed?.[0]?.problem?.message).toMatch(/"batch_input\[0\]": expected an object/);
  });

  it.each([1, 'text', true])('refuses a value that is neither a list nor an item: %j', (value) => {
    expect(() => items.parse(value, 'batch_input')).toThrowError(/"batch_input\[0\]": expected an object/);
  });
});

describe('an object', () => {
  const texts = params.textMap({ help: '' });
  const settings = params.members({ count: params.integer({ help: '' }) }, { help: '' });

  it.each([[null], [''], [{}]])('has nothing in it where it is %j', (value) => {
    expect(parse(texts, value)).toEqual({});
    expect(parse(settings, value)).toEqual({});
  });

  it.each([[[]], ['x'], [1], [true]])('is refused where it is %j', (value) => {
    for (const param of [texts, settings]) {
      expect(() => parse(param, value)).toThrowError(
        refusal('Field validation failed: error converting input for field "field": expected an object'),
      );
    }
  });

  it('has texts, or members that are each read as what they are, and no others', () => {
    expect(parse(texts, { a: 1, b: true, c: 'x', d: null })).toEqual({ a: '1', b: '1', c: 'x', d: '' });
    expect(parse(settings, { count: '7', other: 1 })).toEqual({ count: 7 });
  });
});
