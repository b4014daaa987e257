import { describe, expect, it } from 'vitest';
import { planOf } from '../../src/cli/tags/plan.ts';
import type { Whole } from '../../src/cli/tags/surroundings.ts';
import type { TagFile } from '../../src/tag-files/tag-file.ts';

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
