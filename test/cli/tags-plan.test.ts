import { describe, expect, it } from 'vitest';
import { planOf } from '../../src/cli/tags/plan.ts';
import type { Whole } from '../../src/cli/tags/surroundings.ts';
import type { TagFile } from '../../src/tag-files/tag-file.ts';
import { DirectoryHere } from './directory-here.ts';

const file: TagFile = {
  tags: [],
  workspaces: new Map([['web', { tags: ['new'], bindings: new Map([['a', '1']]) }]]),
  projects: new Map([['shop', new Map([['a', '1']])]]),
};
const whole: Whole = {
  tags: [],
  workspaces: [
    { id: 'ws-1', name: 'web', tags: ['old'], bindings: new Map([['b', '2']]), project: undefined },
  ],
  projects: [{ id: 'prj-1', name: 'shop', bindings: new Map([['b', '2']]) }],
  isWhole: true,
};
const options = { prunes: false, owns: [] };

describe('a plan for tags', () => {
  it('removes what the file does not have, of tags and of keys', () => {
    const { removed, unbound } = planOf(file, whole, { ...options, addsOnly: false });
    expect(removed).toEqual([{ workspace: 'web', tag: 'old' }]);
    expect(unbound.map(({ on, name, key }) => [on, name, key])).toEqual([
      ['project', 'shop', 'b'],
      ['workspace', 'web', 'b'],
    ]);
  });

  it('that only adds removes nothing, of tags or of keys', () => {
    const { added, bound, removed, unbound } = planOf(file, whole, { ...options, addsOnly: true });
    expect(added).toEqual([{ workspace: 'web', tag: 'new' }]);
    expect(bound).toHaveLength(2);
    expect({ removed, unbound }).toEqual({ removed: [], unbound: [] });
  });

  it('removes, unbinds and deletes only what the file manages', () => {
    const tag = (name: string, count: number) => ({
      id: name,
      attributes: { name, 'instance-count': count },
    });
    const several = {
      ...whole,
      tags: [tag('team-old', 0), tag('team-used', 1), tag('other', 0), tag('team-named', 0), tag('old', 1)],
      workspaces: [
        {
          ...{ id: 'ws-1', name: 'web', project: undefined, tags: ['old', 'team-gone'] },
          bindings: new Map([
            ['b', '2'],
            ['team-b', '2'],
          ]),
        },
      ],
    } as unknown as Whole;
    const managed: TagFile = {
      tags: ['team-named'],
      workspaces: new Map([['web', { tags: [], bindings: new Map() }]]),
      owns: ['team-*'],
    };
    const { removed, unbound, deletedTags } = planOf(managed, several, {
      addsOnly: false,
      prunes: true,
      owns: [],
    });
    expect(removed.map((each) => each.tag)).toEqual(['team-gone']);
    expect(unbound.map(({ key }) => key)).toEqual(['team-b']);
    expect(deletedTags.map(({ attributes }) => attributes.name)).toEqual(['team-old']);
    for (const owns of [['other*'], ['old']])
      expect(
        planOf({ ...managed, tags: [], owns: [] }, several, { addsOnly: true, prunes: true, owns })
          .deletedTags.map(({ attributes }) => attributes.name)
          .toSorted(),
      ).toEqual(owns[0] === 'old' ? [] : ['other']);
  });

  it('is narrowed by patterns beside those of the file, never widened', () => {
    const web = {
      ...{ id: 'ws-1', name: 'web', project: undefined },
      tags: ['team:core', 'env:prod', 'env:team'],
    };
    const plan = (...owns: readonly string[]) =>
      planOf(
        { tags: [], workspaces: new Map([['web', { tags: [] }]]), owns: ['*team*'] },
        { ...whole, workspaces: [{ ...web, bindings: new Map() }] },
        { addsOnly: false, prunes: false, owns },
      ).removed.map(({ tag }) => tag);
    expect(plan()).toEqual(['team:core', 'env:team']);
    expect(plan('env:*')).toEqual(['env:team']);
    expect(plan('other:*')).toEqual([]);
    expect(() =>
      planOf({ ...file, owns: ['*'] }, whole, { ...options, addsOnly: false, owns: ['env:*'] }),
    ).toThrow('no pattern of --owns matches the tag "a"');
  });

  it('deletes a tag whose last workspace loses it, and none that a workspace gets', () => {
    const tag = (name: string, count: number) => ({
      id: name,
      attributes: { name, 'instance-count': count },
    });
    const before = { ...whole, tags: [tag('old', 1), tag('new', 0)] } as unknown as Whole;
    const all = { addsOnly: false, prunes: true, owns: [] };
    const deleted = (present: Whole) =>
      planOf(file, present, all).deletedTags.map(({ attributes }) => attributes.name);
    expect(deleted(before)).toEqual(['old']);
    expect(deleted({ ...before, tags: [tag('old', 2), tag('new', 0)] } as unknown as Whole)).toEqual([]);
  });
});

describe('a file that breaks a rule of the organization', () => {
  const keys = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, at) => `k${from + at}: v`).join(', ');

  it.each([
    ['eleven', `bindings: { ${keys(0, 11)} }`, 'workspace web: Tag bindings cannot exceed 10 bindings'],
    [
      'more beside others',
      `bindings: { ${keys(3, 9)} }`,
      'workspace web: Tag bindings cannot exceed 10 bindings',
    ],
    [
      'a reserved one',
      'bindings: { env: dev }, project: plat',
      'workspace web: Key is reserved and cannot be',
    ],
  ])('is refused before anything is changed: %s', async (what, carried, problem) => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    await here.ok('orgs create acme');
    await here.ok('projects create plat --bind env=prod');
    await here.ok('tags reserved create env --disable-overrides');
    await here.ok('workspaces create web --bind a=1 b=1 c=1 d=1 e=1');
    here.write('tags.yaml', `tags: [new]\nworkspaces:\n  made: [new]\n  web: { ${carried} }\n`);
    for (const line of ['import tags.yaml --dry-run', 'import tags.yaml'])
      expect(await here.refused(`tags ${line}`, 2)).toContain(problem);
    if (what !== 'more beside others')
      expect(await here.refused('tags apply tags.yaml --yes', 2)).toContain(problem);
    expect(await here.ok('workspaces list')).toBe('web');
    expect(await here.ok('tags list')).toBe('');
  });

  it('is not one if it removes as many as it adds, or has the value of the project', async () => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    await here.ok('orgs create acme');
    await here.ok('projects create plat --bind env=prod');
    await here.ok('tags reserved create env --disable-overrides');
    await here.ok('workspaces create web --bind a=1 b=1 c=1 d=1 e=1');
    here.write(
      'tags.yaml',
      `workspaces:\n  web: { bindings: { ${keys(0, 9)}, env: prod }, project: plat }\n`,
    );
    await here.ok('tags apply tags.yaml --yes');
    expect((await here.ok('workspaces bindings web')).split('\n')).toHaveLength(10);
  });
});
