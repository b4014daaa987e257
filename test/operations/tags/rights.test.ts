import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, owner } from '../../../src/operations/declaration/operation.ts';
import { refused } from '../../refusal.ts';
import { TagsApi } from './tags-api.ts';

const acme = { organization_name: 'acme' };
const ORG = 'organizations/acme';

interface Resource {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

let api: TagsApi;
/** Identifiers of the workspace web in the project platform, and of others. */
let ids: Readonly<Record<'web' | 'platform' | 'usual' | 'a', string>>;

beforeAll(async () => {
  api = await TagsApi.open();
  const [web = ''] = await api.organization('acme', ['web', 'bare']);
  const [a = ''] = await api.tags('acme', 'a', 'b');
  await api.send('tags attach', { tag_id: a, data: [web] });
  const made = await api.ask<{ data: Resource }>('projects create', acme, {
    data: { type: 'projects', attributes: { name: 'platform' } },
  });
  const platform = made.data.id;
  await api.send('projects bind', { project_id: platform, data: ['env=prod'] });
  await api.send('projects move', { project_id: platform, data: [web] });
  await api.send('transit keys create', { name: 'orders' });
  await api.send('transit keys tag', { name: 'orders', organization: 'acme', tags: ['held'] });
  const { data } = await api.ask<{ data: readonly Resource[] }>('projects list', {
    ...acme,
    'filter[names]': 'Default Project',
  });
  ids = { web, platform, a, usual: data[0]?.id ?? '' };
});

/** Replaces `@web` by the identifier of that workspace, and so on. */
const meant = (text: string): string => text.replace(/@(\w+)/, (_, name: keyof typeof ids) => ids[name]);

/** Somebody who may do this alone, each as `read PATH`. */
const only = (...rights: readonly string[]): Caller => ({
  ...owner,
  id: 'clerk',
  may: (path, capability) => rights.map(meant).includes(`${capability} ${path}`),
});

const shown = async (caller: Caller, words: string, values: object) => {
  const { data } = await api.send(words, { ...values }, undefined, caller);
  return data as { readonly data: unknown; readonly included?: readonly Resource[] };
};
const named = async (caller: Caller, words: string, values: object) =>
  ((await shown(caller, words, values)).data as readonly Resource[]).map(
    ({ attributes }) => attributes['name'],
  );

describe('the tags that a workspace lacks', () => {
  it.each<[string, string[]]>([
    [`list ${ORG}/workspaces`, ['b', 'held']],
    [`read ${ORG}/workspaces/@web`, ['b', 'held']],
    [`read ${ORG}/workspaces/web`, ['b', 'held']],
    [`list ${ORG}/workspaces/@web/relationships/tags`, ['b', 'held']],
    [`update ${ORG}/workspaces/@web`, ['a', 'b', 'held']],
    [`read ${ORG}/workspaces/@web/relationships/tags`, ['a', 'b', 'held']],
    [`list ${ORG}/workspaces/@web/tag-bindings`, ['a', 'b', 'held']],
    [`read ${ORG}/projects/@platform`, ['a', 'b', 'held']],
    ['list organizations/other/workspaces', ['a', 'b', 'held']],
  ])('are told apart for who may %s: %j', async (right, tags) => {
    const values = { ...acme, 'filter[exclude][taggable][id]': ids.web };
    expect(await named(only(right), 'tags list', values)).toEqual(tags);
  });
});

it.each<[string, string[]]>([
  [`delete ${ORG}/tags`, ['b']],
  [`list ${ORG}/tags`, ['b', 'held']],
  ['delete organizations/other/tags', ['b', 'held']],
])('a tag of a key alone counts as used for who may %s: unused are %j', async (right, tags) => {
  expect(await named(only(right), 'tags list', { ...acme, 'filter[unused]': 'true' })).toEqual(tags);
});

describe('what stands beside a workspace', () => {
  const include =
    'organization,project,tag_bindings,effective_tag_bindings,current_run,locked_by,outputs,readme';
  it.each<[string, string[]]>([
    [`read ${ORG}`, ['organizations']],
    [`read ${ORG}/projects/@platform`, ['projects']],
    [`read ${ORG}/projects/@usual`, []],
    [`read ${ORG}/workspaces/@web`, ['effective-tag-bindings']],
    [`read ${ORG}/workspaces/web`, ['effective-tag-bindings']],
    [`list ${ORG}/workspaces/@web/tag-bindings`, ['effective-tag-bindings']],
    [`list ${ORG}/workspaces/@web/effective-tag-bindings`, ['effective-tag-bindings']],
    [`list ${ORG}/workspaces/@web/relationships/tags`, []],
    [`list ${ORG}/projects/@platform/tag-bindings`, []],
    [`update ${ORG}`, []],
  ])('is only that which the caller sees, who may %s: %j', async (right, types) => {
    for (const [words, values] of [
      ['workspaces show', { workspace_id: ids.web }],
      ['workspaces list', { ...acme, 'search[name]': 'web' }],
    ] as const) {
      const { included } = await shown(only(right), words, { ...values, include });
      expect(included?.map(({ type }) => type)).toEqual(types);
    }
  });

  it('is there once for all workspaces of a list, and not at all where there are none', async () => {
    const { included } = await shown(owner, 'workspaces list', { ...acme, include: 'organization,project' });
    expect(included?.map(({ type, id }) => `${type} ${id}`).sort()).toEqual(
      ['organizations acme', `projects ${ids.platform}`, `projects ${ids.usual}`].sort(),
    );
    for (const words of ['workspaces list', 'projects list']) {
      const none = words === 'projects list' ? { q: 'nobody' } : { 'search[name]': 'nobody' };
      expect(await shown(owner, words, { ...acme, ...none, include: 'organization' })).toMatchObject({
        data: [],
        included: [],
      });
    }
  });
});

describe('the default project beside its organization', () => {
  it.each<[string, string, string[] | undefined]>([
    [`read ${ORG}/projects/@usual`, 'default_project', ['projects']],
    [`read ${ORG}/projects/@usual`, '', []],
    [`read ${ORG}/projects/@platform`, 'default_project', []],
    [`list ${ORG}/projects`, 'default_project', []],
    [`read ${ORG}`, 'default_project', []],
  ])('is shown to who may %s, asked for as %j: %j', async (right, include, types) => {
    const { included } = await shown(only(right), 'orgs show', { ...acme, include });
    expect(included?.map(({ type }) => type)).toEqual(types);
  });

  it('is not there unless it is asked for', async () => {
    expect(await shown(owner, 'orgs show', acme)).not.toHaveProperty('included');
  });
});

describe('the permissions that a resource tells', () => {
  const told = async (caller: Caller, words: string, values: object): Promise<string[]> => {
    const { attributes } = (await shown(caller, words, values)).data as Resource;
    const all = attributes['permissions'] as Readonly<Record<string, boolean>>;
    return Object.keys(all).filter((name) => all[name]);
  };
  const WORKSPACE = ['workspaces show', { workspace_id: '@web' }] as const;
  const PROJECT = ['projects show', { project_id: '@platform' }] as const;
  const ORGANIZATION = ['orgs show', acme] as const;
  it.each<[string, readonly [string, object], string[]]>([
    [`read ${ORG}/workspaces/web`, WORKSPACE, ['can-read-settings']],
    [`update ${ORG}/workspaces/web`, WORKSPACE, ['can-update']],
    [`delete ${ORG}/workspaces/web`, WORKSPACE, ['can-destroy', 'can-force-delete']],
    [`update ${ORG}/workspaces/@web/relationships/tags`, WORKSPACE, ['can-manage-tags']],
    [`create ${ORG}/workspaces`, WORKSPACE, []],
    [`read ${ORG}/projects/@platform`, PROJECT, ['can-read']],
    [`update ${ORG}/projects/@platform`, PROJECT, ['can-update']],
    [`delete ${ORG}/projects/@platform`, PROJECT, ['can-destroy']],
    [
      `update ${ORG}/projects/@platform/relationships/workspaces`,
      PROJECT,
      ['can-create-workspace', 'can-move-workspace'],
    ],
    [`create ${ORG}/projects`, PROJECT, []],
    [`read ${ORG}`, ORGANIZATION, []],
    [`update ${ORG}`, ORGANIZATION, ['can-update']],
    [`delete ${ORG}`, ORGANIZATION, ['can-destroy']],
    [`create ${ORG}/workspaces`, ORGANIZATION, ['can-create-workspace']],
    [`delete ${ORG}/tags`, ORGANIZATION, ['can-manage-tags']],
    [`create ${ORG}/tags`, ORGANIZATION, []],
    [`create ${ORG}/projects`, ORGANIZATION, ['can-create-project']],
  ])('are those of who may %s, by %j: %j', async (right, [words, values], permissions) => {
    const asked = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, meant(value)]));
    expect(await told(only(right), words, asked)).toEqual(permissions);
    const { attributes } = (await shown(only(right), words, asked)).data as Resource;
    if (words === 'workspaces show') {
      const isDestroyable = permissions.includes('can-destroy');
      expect(attributes['actions']).toEqual({ 'is-destroyable': isDestroyable });
    }
  });
});

describe('a workspace', () => {
  const into = (id: string | null, attributes: object) => ({
    data: {
      type: 'workspaces',
      attributes,
      relationships: { project: { data: id === null ? null : { type: 'projects', id } } },
    },
  });
  const create = (caller: Caller, id: string | null) =>
    api.send('workspaces create', acme, into(id, { name: 'made' }), caller);
  const move = (caller: Caller, id: string | null) =>
    api.send('workspaces update', { workspace_id: ids.web }, into(id, {}), caller);
  const projectOf = async () =>
    (
      (await shown(owner, 'workspaces show', { workspace_id: ids.web })).data as {
        relationships: { project: { data: { id: string } } };
      }
    ).relationships.project.data.id;
  const INTO = `update ${ORG}/projects/@platform/relationships/workspaces`;

  it.each<[string, keyof typeof ids | 'none' | null, boolean]>([
    ['nothing', null, true],
    ['nothing', 'usual', true],
    ['nothing', 'platform', false],
    [INTO, 'platform', true],
    [`update ${ORG}/projects/@platform`, 'platform', false],
    [`create ${ORG}/projects/@platform/relationships/workspaces`, 'platform', false],
    [`update ${ORG}/projects/@usual/relationships/workspaces`, 'platform', false],
    [INTO, 'none', false],
  ])('comes by who may do %s into the project %s: %s', async (right, project, isAllowed) => {
    const id = project === null || project === 'none' ? project : ids[project];
    for (const change of [create, move]) {
      await api.send('projects move', { project_id: ids.usual, data: [ids.web] });
      const asked = change(only(right), id);
      if (isAllowed) await asked;
      else {
        expect(await refused(asked)).toMatchObject({
          kind: 'not-found',
          message: `project "${id}" not found`,
        });
        expect(await projectOf()).toBe(ids.usual);
        expect(await named(owner, 'workspaces list', { ...acme, 'search[name]': 'made' })).toEqual([]);
      }
    }
    expect(await projectOf()).toBe(isAllowed && project === 'platform' ? ids.platform : ids.usual);
    if (isAllowed) await api.send('workspaces delete', { ...acme, workspace_name: 'made' });
    await api.send('projects move', { project_id: ids.platform, data: [ids.web] });
  });

  it.each<[string, boolean]>([
    [`update ${ORG}/workspaces/@web/relationships/tags`, true],
    [`update ${ORG}/workspaces/@web`, false],
    [`update ${ORG}/workspaces/web/relationships/tags`, false],
    [`create ${ORG}/workspaces/@web/relationships/tags`, false],
    ['update organizations/other/workspaces/@web/relationships/tags', false],
  ])('gets and loses a tag by who may %s: %s', async (right, isAllowed) => {
    for (const words of ['tags detach', 'tags attach']) {
      const asked = api.send(words, { tag_id: ids.a, data: [ids.web] }, undefined, only(right));
      if (isAllowed) await asked;
      else expect(await refused(asked)).toMatchObject({ message: `workspace "${ids.web}" not found` });
      const count = isAllowed && words === 'tags detach' ? 0 : 1;
      expect(await api.counts('acme')).toMatchObject({ a: count });
    }
  });
});

it.each<[string, boolean]>([
  ['create organizations', true],
  ['create organizations/acme', false],
  ['update organizations', false],
])('whoever may %s is told that they may create organizations: %s', async (right, isAllowed) => {
  const { data } = await shown(only(right), 'tags account', {});
  expect((data as Resource).attributes['permissions']).toEqual({ 'can-create-organizations': isAllowed });
});
