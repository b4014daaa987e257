import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkBoundClaims,
  checkGroups,
  pointedAt,
  printGo,
  templatedPolicies,
} from '../../../../src/access/methods/jwt/claims.ts';
import { hasUniqueNames } from '../../../../src/access/methods/jwt/signed-token.ts';
import { anyText } from '../../../any-text.ts';

describe('a JSON pointer', () => {
  // RFC 6901, section 5.
  const document = {
    foo: ['bar', 'baz'],
    '': 0,
    'a/b': 1,
    'c%d': 2,
    'e^f': 3,
    'g|h': 4,
    'i\\j': 5,
    'k"l': 6,
    ' ': 7,
    'm~n': 8,
  };
  it.each([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
    ['/foo/2', undefined],
    ['/foo/-', undefined],
    ['/foo/00', undefined],
    ['/foo/length', undefined],
    ['/nosuch/x', undefined],
    ['/constructor', undefined],
    ['/__proto__/x', undefined],
  ])('leads where the standard says: %j', (pointer, value) => {
    expect(pointedAt(document, pointer)).toEqual(value);
  });
});

describe('a value in a message', () => {
  it('is shown in 200 characters at most', () => {
    expect(printGo('x'.repeat(200))).toBe('x'.repeat(200));
    expect(printGo('x'.repeat(201))).toBe(`${'x'.repeat(200)}…`);
  });
});

describe('a bound number', () => {
  it.each([
    ['7', '7.5', true],
    ['7', '8', false],
    ['9007199254740991', '9007199254740991', true],
    ['9007199254740993', '9007199254740992', false],
    ['1e300', '1e300', false],
    ['0', '1e-400', true],
    ['1e400', '1e500', false],
  ])('%s, and one of %s: %s', (bound, claim, isMet) => {
    const check = () => checkBoundClaims(JSON.parse(`{"id":${bound}}`), JSON.parse(`{"id":${claim}}`), false);
    if (isMet) expect(check).not.toThrow();
    else expect(check).toThrow('claim "id" does not match any associated bound claim values');
  });
});

describe('a bound claim', () => {
  it.each<[unknown, unknown, boolean, boolean]>([
    ['a', 'a', false, true],
    ['a', 'A', false, false],
    ['a*', 'ab', false, false],
    ['a*', 'ab', true, true],
    ['a*', 'ba', true, false],
    [['a', 'b'], ['c', 'b'], false, true],
    [['a', 'b'], ['c'], false, false],
    [true, true, false, true],
    [true, 'true', false, false],
    [true, true, true, false],
    [[null], [null], false, false],
    ['*', [null, 1], true, false],
  ])('of %j and one of %j, with globs: %j: %j', (bound, claim, isGlob, isMet) => {
    const check = () => checkBoundClaims({ of: bound } as never, { of: claim } as never, isGlob);
    if (isMet) expect(check).not.toThrow();
    else expect(check).toThrow('claim "of" does not match any associated bound claim values');
  });
});

describe('the name of a policy with claims in it', () => {
  const claims = { team: 'red', of: { region: 'eu' }, level: 7 };

  it('has the text of each claim in its place', () => {
    expect(templatedPolicies(['plain', 'team-{{.team}}', '{{ .of.region }}-{{.team}}'], claims)).toEqual([
      'plain',
      'team-red',
      'eu-red',
    ]);
  });

  it.each(['{{.none}}', '{{.level}}', '{{.of}}', '{{team}}', '{{', '}}', 'a{{.team', '.team}}'])(
    'is refused with %s, since a part of it would be no claim',
    (template) => {
      expect(() => templatedPolicies(['plain', template], claims)).toThrow('failed to template policy [1]');
    },
  );
});

describe('the claim that lists groups', () => {
  it('has names, in a list or alone', () => {
    for (const groups of ['a', ['a', 'b'], []]) expect(() => checkGroups('groups', { groups })).not.toThrow();
    expect(() => checkGroups('groups', {})).toThrow(
      'failed to fetch groups: "groups" claim not found in token',
    );
    expect(() => checkGroups('groups', { groups: {} })).toThrow('could not be converted to string list');
    for (const groups of [1, ['a', 1], [['a']]]) {
      expect(() => checkGroups('groups', { groups })).toThrow(
        'in groups claim could not be parsed as string',
      );
    }
  });
});

describe('a name that stands twice', () => {
  const json = fc.jsonValue({ maxDepth: 4 });

  it('is in nothing that a serializer made', () => {
    fc.assert(
      fc.property(json, fc.constantFrom('', ' ', '\t'), (value, indent) => {
        expect(hasUniqueNames(JSON.stringify(value, undefined, indent))).toBe(true);
      }),
    );
  });

  it('is found wherever it is, and however it is written', () => {
    fc.assert(
      fc.property(anyText({ minLength: 1 }), json, fc.nat(3), (name, value, depth) => {
        const escaped = [...name].flatMap((sign) => [
          ...Buffer.from(sign, 'utf16le')
            .toString('hex')
            .matchAll(/(..)(..)/g),
        ]);
        const other = `"${escaped.map(([, low, high]) => `\\u${high}${low}`).join('')}"`;
        const twice = `{${JSON.stringify(name)}:${JSON.stringify(value)},"":{},${other}:0}`;
        const nested = `${'{"x":['.repeat(depth)}${twice}${']}'.repeat(depth)}`;
        JSON.parse(nested);
        expect(hasUniqueNames(nested)).toBe(false);
      }),
    );
  });

  it('is not one in two objects, nor one name within another of that name', () => {
    expect(hasUniqueNames('[{"a":1},{"a":{"a":["a","a",{"a":2}]},"b":"a"}]')).toBe(true);
    expect(hasUniqueNames('{"a\\\\":1,"a":"\\",\\"a\\":","b\\"":2}')).toBe(true);
  });
});

describe('a value in a message', () => {
  it('is printed as Go prints it', () => {
    expect(printGo({ b: [1, 'x', null], a: { c: true } })).toBe('map[a:map[c:true] b:[1 x <nil>]]');
  });

  it('is cut where it is long or deep', () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}`);
    expect(printGo(deep)).toBe(`${'map[a:'.repeat(8)}…${']'.repeat(8)}`);
    expect(printGo({ a: 'x'.repeat(300) })).toHaveLength(201);
  });
});
