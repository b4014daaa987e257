import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Acl } from '../../src/access/acl.ts';
import { DEFAULT_POLICY } from '../../src/access/policies.ts';
import { parsePolicy } from '../../src/access/policy.ts';
import { type Body, type HclValue, parseBody } from '../../src/access/policy-hcl.ts';
import { CofferError } from '../../src/ground/errors.ts';
import { rounds } from '../long.ts';
import { processorMs } from '../processor-time.ts';

function problemOf(text: string): string {
  try {
    parsePolicy(text);
  } catch (error) {
    if (error instanceof CofferError && error.kind === 'invalid') return error.message;
    throw error;
  }
  return 'none';
}

const capabilitiesOf = (text: string, path: string): readonly string[] =>
  new Acl(parsePolicy(text).rules).capabilities(path);

describe('a policy in HCL', () => {
  it('may have comments of all three kinds, names in quotes, commas anywhere and blocks on one line', () => {
    const text = `
      # one
      // two " { 
      /* three
         path "no" { } */
      name = "orders"
      path "a" { capabilities = ["read", "list",] }
      "path" "b" { "capabilities" = ["read"], comment = "it's \\"quoted\\" \\u00e4 \\x41", }
      path "c" {
        policy = "write" // the old way
      }
      path = { "e" = { capabilities = ["delete"] } }
    `;
    expect(capabilitiesOf(text, 'a')).toEqual(['list', 'read']);
    expect(capabilitiesOf(text, 'b')).toEqual(['read']);
    expect(capabilitiesOf(text, 'c')).toEqual(['create', 'delete', 'list', 'read', 'update']);
    expect(capabilitiesOf(text, 'e')).toEqual(['delete']);
    expect(capabilitiesOf(text, 'no')).toEqual(['deny']);
  });

  it('takes allowed parameters as a block too', () => {
    const acl = new Acl(
      parsePolicy('path "a" { capabilities = ["update"] allowed_parameters { "x" = ["1"] y = [] } }').rules,
    );
    expect(acl.allows('a', 'update', { x: '1', y: 'z' })).toBe(true);
    expect(acl.allows('a', 'update', { x: '2' })).toBe(false);
  });

  it('may name a path with the last character there is, and may be a mebibyte long', () => {
    const text = 'path "\\U0010FFFF" { capabilities = ["read"] }\n';
    expect(capabilitiesOf(text.padEnd(1_048_576, '#'), '\u{10ffff}')).toEqual(['read']);
  });

  it('may have ends of lines of every system, a single word for a list, and the last character there is', () => {
    const text = 'path "a" {\r\n\tcapabilities = "read"\r\n}\r\n/**/# the end';
    expect(capabilitiesOf(text, 'a')).toEqual(['read']);
    expect(plainBody(parseBody('a = -0x10, b = 0x1f, c = "\\U0010ffff\\x41\\u00e4"'))).toEqual({
      a: -16,
      b: 31,
      c: '\u{10ffff}Aä',
    });
  });

  it('may be empty, and then grants nothing', () => {
    expect(parsePolicy('').rules).toEqual([]);
    expect(parsePolicy('\ufeff# nothing\n').rules).toEqual([]);
  });
});

describe('a policy in JSON', () => {
  it.each([
    ['an object of paths', '{"path": {"a/*": {"capabilities": ["read"]}, "b": {"capabilities": ["list"]}}}'],
    [
      'a list of objects',
      '{"path": [{"a/*": {"capabilities": ["read"]}}, {"b": {"capabilities": ["list"]}}]}',
    ],
    [
      'a list below the path',
      '\n {"name": "x", "path": {"a/*": [{"capabilities": ["read"]}], "b": {"policy": "read"}}}',
    ],
  ])('may have %s', (_, text) => {
    expect(capabilitiesOf(text, 'a/x')).toEqual(['read']);
    expect(capabilitiesOf(text, 'b')).toContain('list');
  });

  it('keeps a refusal when the same path stands there twice', () => {
    const text = '{"path": {"a": {"capabilities": ["deny"]}, "a": {"capabilities": ["read"]}}}';
    expect(capabilitiesOf(text, 'a')).toEqual(['deny']);
  });

  it('takes rules about parameters as a policy in HCL does', () => {
    const text = '{"path": {"a": {"capabilities": ["update"], "denied_parameters": {"type": ["rsa-*"]}}}}';
    const acl = new Acl(parsePolicy(text).rules);
    expect(acl.allows('a', 'update', { type: 'rsa-2048' })).toBe(false);
    expect(acl.allows('a', 'update', { type: 'ed25519' })).toBe(true);
  });
});

describe('a policy with a mistake is refused', () => {
  it.each([
    [
      'path "a" { policy = ["read"] }',
      'path "a": policy on line 1 must be a quoted string: deny, read, write or sudo',
    ],
    ['path "a" { policy = 7 }', 'path "a": invalid policy "7"'],
    ['path { "a" "b" { } }', 'line 1, column 8: expected one pattern after path, e.g. path "transit/keys/*"'],
    ['path { name = "x" }', 'line 1, column 8: expected a block'],
    ['name = "\\x4"', 'line 1, column 9: unknown escape in a string'],
    ['name = "\\u00e"', 'line 1, column 9: unknown escape in a string'],
    ['name = "\\U00110000"', 'line 1, column 9: unknown escape in a string'],
    ['name = "\\q"', 'line 1, column 9: unknown escape in a string'],
    ['path "a" { capabilities = ["raed"] }', 'path "a": invalid capability "raed"'],
    ['path "a" { policy = "all" }', 'path "a": invalid policy "all"'],
    ['path "a/+*" { capabilities = ["read"] }', `path "a/+*": invalid use of wildcards ('+*' is forbidden)`],
    ['\npath "a" {\n  capability = ["read"]\n}', 'path "a": invalid key "capability" on line 3'],
    ['path "a" { capabilities "x" { } }', 'path "a": invalid key "capabilities" on line 1'],
    ['paths "a" { }', 'invalid key "paths" on line 1'],
    ['path "a" { mfa_methods = ["x"] }', 'path "a": "mfa_methods" is not supported here'],
    ['path "a" { control_group = { } }', 'path "a": "control_group" is not supported here'],
    [
      'path "a" { capabilities = ["read"]\n capabilities = ["deny"] }',
      'path "a": "capabilities" is given a second time on line 2',
    ],
    ['path "a" { capabilities = [1] }', 'path "a": capabilities on line 1 must be a list of quoted strings'],
    ['path "a" { capabilities = { } }', 'path "a": capabilities on line 1 must be a list of quoted strings'],
    [
      'path "a" { min_wrapping_ttl = "soon" }',
      'path "a": min_wrapping_ttl on line 1 must be a duration such as 90 or "90s"',
    ],
    [
      'path "a" { min_wrapping_ttl = "1h1s" max_wrapping_ttl = 3600 }',
      'path "a": max_wrapping_ttl cannot be less than min_wrapping_ttl',
    ],
    [
      'path "a" { allowed_parameters = { x = "1" } }',
      'path "a": allowed_parameters on line 1 must be parameter names with lists of values',
    ],
    ['path "a" { denied_parameters { "x" "y" = ["1"] } }', 'line 1, column 40: expected "{", found "="'],
    [
      'path "a" { denied_parameters { "x" "y" { } } }',
      'path "a": denied_parameters on line 1 must be parameter names with lists of values',
    ],
    [
      'path "a" { allowed_parameters = { x = ["1"], X = [] } }',
      'path "a": parameter "x" is given twice in allowed_parameters',
    ],
    ['path "a" = { }', 'line 1, column 10: expected "{", found "="'],
    ['path "a" "b" { }', 'line 1, column 1: expected one pattern after path, e.g. path "transit/keys/*"'],
    ['path = "a"', 'line 1, column 1: expected a block'],
    ['path "a" {', 'line 1, column 11: expected "}", found the end of the policy'],
    [
      'path "a" { capabilities ["read"] }',
      'line 1, column 25: expected "=" or "{" after capabilities, found "["',
    ],
    [
      'path "a" { capabilities = read }',
      'line 1, column 27: expected a quoted string, a number, true, false, "[" or "{", found "read"',
    ],
    ['path "a" { capabilities = ["read" "list"] }', 'line 1, column 35: expected "]", found "list"'],
    ['path "a\n" { }', 'line 1, column 6: string not closed on its line'],
    ['\n\n  path "a', 'line 3, column 8: string not closed on its line'],
    ['path "\\q" { }', 'line 1, column 7: unknown escape in a string'],
    ['path "\\u12" { }', 'line 1, column 7: unknown escape in a string'],
    ['path "\\UFFFFFFFF" { }', 'line 1, column 7: unknown escape in a string'],
    ['path "\\U00110000" { }', 'line 1, column 7: unknown escape in a string'],
    ['/* never ends', 'line 1, column 1: comment not terminated'],
    [
      'path "a" { comment = <<EOT\nx\nEOT\n}',
      'line 1, column 22: here-documents are not supported; use a quoted string',
    ],
    ['path "a" { comment = 08 }', 'line 1, column 22: "08" is not a number'],
    ['path @ { }', 'line 1, column 6: unexpected character "@"'],
    ['}', 'line 1, column 1: expected the end, found "}"'],
    ['{"path": {}} x', 'line 1, column 14: expected the end, found "x"'],
    ['{"path": {"a": {"capabilities": ["read",]}}}', 'line 1, column 41: expected a value, found "]"'],
    ['{"path": {"a": {"capabilities": ["read"],}}}', 'line 1, column 42: expected a quoted name, found "}"'],
    ['{path: {}}', 'line 1, column 2: expected a quoted name, found "path"'],
  ])('when it says %j', (text, problem) => {
    expect(problemOf(text)).toBe(`failed to parse policy: ${problem}`);
  });

  it('when it nests deeper or is longer than any policy is', () => {
    expect(problemOf(`path "a" { comment = ${'['.repeat(100_000)}`)).toMatch(/nested deeper than 16 levels$/);
    expect(problemOf(`${'{"path":'.repeat(100_000)}`)).toMatch(/nested deeper than 16 levels$/);
    expect(problemOf('#'.repeat(1_048_577))).toBe(
      'failed to parse policy: it is longer than 1048576 characters',
    );
  });

  it('without repeating more than a little of it', () => {
    expect(problemOf(`path "a" { x = ${'y'.repeat(100_000)} }`).length).toBeLessThan(200);
    expect(problemOf('y'.repeat(100_000)).length).toBeLessThan(200);
    expect(problemOf(`path "${'y'.repeat(100_000)}" { x = 1 }`).length).toBeLessThan(400);
    expect(problemOf(`path "a" { capabilities = ["${'y'.repeat(100_000)}"] }`).length).toBeLessThan(400);
    expect(problemOf(`path "a" { x = ${'08'.repeat(100_000)} }`).length).toBeLessThan(400);
  });
});

describe('a policy that is right may come with a warning', () => {
  it('about templates, which match nothing', () => {
    const { rules, warnings } = parsePolicy('path "a/{{identity.entity.id}}" { capabilities = ["read"] }');
    expect(rules).toEqual([]);
    expect(warnings).toEqual([
      'path "a/{{identity.entity.id}}" has a template, which is not supported, so it matches nothing',
    ]);
  });
});

describe('the default policy', () => {
  it('lets a token look at, renew and revoke itself, ask for its capabilities, and hand over answers, nothing else', () => {
    const acl = new Acl(parsePolicy(DEFAULT_POLICY).rules);
    expect(acl.allows('auth/token/lookup-self', 'read')).toBe(true);
    expect(acl.allows('auth/token/renew-self', 'update')).toBe(true);
    expect(acl.allows('auth/token/revoke-self', 'update')).toBe(true);
    expect(acl.allows('sys/capabilities-self', 'update')).toBe(true);
    for (const what of ['wrap', 'unwrap', 'lookup']) {
      expect(acl.allows(`sys/wrapping/${what}`, 'update')).toBe(true);
    }
    expect(acl.allows('sys/wrapping/rewrap', 'update')).toBe(false);
    expect(acl.allows('auth/token/lookup', 'update')).toBe(false);
    expect(acl.allows('auth/token/create', 'update')).toBe(false);
    expect(acl.allows('transit/encrypt/a', 'update')).toBe(false);
    expect(acl.reaches('transit/')).toBe(false);
  });
});

/** Values as both notations can write them. */
const scalar = fc.oneof(
  fc.string(),
  fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const anyObject = fc.dictionary(fc.string(), anyValue, { maxKeys: 4, noNullPrototype: true });

const plain = (value: HclValue): unknown => {
  if (value.kind === 'scalar') return value.value;
  if (value.kind === 'list') return value.items.map(plain);
  return plainBody(value);
};
const plainBody = (body: Body): unknown =>
  Object.fromEntries(body.entries.map((entry) => [entry.keys[0], plain(entry.value)]));

/** The same value in HCL. Quoted texts are written alike in both. */
function printHcl(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printHcl).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return `{${printMembers(value)}}`;
  return JSON.stringify(value);
}
const printMembers = (value: object): string =>
  Object.entries(value)
    .map(([name, member]) => `\n# a comment\n${JSON.stringify(name)} = ${printHcl(member)}`)
    .join('\n');

describe('the reader of policies', () => {
  it('reads JSON as JSON.parse does', () => {
    fc.assert(
      fc.property(anyObject, fc.boolean(), (object, indented) => {
        const text = JSON.stringify(object, undefined, indented ? 2 : 0);
        expect(plainBody(parseBody(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('reads the same from HCL', () => {
    fc.assert(
      fc.property(anyObject, (object) => {
        expect(plainBody(parseBody(printMembers(object)))).toEqual(JSON.parse(JSON.stringify(object)));
      }),
    );
  });

  it('refuses what it can not read with an error of the family, and never otherwise', () => {
    const pieces = fc.constantFrom(
      'path',
      '"a"',
      '{',
      '}',
      '[',
      ']',
      '=',
      ',',
      ':',
      '#',
      '/*',
      '*/',
      '//',
      '\n',
      '"',
      '\\',
      '<<',
      '1',
      '-',
      'true',
      '\u0000',
      '{{',
      '+*',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces, { maxLength: 30 }).map((all) => all.join(' ')),
        ),
        (text) => {
          expect(problemOf(text)).toMatch(/^(none$|failed to parse policy: )/);
        },
      ),
      { numRuns: rounds(1000) },
    );
  });

  it('takes time in proportion to the text, whatever the text', () => {
    const hard = [
      '/*'.repeat(300_000),
      '"'.repeat(300_001),
      '#\n'.repeat(300_000),
      `a = "${'\\\\'.repeat(300_000)}"`,
      'a '.repeat(300_000),
      '1'.repeat(600_000),
    ];
    for (const text of hard) {
      expect(processorMs(() => problemOf(text))).toBeLessThan(2000);
    }
  });
});
