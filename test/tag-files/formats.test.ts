import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FORMAT_NAMES, formatOf, loadFormat } from '../../src/tag-files/formats.ts';
import type { TagFile, TagFormatName } from '../../src/tag-files/tag-file.ts';
import { withBindings } from '../../src/tags/bindings.ts';
import { plainName, projectName, tagName } from '../../src/tags/names.ts';

const read = async (format: TagFormatName, text: string): Promise<TagFile> =>
  (await loadFormat(format)).parse(text, `tags.${format}`);
const plainly = ({ tags, workspaces, ...others }: TagFile) => ({
  tags,
  workspaces: Object.fromEntries(
    [...workspaces].map(([name, { tags, bindings, project }]) => [
      name,
      bindings === undefined && project === undefined
        ? tags
        : {
            tags,
            bindings: bindings === undefined ? undefined : Object.fromEntries(bindings),
            project,
          },
    ]),
  ),
  ...others,
});

const content: TagFile = {
  tags: ['env:prod', 'unused'],
  workspaces: new Map([
    ['billing', { tags: ['env:prod', 'team:core'] }],
    ['empty', { tags: [] }],
  ]),
};

const WRITTEN: Readonly<Record<TagFormatName, string>> = {
  csv: 'workspace,tag\n,env:prod\n,unused\nbilling,env:prod\nbilling,team:core\nempty,\n',
  json: `${JSON.stringify(
    {
      tags: ['env:prod', 'unused'],
      workspaces: { billing: ['env:prod', 'team:core'], empty: [] },
    },
    undefined,
    2,
  )}\n`,
  yaml: 'tags:\n  - env:prod\n  - unused\nworkspaces:\n  billing:\n    - env:prod\n    - team:core\n  empty: []\n',
};

describe('a file of tags', () => {
  it.each(FORMAT_NAMES)('is written as %s', async (format) => {
    expect((await loadFormat(format)).print(content)).toBe(WRITTEN[format]);
  });

  it.each(FORMAT_NAMES)(
    'that was written as %s reads as what it was made of, whatever the names are',
    async (format) => {
      const { parse, print } = await loadFormat(format);
      const name = fc.oneof(
        fc.string({ minLength: 1 }),
        fc.constantFrom('1', 'null', 'true', '1e3', '~', '=x', '__proto__', 'a,b', '"', '- a'),
      );
      const pairs = fc.uniqueArray(fc.tuple(name, fc.string()), {
        minLength: 1,
        maxLength: 3,
        selector: ([key]) => key,
      });
      const carried = fc.record({ tags: fc.array(name, { maxLength: 3 }), bindings: pairs, project: name });
      const entries = fc.array(fc.tuple(name, carried), { maxLength: 5 });
      const projects = fc.array(fc.tuple(name, pairs), { minLength: 1, maxLength: 3 });
      const property = fc.asyncProperty(
        fc.uniqueArray(name, { maxLength: 5 }),
        entries,
        projects,
        async (tags, ...maps) => {
          const [workspaces, bound] = maps;
          const made = {
            tags,
            workspaces: new Map(
              workspaces.map(([key, value]) => [key, { ...value, bindings: new Map(value.bindings) }]),
            ),
            projects: new Map(bound.map(([key, bindings]) => [key, new Map(bindings)])),
          };
          expect(parse(print(made), 'x')).toEqual(made);
        },
      );
      await fc.assert(property);
    },
  );

  it.each(FORMAT_NAMES)(
    'has projects that have no tags, beside those that have some, as %s',
    async (format) => {
      const { parse, print } = await loadFormat(format);
      const projects = new Map([
        ['Bare', new Map<string, string>()],
        ['Shop', new Map([['owner', 'core']])],
      ]);
      expect(parse(print({ tags: [], workspaces: new Map(), projects }), 'x').projects).toEqual(projects);
    },
  );

  it.each(FORMAT_NAMES)('has the project of a workspace without tag bindings, as %s', async (format) => {
    const { parse, print } = await loadFormat(format);
    for (const bindings of [undefined, new Map<string, string>()]) {
      const workspaces = new Map([['web', { tags: ['env:prod'], bindings, project: 'Shop' }]]);
      expect(plainly(parse(print({ tags: [], workspaces }), 'x')).workspaces).toMatchObject({
        web: { tags: ['env:prod'], project: 'Shop' },
      });
    }
  });

  it('has only the columns that it needs as CSV, and that of a value beside each key', async () => {
    const { print } = await loadFormat('csv');
    const bound = (value: string, project?: string) =>
      print({
        tags: [],
        workspaces: new Map([['web', { tags: [], bindings: new Map([['env', value]]), project }]]),
      });
    expect(bound('prod')).toBe('workspace,tag,key,value\nweb,,env,prod\n');
    expect(bound('')).toBe('workspace,tag,key,value\nweb,,env,\n');
    expect(bound('prod', 'Shop').split('\n')[0]).toContain('project');
  });

  it.each([
    ['tags.csv', 'csv'],
    ['tags.YML', 'yaml'],
    ['a/tags.yaml', 'yaml'],
    ['tags.json', 'json'],
    ['tags', undefined],
    ['tags.txt', undefined],
  ])('called %s is taken for %s', (name, format) => {
    expect(formatOf(name)).toBe(format);
  });
});

describe('keys with values in a file', () => {
  it.each<[TagFormatName, string]>([
    ['csv', 'workspace,tag,key,value,project\na,,,,plat\nb,,env,prod,\n'],
    ['yaml', 'workspaces:\n  a: { bindings: , project: plat }\n'],
    ['json', '{"workspaces":{"a":{"bindings":null,"project":"plat"}}}'],
  ])('are left as they are where %s lists none', async (format, text) => {
    const { workspaces } = await read(format, text);
    expect(workspaces.get('a')).toEqual({ tags: [], bindings: undefined, project: 'plat' });
  });

  it.each<[TagFormatName, string]>([
    ['yaml', 'workspaces:\n  a: { bindings: {} }\n'],
    ['json', '{"workspaces":{"a":{"bindings":{}}}}'],
  ])('are removed where %s has an empty list of them', async (format, text) => {
    expect((await read(format, text)).workspaces.get('a')?.bindings).toEqual(new Map());
  });
});

describe('CSV', () => {
  it.each([
    ['workspace,tag\r\nbilling,env:prod\r\n', { billing: ['env:prod'] }],
    ['\ufeffworkspace,tag\nbilling,env:prod', { billing: ['env:prod'] }],
    ['Tag,Workspace\nenv:prod,billing\n', { billing: ['env:prod'] }],
    ['workspace,tag\n"bill""ing","a,\nb"\n', { 'bill"ing': ['a,\nb'] }],
    ['workspace,tag\n\nbilling,a\n\nbilling,b\n', { billing: ['a', 'b'] }],
    ['workspace,tag\n', {}],
    [
      'workspace,tag,key,value,project\nbilling,a,env,prod,Shop\nbilling,,owner,,\n',
      { billing: { tags: ['a'], bindings: { env: 'prod', owner: '' }, project: 'Shop' } },
    ],
    [
      'workspace,tag,project\nbilling,a,\nbilling,b,Shop\nbilling,c,\nplain,a,\n',
      { billing: { tags: ['a', 'b', 'c'], project: 'Shop' }, plain: ['a'] },
    ],
  ])('that spreadsheets write, such as %j, is understood', async (text, workspaces) => {
    expect(plainly(await read('csv', text))).toMatchObject({ tags: [], workspaces });
  });

  it.each([
    [
      '',
      'tags.csv: line 1: the first line must name the columns: workspace and tag, and optionally key, value and project',
    ],
    [
      'billing,env:prod\n',
      'tags.csv: line 1: the first line must name the columns: workspace and tag, and optionally key, value and project',
    ],
    ['workspace,tag\nbilling\n', 'tags.csv: line 2: expected 2 fields, found 1'],
    ['workspace,tag\na,b\nc,d,e\n', 'tags.csv: line 3: expected 2 fields, found 3'],
    ['workspace,tag\na,b\n,\n', 'tags.csv: line 3: this line is empty'],
    [
      'workspace,tag\n"a\nb,c\n',
      'tags.csv: line 2: a quote is not closed, or is inside a field without being doubled',
    ],
    [
      'workspace,tag\na,b"c\n',
      'tags.csv: line 2: a quote is not closed, or is inside a field without being doubled',
    ],
    ['workspace,tag\n"a\nb",c\nd\n', 'tags.csv: line 4: expected 2 fields, found 1'],
    ['workspace,tag,key,value\na,,,v\n', 'tags.csv: line 2: this line has a value, but no key'],
    ['workspace,tag,key,value\na,,k,v\na,,k,w\n', 'tags.csv: line 3: duplicate entry "k"'],
    [
      'workspace,tag,key,value\n,,k,v\n',
      'tags.csv: line 2: this line has a key, but no workspace and no project',
    ],
    [
      'workspace,tag,project\na,b,P\na,c,Q\n',
      'tags.csv: line 3: another line says that a is in the project P',
    ],
    ['workspace,tag,project\n,b,P\n', 'tags.csv: line 2: projects have KEY=VALUE tags only'],
    [
      'workspace,tag,tag\n',
      'tags.csv: line 1: the first line must name the columns: workspace and tag, and optionally key, value and project',
    ],
  ])('such as %j is refused where it is wrong', async (text, message) => {
    await expect(read('csv', text)).rejects.toMatchObject({ kind: 'invalid', message });
  });
});

describe('YAML and JSON', () => {
  it.each(['no', 'y', '12:30', '1_000', '2026-01-01', '0777', '=', '<<'])(
    'quote %s, which YAML 1.1 takes for something else than this text',
    async (text) => {
      const { print } = await loadFormat('yaml');
      const workspaces = new Map([[text, { tags: [text], bindings: new Map([[text, text]]) }]]);
      expect(print({ tags: ['=x'], workspaces })).toBe(
        `tags:\n  - =x\nworkspaces:\n  "${text}":\n    tags:\n      - "${text}"\n    bindings:\n      "${text}": "${text}"\n`,
      );
    },
  );

  it('take the same name in two objects of JSON, and as a value, for no duplicate', async () => {
    const text =
      '{"tags":["a","a"],"workspaces":{"a":["a"],"b":{"tags":["a"],"bindings":{"a":"a","b":"\\"a"}}}}';
    expect(plainly(await read('json', text)).workspaces).toMatchObject({
      a: ['a'],
      b: { bindings: { b: '"a' } },
    });
  });

  it('may leave out what is empty', async () => {
    expect(plainly(await read('yaml', 'workspaces:\n  billing:\n'))).toEqual({
      tags: [],
      workspaces: { billing: [] },
    });
    expect(plainly(await read('json', '{"tags":["a"],"owns":["env:*"]}'))).toEqual({
      tags: ['a'],
      workspaces: {},
      owns: ['env:*'],
    });
  });

  it('take names that look like numbers for names', async () => {
    const text = 'tags: [2024, 007, 1.50]\nworkspaces:\n  42: [0x10, true]\n';
    expect(plainly(await read('yaml', text))).toEqual({
      tags: ['2024', '007', '1.50'],
      workspaces: { '42': ['0x10', 'true'] },
    });
  });

  it.each<[TagFormatName, string, string]>([
    ['yaml', '', 'tags.yaml: expected an object with "tags" and "workspaces"'],
    ['yaml', 'tag: [a]', 'tags.yaml: unknown field "tag"; use one of tags, workspaces, projects, owns'],
    ['yaml', 'workspaces: [a]', 'tags.yaml: workspaces: expected an object'],
    ['yaml', 'tags: a', 'tags.yaml: tags: expected a list'],
    ['yaml', 'workspaces:\n  a: {tags: b}', 'tags.yaml: workspaces.a.tags: expected a list'],
    ['yaml', 'workspaces:\n  a: b', 'tags.yaml: workspaces.a: expected a list of tags, or an object'],
    ['yaml', 'workspaces:\n  a: [[b]]', 'tags.yaml: workspaces.a[0]: expected a string'],
    [
      'yaml',
      'workspaces:\n  a: {tag: b}',
      'tags.yaml: workspaces.a: unknown field "tag"; use one of tags, bindings, project',
    ],
    ['yaml', 'projects:\n  P: {k: [v]}', 'tags.yaml: projects.P.k: expected a string'],
    ['yaml', 'workspaces:\n  a: [b]\n  a: [c]', 'tags.yaml: workspaces: duplicate entry "a"'],
    ['yaml', 'workspaces:\n  ? [a]\n  : [b]', 'tags.yaml: workspaces: a name must be a string'],
    ['yaml', '? {a: b}\n: [b]', 'tags.yaml: a name must be a string'],
    ['yaml', 'tags: &t [a]\nowns: *t', 'tags.yaml: owns: YAML aliases are not supported here'],
    ['json', '{"workspaces":{"a":[1]}}', 'tags.json: workspaces.a[0]: expected a string'],
    ['yaml', 'tags: [a]\n---\ntags: [b]\n', 'tags.yaml: line 2: a second YAML document begins here'],
    ['json', '{"workspaces":{"w":[],\n"w":[]}}', 'tags.json: line 2: duplicate entry "w"'],
    ['json', '{"projects":{"P":{"k":",","\\u006b":""}}}', 'tags.json: line 1: duplicate entry "k"'],
    ['json', '[]', 'tags.json: expected an object with "tags" and "workspaces"'],
  ])('as %s, %j is refused where it is wrong', async (format, text, message) => {
    await expect(read(format, text)).rejects.toMatchObject({ kind: 'invalid', message });
  });

  it.each<[TagFormatName, string, string]>([
    ['csv', 'workspace,tag\nweb,good\nweb,B C\n', 'tags.csv: line 3: Tags must only contain'],
    ['csv', 'workspace,tag\n,good\n,-bad\n', 'tags.csv: line 3: Tags must begin and end'],
    ['csv', 'workspace,tag\nweb,good\nw b,good\n', 'tags.csv: line 3: Name can only include'],
    ['yaml', 'tags: [a, B C]', 'tags.yaml: tags[1]: Tags must only contain'],
    ['yaml', 'workspaces: { web: { tags: [B C] } }', 'tags.yaml: workspaces.web.tags[0]: Tags must only'],
    ['json', '{"workspaces":{"web":["a","B C"]}}', 'tags.json: workspaces.web[1]: Tags must only contain'],
    ['csv', 'workspace,tag,project\nweb,,Shop\nweb2,,ab\n', 'tags.csv: line 3: Name is too short'],
    ['csv', 'workspace,tag,key,value\nweb,,a,1\nweb,,b,c d\n', 'tags.csv: line 3: Value is invalid'],
    ['yaml', 'projects: { ab: {} }', 'tags.yaml: projects.ab: Name is too short'],
    ['yaml', 'workspaces: { web: { project: ab } }', 'tags.yaml: workspaces.web.project: Name is too'],
    ['json', '{"projects":{"Shop":{"hc:a":""}}}', 'tags.json: projects.Shop.hc:a: Key is invalid'],
    ['json', '{"workspaces":{"w b":[]}}', 'tags.json: workspaces.w b: Name can only include'],
  ])('as %s, %j names where a name is that nothing can have', async (format, text, message) => {
    const { parse } = await loadFormat(format);
    const checks = {
      tag: tagName,
      workspace: plainName,
      project: projectName,
      binding: (key: string, value: string) => withBindings([], [{ key, value }], 0),
    };
    expect(() => parse(text, `tags.${format}`, checks)).toThrow(message);
    expect(() => parse(text, `tags.${format}`)).not.toThrow();
  });

  it.each<[TagFormatName, string, RegExp]>([
    ['json', '{', /^tags\.json: invalid JSON: /],
    ['yaml', 'tags: [a\nb: c', /^tags\.yaml: line \d+: invalid YAML: /],
  ])('as %s, %j is told to be none', async (format, text, message) => {
    await expect(read(format, text)).rejects.toThrow(message);
  });
});
