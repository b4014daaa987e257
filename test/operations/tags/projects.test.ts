import { beforeEach, describe, expect, it } from 'vitest';
import { type Caller, owner } from '../../../src/operations/declaration/operation.ts';
import { refused } from '../../refusal.ts';
import { named, TagsApi } from './tags-api.ts';

interface Project {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>> & { readonly name: string };
}
interface One {
  readonly data: Project;
}
interface Many {
  readonly data: readonly Project[];
  readonly meta: { readonly pagination: Readonly<Record<string, unknown>> };
}

const acme = { organization_name: 'acme' };
let api: TagsApi;
let billing = '';

beforeEach(async () => {
  api = await TagsApi.open();
  [billing = ''] = await api.organization('acme', ['billing', 'web']);
});

const document = (attributes: object) => ({ data: { type: 'projects', attributes } });
const create = (name: string, attributes: object = {}) =>
  api.ask<One>('projects create', acme, document({ name, ...attributes }));
const list = (query: object = {}) => api.ask<Many>('projects list', { ...acme, ...query });
const names = ({ data }: Many): string[] => data.map(({ attributes }) => attributes.name);
const held = async (project_id: string) =>
  (await api.ask<One>('projects show', { project_id })).data.attributes['workspace-count'];
const move = (project_id: string, ...workspaces: string[]) =>
  api.send('projects move', { project_id }, { data: workspaces.map((id) => ({ type: 'workspaces', id })) });
const usual = async (): Promise<string> => {
  const { data } = await api.ask<{
    data: { relationships: { 'default-project': { data: { id: string } } } };
  }>('orgs show', acme);
  return data.relationships['default-project'].data.id;
};

describe('the default project', () => {
  it('is there before anything was written, holds every workspace, and keeps its identifier afterwards', async () => {
    const id = await usual();
    expect((await list()).data).toMatchObject([
      { id, attributes: { name: 'Default Project', 'workspace-count': 2 } },
    ]);
    await create('platform');
    expect(await usual()).toBe(id);
    expect(await held(id)).toBe(2);
    await api.send('projects update', { project_id: id }, document({ name: 'Everything else' }));
    expect(names(await list())).toEqual(['Everything else', 'platform']);
  });

  it('has tags for its workspaces like any other', async () => {
    const data = [{ type: 'tag-bindings', attributes: { key: 'owner', value: 'core' } }];
    await api.send('projects bind', { project_id: await usual() }, { data });
    expect(await api.ask('workspaces effective', { workspace_id: billing })).toMatchObject({
      data: [{ attributes: { key: 'owner', value: 'core' }, links: { 'inherited-from': expect.anything() } }],
    });
  });

  it('is never deleted', async () => {
    expect(await refused(api.send('projects delete', { project_id: await usual() }))).toMatchObject({
      kind: 'conflict',
      message: 'The default project cannot be deleted',
    });
  });
});

describe('projects', () => {
  it('are made, read by either path, changed and deleted', async () => {
    const { data } = await create('my project', { description: 'why' });
    expect(data).toMatchObject({
      id: expect.stringMatching(/^prj-[1-9A-HJ-NP-Za-km-z]{16}$/),
      attributes: {
        name: 'my project',
        description: 'why',
        'default-execution-mode': 'remote',
        'workspace-count': 0,
        permissions: { 'can-update': true },
      },
    });
    expect(await api.ask('projects show', { project_id: data.id })).toEqual({ data });
    expect(await api.ask('projects show', { ...acme, project_name: 'my project' })).toEqual({ data });
    const changed = await api.ask<One>(
      'projects update',
      { project_id: data.id },
      document({ name: 'yours' }),
    );
    expect(changed.data.attributes).toMatchObject({ name: 'yours', description: 'why' });
    await api.send('projects delete', { project_id: data.id });
    expect(await refused(api.send('projects show', { project_id: data.id }))).toMatchObject({
      kind: 'not-found',
    });
    expect(names(await list())).toEqual(['Default Project']);
  });

  it.each([
    ['', "Name can't be blank"],
    ['ab', 'Name is too short (minimum is 3 characters)'],
    ['a'.repeat(41), 'Name is too long (maximum is 40 characters)'],
    ['! / nope', 'Name may only contain letters, numbers, spaces, hyphens and underscores'],
    [' abc', 'Name may only contain letters, numbers, spaces, hyphens and underscores'],
    ['Default Project', 'Name has already been taken'],
  ])('are not called %j', async (name, message) => {
    const error = { message: expect.stringContaining(message), field: '/data/attributes/name' };
    expect(await refused(create(name))).toMatchObject(error);
    const { data } = await create('platform');
    const rename = api.send('projects update', { project_id: data.id }, document({ name }));
    expect(await refused(rename)).toMatchObject(error);
  });

  it('have names of up to 40 characters and descriptions of up to 256', async () => {
    const description = 'd'.repeat(256);
    const { data } = await create('a'.repeat(40), { description });
    expect(data.attributes).toMatchObject({ name: 'a'.repeat(40), description });
    expect(await refused(create('other', { description: `${description}d` }))).toMatchObject({
      kind: 'invalid',
      message: 'Description is too long (maximum is 256 characters)',
      field: '/data/attributes/description',
    });
  });

  it.each<[object, string[]]>([
    [{}, ['Default Project', 'alpha', 'beta two']],
    [{ sort: 'name' }, ['Default Project', 'alpha', 'beta two']],
    [{ sort: '-name' }, ['beta two', 'alpha', 'Default Project']],
    [{ q: 'DEFAULT' }, ['Default Project']],
    [{ 'filter[names]': 'ALPHA,beta two' }, ['alpha', 'beta two']],
    [{ 'filter[names]': 'nobody', q: 'alpha' }, []],
    [{ 'filter[names]': ',' }, ['Default Project', 'alpha', 'beta two']],
    [{ 'filter[tagged]': [{ key: 'env' }] }, ['beta two']],
    [{ 'filter[tagged]': [{ key: 'env', value: 'dev' }] }, []],
    [{ 'page[size]': '1', 'page[number]': '2' }, ['alpha']],
  ])('are listed for %j as %j', async (query, expected) => {
    await create('alpha');
    const { data } = await create('beta two');
    await api.send(
      'projects bind',
      { project_id: data.id },
      { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
    );
    expect(names(await list(query))).toEqual(expected);
  });

  it('take workspaces in, all or none, count them, and can not be deleted while they hold any', async () => {
    const one = (await create('one')).data.id;
    const two = (await create('two')).data.id;
    expect(await refused(move(one, billing, 'ws-1111111111111111'))).toMatchObject({ kind: 'not-found' });
    expect(await held(one)).toBe(0);
    await move(one, billing);
    expect([await held(one), await held(await usual())]).toEqual([1, 1]);
    expect(await refused(api.send('projects delete', { project_id: one }))).toMatchObject({
      kind: 'conflict',
      message: 'Project cannot be deleted while it contains workspaces',
    });
    const into = (data: object | null) =>
      api.send(
        'workspaces update',
        { workspace_id: billing },
        { data: { type: 'workspaces', relationships: { project: { data } } } },
      );
    await into({ type: 'projects', id: two });
    expect([await held(one), await held(two)]).toEqual([0, 1]);
    await into(null);
    expect([await held(two), await held(await usual())]).toEqual([0, 2]);
    await move(two, billing);
    await api.send('workspaces delete', { workspace_id: billing });
    expect([await held(two), await held(await usual())]).toEqual([0, 1]);
    await api.send('projects delete', { project_id: two });
  });

  it('give their workspaces where runs would take place, unless these have a mind of their own', async () => {
    const { data } = await create('local one', { 'default-execution-mode': 'local' });
    const mode = async () =>
      (await api.ask<One>('workspaces show', { workspace_id: billing })).data.attributes['execution-mode'];
    const change = (attributes: object) =>
      api.send('workspaces update', { workspace_id: billing }, { data: { type: 'workspaces', attributes } });
    expect(await mode()).toBe('remote');
    await move(data.id, billing);
    expect(await mode()).toBe('local');
    await change({ 'execution-mode': 'remote' });
    expect(await mode()).toBe('remote');
    await change({ 'setting-overwrites': { 'execution-mode': false } });
    expect(await mode()).toBe('local');
    await change({ 'execution-mode': 'remote' });
    expect(await mode()).toBe('remote');
    // As Terraform's provider gives it back.
    await change({ 'execution-mode': 'remote', 'setting-overwrites': { 'execution-mode': false } });
    expect(await mode()).toBe('local');
  });

  it('of another organization are not there', async () => {
    await api.organization('other', []);
    const { data } = await api.ask<One>(
      'projects create',
      { organization_name: 'other' },
      document({ name: 'theirs' }),
    );
    expect(await refused(move(data.id, billing))).toMatchObject({ kind: 'not-found' });
    const made = api.send('workspaces create', acme, {
      data: {
        type: 'workspaces',
        attributes: { name: 'lost' },
        relationships: { project: { data: { type: 'projects', id: data.id } } },
      },
    });
    expect(await refused(made)).toMatchObject({ kind: 'not-found' });
  });
});

describe('a project that is changed', () => {
  const rename = (project_id: string, name: string) =>
    api.ask<One>('projects update', { project_id }, document({ name }));

  it('keeps its name, or gets one that no other has', async () => {
    const { data } = await create('one');
    await create('two');
    expect((await rename(data.id, 'one')).data.attributes.name).toBe('one');
    for (const name of ['two', 'Default Project'])
      expect(await refused(rename(data.id, name))).toEqual({
        kind: 'exists',
        message: 'Name has already been taken',
        field: '/data/attributes/name',
      });
    expect(names(await list())).toEqual(['Default Project', 'one', 'two']);
  });

  it('takes no workspaces in once its organization is deleted', async () => {
    const [theirs = ''] = await api.organization('other', ['theirs']);
    const made = await api.ask<One>(
      'projects create',
      { organization_name: 'other' },
      document({ name: 'gone' }),
    );
    await api.send('orgs delete', { organization_name: 'other' });
    for (const workspace of [billing, theirs])
      expect(await refused(move(made.data.id, workspace))).toMatchObject({ kind: 'not-found' });
    expect(await refused(move('prj-1', billing))).toMatchObject({ kind: 'not-found' });
  });
});

describe('what a caller may not change or see', () => {
  const except = (path: string, capability: string): Caller => ({
    ...owner,
    may: (asked, wanted) => asked !== path || wanted !== capability,
  });

  it('is not moved into a project, and reads the same as what is not there', async () => {
    const { data } = await create('one');
    const body = { data: [{ type: 'workspaces', id: billing }] };
    const caller = except(`organizations/acme/workspaces/${billing}`, 'update');
    const moved = api.send('projects move', { project_id: data.id }, body, caller);
    expect(await refused(moved)).toMatchObject({ kind: 'not-found' });
    expect(await held(data.id)).toBe(0);
  });

  it('is not sent beside a project that the caller may see', async () => {
    const { data } = await create('one');
    await api.send(
      'projects bind',
      { project_id: data.id },
      { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] },
    );
    const include = 'organization,tag_bindings,effective_tag_bindings';
    const beside = async (caller?: Caller) => {
      const values = { project_id: data.id, include };
      const { data: document } = await api.send('projects show', values, undefined, caller);
      return (document as { readonly included?: readonly { readonly type: string }[] }).included?.map(
        ({ type }) => type,
      );
    };
    expect(await beside()).toEqual(['organizations', 'tag-bindings', 'effective-tag-bindings']);
    expect(await beside(except('organizations/acme', 'read'))).toEqual([
      'tag-bindings',
      'effective-tag-bindings',
    ]);
  });
});

describe('reserved keys', () => {
  const reserve = (key: string, fixed = false) =>
    api.ask<One>('tags reserved create', acme, {
      data: { type: 'reserved-tag-keys', attributes: { key, 'disable-overrides': fixed } },
    });
  const change = (reserved_tag_key_id: string, attributes: object) =>
    api.ask<One>(
      'tags reserved update',
      { reserved_tag_key_id },
      {
        data: { type: 'reserved-tag-keys', attributes },
      },
    );

  it('are made, listed in order, changed and deleted', async () => {
    const { data } = await reserve('team', true);
    await reserve('env');
    expect(data).toMatchObject({
      id: expect.stringMatching(/^rtk-[1-9A-HJ-NP-Za-km-z]{16}$/),
      attributes: { key: 'team', 'disable-overrides': true },
    });
    const keys = async () =>
      (await api.ask<Many>('tags reserved list', acme)).data.map(({ attributes }) => attributes['key']);
    expect(await keys()).toEqual(['env', 'team']);
    const changed = await change(data.id, { key: 'owner' });
    expect(changed.data.attributes).toMatchObject({ key: 'owner', 'disable-overrides': true });
    expect((await change(data.id, { key: 'owner' })).data.attributes).toMatchObject({ key: 'owner' });
    expect(await api.ask('tags reserved show', { ...acme, reserved_tag_key: 'owner' })).toMatchObject({
      data: { id: changed.data.id, attributes: { key: 'owner' } },
    });
    await api.send('tags reserved delete', { reserved_tag_key_id: data.id });
    expect(await keys()).toEqual(['env']);
  });

  it.each([
    ['team', 'Key has already been taken'],
    ['! / nope', 'Key is invalid'],
    ['hc:x', 'Key is invalid'],
    ['', "Key can't be blank"],
  ])('are not %j', async (key, message) => {
    await reserve('team');
    expect(await refused(reserve(key))).toMatchObject({ message, field: '/data/attributes/key' });
    const other = await reserve('other');
    expect(await refused(change(other.data.id, { key }))).toMatchObject({ message });
  });
});

describe('renaming a tag', () => {
  const rename = (tag_name: string, name: string, merge?: boolean) =>
    api.ask<One>(
      'tags rename',
      { ...acme, tag_name },
      {
        data: { type: 'tags', attributes: { name, merge } },
      },
    );
  const tagsOn = async (workspace_id: string) =>
    (await api.ask<One>('workspaces show', { workspace_id })).data.attributes['tag-names'];
  const tag = (workspace_id: string, ...tags: string[]) =>
    api.send('workspaces tag', { workspace_id }, { data: tags.map(named) });

  it('keeps its identifier and its workspaces', async () => {
    await tag(billing, 'prd', 'x');
    const before = await api.ask<One>('tags show', { ...acme, tag_name: 'prd' });
    const { data } = await rename('PRD', 'Prod');
    expect([data.id, data.attributes.name, data.attributes['instance-count']]).toEqual([
      before.data.id,
      'prod',
      1,
    ]);
    expect(await tagsOn(billing)).toEqual(['prod', 'x']);
    expect(await api.counts('acme')).toEqual({ prod: 1, x: 1 });
    expect((await rename('prod', 'prod')).data.id).toBe(before.data.id);
  });

  it('into one that is there is refused, and merges on request, each workspace counted once', async () => {
    const web = (await api.ask<One>('workspaces show', { ...acme, workspace_name: 'web' })).data.id;
    await tag(billing, 'prd', 'prod');
    await tag(web, 'prd', 'x');
    expect(await refused(rename('prd', 'prod'))).toMatchObject({
      kind: 'exists',
      message: 'Name has already been taken',
    });
    const kept = await api.ask<One>('tags show', { ...acme, tag_name: 'prod' });
    expect((await rename('prd', 'prod', true)).data.id).toBe(kept.data.id);
    expect(await api.counts('acme')).toEqual({ prod: 2, x: 1 });
    expect([await tagsOn(billing), await tagsOn(web)]).toEqual([['prod'], ['prod', 'x']]);
    await api.send('workspaces delete', { workspace_id: web });
    expect(await api.counts('acme')).toEqual({ prod: 1, x: 0 });
  });

  it('into one that is there takes the right to delete tags, since one of them goes', async () => {
    await tag(billing, 'prd', 'prod');
    const caller: Caller = {
      ...owner,
      may: (path, capability) => path !== 'organizations/acme/tags' || capability !== 'delete',
    };
    const body = (attributes: object) => ({ data: { type: 'tags', attributes } });
    const send = (attributes: object) =>
      api.send('tags rename', { ...acme, tag_name: 'prd' }, body(attributes), caller);
    expect(await refused(send({ name: 'prod', merge: true }))).toMatchObject({ kind: 'not-found' });
    expect(await tagsOn(billing)).toEqual(['prd', 'prod']);
    await send({ name: 'production' });
    expect(await tagsOn(billing)).toEqual(['prod', 'production']);
  });

  it('refuses a name against the rules, and what is not there', async () => {
    await tag(billing, 'prd');
    expect(await refused(rename('prd', 'not fine'))).toMatchObject({
      kind: 'invalid',
      field: '/data/attributes/name',
    });
    expect(await refused(rename('nobody', 'fine'))).toMatchObject({ kind: 'not-found' });
  });
});
