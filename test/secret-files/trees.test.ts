import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { FileFormat } from '../../src/secret-files/format.ts';
import { json } from '../../src/secret-files/json.ts';
import { yaml } from '../../src/secret-files/yaml.ts';
import { anyText } from '../any-text.ts';
import { rounds } from '../long.ts';
import { refusal } from '../refusal.ts';

const rows = (format: FileFormat, text: string) =>
  format.parse(text, 'f').places.map(({ name, text: value, type }) => [name, value, type]);

describe('the places of a YAML file', () => {
  it('are its scalars, named by their keys and indexes', () => {
    const text = [
      'db: {user: me, "pass word": s}',
      'servers:',
      '- key: k # c',
      '- - 1',
      'a.b: "x\\ny"',
      'port: 0x1f',
      'on: true',
      'none: ~',
      'empty:',
    ];
    expect(rows(yaml, text.join('\n'))).toEqual([
      ['db.user', 'me', 'string'],
      ['db.pass word', 's', 'string'],
      ['servers.0.key', 'k', 'string'],
      ['servers.1.0', '1', 'number'],
      ['a\\.b', 'x\ny', 'string'],
      ['port', '0x1f', 'number'],
      ['on', 'true', 'boolean'],
      ['none', '~', 'null'],
      ['empty', '', 'null'],
    ]);
  });

  it('carry the number of their document from the second one on', () => {
    expect(rows(yaml, 'a: x\n---\na: y\n---\n- z\n').map(([name]) => name)).toEqual(['a', '2#a', '3#0']);
  });

  it('leave out aliases, and take the node of an anchor without it', () => {
    const file = yaml.parse('a: &x !!str  word # c\nb: *x\nc: {<<: *x, d: 1}\n', 'f');
    expect(file.places.map(({ name, source }) => [name, source])).toEqual([
      ['a', 'word'],
      ['c.d', '1'],
    ]);
  });

  it('end a block before the empty lines that it does not keep', () => {
    const file = yaml.parse('a: |\n  x\n  y\n\nb: >+\n  z\n\nc: |-\n  w', 'f');
    expect(file.places.map(({ source, text }) => [source, text])).toEqual([
      ['|\n  x\n  y', 'x\ny\n'],
      ['>+\n  z\n', 'z\n\n'],
      ['|-\n  w', 'w'],
    ]);
  });

  it.each([
    ['a: 1\nb: 2\na: 3\n', 'f:3: duplicate key "a"'],
    ['a: {b: 1, b: 2}', 'f:1: duplicate key "b"'],
    ['a: [1\nb: 2\n', 'f:2: invalid YAML'],
    ['a: b\n\t- c\n', 'f:2: invalid YAML'],
    ['just words\n', 'f:1: expected a map or a list here'],
    ['a: 1\n<<<<<<< ours\nb: 1\n=======\nb: 2\n>>>>>>> theirs\n', 'f:2: unresolved merge conflict'],
    [`a: ${'['.repeat(5000)}`, 'f: nested too deeply'],
    [`${'- '.repeat(201)}a`, 'f:1: nested too deeply'],
    [`? ${'- '.repeat(201)}a\n: b\n`, 'f:1: nested too deeply'],
  ])('are not looked for in what is broken (case %#)', (text, message) => {
    const found = refusal(() => yaml.parse(text, 'f'));
    expect(found.kind).toBe('invalid');
    expect(found.message).toContain(message);
  });

  it('may be nested in 200 levels, and keys too', () => {
    expect(rows(yaml, `${'- '.repeat(200)}a`)).toEqual([[`0${'.0'.repeat(199)}`, 'a', 'string']]);
    expect(rows(yaml, `? ${'- '.repeat(200)}a\n: b\n`)).toHaveLength(1);
  });

  it('may be in a file with the first mark of a conflict alone, which somebody wrote there', () => {
    expect(rows(yaml, '<<<<<<< a: 1\n')).toEqual([['<<<<<<< a', '1', 'number']]);
  });

  it.each([
    'a: 1\n hunter2\n',
    'a: "\\hunter2"\n',
    'a: !hunter2! x\n',
    'a: !<hunter2 x\n',
    '%hunter2\n---\na: 1\n',
    'a: |hunter2\n  x\n',
    'a: "x" hunter2\n',
    'a: {b: 1} hunter2\n',
    'a: @hunter2\n',
    'a: 1\n}hunter2\n',
    'a: [x\nhunter2: y\n',
    'a: "hunter2\n',
  ])('are looked for without telling what stands in a broken file (case %#)', (text) => {
    let message = '';
    try {
      yaml.parse(text, 'f');
    } catch (error) {
      message = String(error);
    }
    expect(message).not.toContain('unter2');
  });

  it('are found in an alias bomb without following it', () => {
    const bomb = [
      'a0: &a0 [x]',
      ...Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`),
    ];
    expect(rows(yaml, bomb.join('\n'))).toEqual([['a0.0', 'x', 'string']]);
  });
});

describe('the places of a JSON file', () => {
  it('are its scalars, named by their keys and indexes', () => {
    expect(rows(json, '\ufeff{"a": {"b.c": "x\\u0041"}, "l": [1.50, true, null, {}], "": ""}\n')).toEqual([
      ['a.b\\.c', 'xA', 'string'],
      ['l.0', '1.50', 'number'],
      ['l.1', 'true', 'boolean'],
      ['l.2', 'null', 'null'],
      ['', '', 'string'],
    ]);
  });

  it.each([
    ['{"a": 1,\n "a": 2}', 'f:2: duplicate key "a"'],
    ['{"a": 1,}', 'f:1: remove the comma before "}"'],
    ['[1,\n2,\n]', 'f:2: remove the comma before "]"'],
    ['{a: 1}', 'f:1: a key in double quotes is missing'],
    ['{"a": 1,,}', 'f:1: a key in double quotes is missing'],
    ['{"a" 1}', 'f:1: a colon is missing'],
    ['[1 2]', 'f:1: a comma or "]" is missing'],
    ['[01]', 'f:1: not valid JSON: expected a value (a string needs double quotes)'],
    ['{"a": 1,\n"b": ', 'f:2: not valid JSON: the file ends where a value is expected'],
    ['["\n"]', 'f:1: this string has a character or an escape that JSON does not allow'],
    ['[1] x', 'f:1: there is more text after the end of the document'],
    ['"x"', 'f:1: expected { or [ here'],
    ['// c\n{}', 'f:1: expected { or [ here'],
    ['', 'f:1: expected { or [ here'],
    ['['.repeat(100_000), 'f:1: nested too deeply'],
  ])('are not looked for in what is broken (case %#)', (text, message) => {
    expect(refusal(() => json.parse(text, 'f'))).toMatchObject({ kind: 'invalid', message });
  });

  it('are in every text that JSON.stringify writes, and mean the same', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.integer({ min: 0, max: 4 }),
        (value, indent) => {
          const file = json.parse(JSON.stringify(value, undefined, indent), 'f');
          const leaves = leavesOf(value);
          expect(file.places.map(({ source }) => JSON.parse(source))).toEqual(leaves);
        },
      ),
    );
  });
});

function leavesOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [JSON.parse(JSON.stringify(value))];
  return Object.values(value).flatMap(leavesOf);
}

describe('a value added to YAML or JSON', () => {
  it.each([
    [yaml, 'a:\n    b: 1 # c\n# end\n', 'a.c', 'a:\n    b: 1 # c\n    c: xy\n# end\n'],
    [yaml, 'a:\n  b: 1', 'new.m', 'a:\n  b: 1\nnew:\n  m: xy'],
    [yaml, 'a: 1\r\n', 'b', 'a: 1\r\nb: xy\r\n'],
    [yaml, 'l:\n- k: 1\n  m: 2\n', 'l.0.new', 'l:\n- k: 1\n  m: 2\n  new: xy\n'],
    [yaml, 'l:\n- 1\n', 'l.1', 'l:\n- 1\n- xy\n'],
    [yaml, 'a: {b: 1}\n', 'a.c', 'a: {b: 1, c: "xy"}\n'],
    [yaml, 'a: {}\n', 'a.c', 'a: {c: "xy"}\n'],
    [yaml, '# nothing\n', 'a', '# nothing\na: xy\n'],
    [yaml, '', 'a.b', 'a:\n  b: xy\n'],
    [yaml, 'a: 1\n---\nb: 1\n', '2#c', 'a: 1\n---\nb: 1\nc: xy\n'],
    [yaml, 'a: |\n  text\n\n', 'b', 'a: |\n  text\nb: xy\n\n'],
    [json, '{\n  "a": 1\n}\n', 'b', '{\n  "a": 1,\n  "b": "xy"\n}\n'],
    [json, '{"a": {"b": 1}}', 'a.c', '{"a": {"b": 1, "c": "xy"}}'],
    [json, '{"a":[]}', 'a.0', '{"a":["xy"]}'],
    [json, '{}', 'a.b', '{"a": {"b": "xy"}}'],
    [json, '{"a":1}', 'b', '{"a":1, "b": "xy"}'],
    [json, '{"a":1,"b":2}', 'c', '{"a":1,"b":2,"c": "xy"}'],
    [json, '{ "a": 1 }', 'b', '{ "a": 1, "b": "xy" }'],
    [json, '{"a":[1]}', 'a.1', '{"a":[1, "xy"]}'],
    [yaml, '\ufeff', 'a', '\ufeffa: xy\n'],
    [yaml, '# nothing', 'a', '# nothing\na: xy'],
  ] as const)('goes where it belongs (case %#)', (format, text, name, result) => {
    expect(format.parse(text, 'f').added(name, 'xy')).toBe(result);
  });

  it.each([
    [yaml, 'a: 1\n', 'a.b', 'cannot add a.b: a is a value'],
    [yaml, 'a:\n  b: 1\n', 'a', 'a is a map or a list, not a single value'],
    [yaml, 'l: [1]\n', 'l.2', 'cannot add l.2'],
    [yaml, 'a: 1\n', '2#b', 'cannot add 2#b to this file'],
    [yaml, '~\n', 'a', 'cannot add a to this file'],
    [yaml, '---\n---\n', 'a', 'cannot add a to this file'],
    [yaml, 'a: &x {b: 1}\nc: *x\n', 'c', 'c is not a single value'],
    [yaml, 'a: &x {b: 1}\nc: *x\n', 'c.d', 'cannot add c.d: c is a value'],
    [json, '[1]', 'x', 'cannot add x'],
  ] as const)('is refused where there is no room for it (case %#)', (format, text, name, message) => {
    expect(refusal(() => format.parse(text, 'f').added(name, 'x'))).toMatchObject({
      kind: 'invalid',
      message,
    });
  });

  it('means what it was, whatever it is', () => {
    fc.assert(
      fc.property(anyText(), fc.constantFrom('a: 1\n', 'a: {b: 1}\n', '- 1\n'), (value, text) => {
        const name = text.startsWith('-') ? '1' : text.includes('{') ? 'a.new' : 'new';
        const after = yaml.parse(yaml.parse(text, 'f').added(name, value), 'f');
        expect(after.places.at(-1)).toMatchObject({ name, text: value, type: 'string' });
      }),
      { numRuns: rounds(500) },
    );
    expect(parseYaml(yaml.parse('a: 1\n', 'f').added('b', 'yes'))).toEqual({ a: 1, b: 'yes' });
  });

  it.each(['y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null'])(
    'is a string for parsers of every version of YAML when it is %s',
    (word) => {
      for (const value of [word, word.toUpperCase(), `${word[0]?.toUpperCase()}${word.slice(1)}`]) {
        expect(yaml.parse('a: 1\n', 'f').added('b', value)).toBe(`a: 1\nb: "${value}"\n`);
        expect(yaml.parse('a: 1\n', 'f').added(value, 'x')).toBe(`a: 1\n"${value}": x\n`);
      }
    },
  );
});

describe('a value written in place of an empty one of YAML', () => {
  it('has a blank before it unless there is one', () => {
    const file = yaml.parse('a:\nb: \nc:\n- \n- x\n', 'f');
    const [a, b, first] = file.places;
    expect([a, b, first].map((place) => place && file.written(place, 'x'))).toEqual([' x', 'x', 'x']);
  });
});

describe('a value taken out of YAML or JSON', () => {
  it.each([
    [yaml, 'a: 1 # c\nb: 2\n', 'a', 'b: 2\n'],
    [yaml, 'a:\n  b: |\n    x\n    y\n  c: 2\n', 'a.b', 'a:\n  c: 2\n'],
    [yaml, 'l:\n- k: 1\n  m: 2\n', 'l.0.k', 'l:\n- m: 2\n'],
    [yaml, 'l:\n- 1\n- 2\n', 'l.1', 'l:\n- 1\n'],
    [yaml, 'a: {b: 1, c: 2}\n', 'a.b', 'a: {c: 2}\n'],
    [json, '{\n  "a": 1,\n  "b": 2\n}\n', 'b', '{\n  "a": 1\n}\n'],
    [json, '{\n  "a": 1,\n  "b": 2\n}\n', 'a', '{\n  "b": 2\n}\n'],
    [json, '{ "a": 1 }', 'a', '{}'],
    [yaml, 'a: 1\n---\nb: 2\nc: 3\n', '2#b', 'a: 1\n---\nc: 3\n'],
    [yaml, '---\n---\na: 1\nb: 2', '2#b', '---\n---\na: 1\n'],
    [yaml, 'a: {b: {c: 1}, d: {e: 2, f: 3}}\n', 'a.d.e', 'a: {b: {c: 1}, d: {f: 3}}\n'],
  ] as const)('leaves the rest as it was (case %#)', (format, text, name, result) => {
    const file = format.parse(text, 'f');
    const place = file.places.find((candidate) => candidate.name === name);
    expect(place && file.removed(place)).toBe(result);
  });

  it('is left to an editor if its line has nothing else but the dash of its list', () => {
    const file = yaml.parse('l:\n- a: 1\n- b: 2\n', 'f');
    const [place] = file.places;
    expect(refusal(() => place && file.removed(place))).toMatchObject({
      kind: 'invalid',
      message: 'cannot remove l.0.a from its line',
    });
  });

  it.each([
    [yaml, 'l:\n- 1\n- 2\n'],
    [json, '{"l": [1, 2]}'],
  ] as const)('may not move others of its list (case %#)', (format, text) => {
    const file = format.parse(text, 'f');
    const [place] = file.places;
    expect(refusal(() => place && file.removed(place))).toMatchObject({
      kind: 'invalid',
      message: 'cannot remove l.0 from its list',
    });
  });
});
