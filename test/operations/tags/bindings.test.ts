import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../refusal.ts';
import { named, TagsApi } from './tags-api.ts';

interface Binding {
  readonly id: string;
  readonly type: string;
  readonly attributes: { readonly key: string; readonly value: string };
  readonly links?: { readonly 'inherited-from': string };
}
interface One {
  readonly data: {
    readonly id: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly relationships: Readonly<Record<string, { readonly data?: { readonly id: string } }>>;
  };
}
interface Many {
  readonly data: readonly { readonly id: string; readonly attributes: { readonly name: string } }[];
}

const acme = { organization_name: 'acme' };
let api: TagsApi;
let billing = '';

beforeEach(async () => {
  api = await TagsApi.open();
  [billing = ''] = await api.organization('acme', ['billing']);
});

const bound = (pairs: Readonly<Record<string, string>>) =>
  Object.entries(pairs).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } }));
const printed = ({ data }: { readonly data: readonly Binding[] }): string[] =>
  data.map(({ attributes: { key, value } }) => `${key}=${value}`);

const bind = (workspace_id: string, pairs: Readonly<Record<string, string>>) =>
  api.send('workspaces bind', { workspace_id }, { data: bound(pairs) });
const own = async (workspace_id: string) => printed(await api.ask('workspaces bindings', { workspace_id }));
const effective = (workspace_id: string) =>
  api.ask<{ readonly data: readonly Binding[] }>('workspaces effective', { workspace_id });

async function newProject(name: string, pairs: Readonly<Record<string, string>> = {}): Promise<string> {
  const { data } = await api.ask<One>('projects create', acme, {
    data: {
      type: 'projects',
      attributes: { name },
      relationships: { 'tag-bindings': { data: bound(pairs) } },
    },
  });
  return data.id;
}

async function newWorkspace(name: string, project: string, pairs: Readonly<Record<string, string>> = {}) {
  const { data } = await api.ask<One>('workspaces create', acme, {
    data: {
      type: 'workspaces',
      attributes: { name },
      relationships: {
        project: { data: { type: 'projects', id: project } },
        'tag-bindings': { data: bound(pairs) },
      },
    },
  });
  return data.id;
}

const found = async (...conditions: object[]): Promise<string[]> => {
  const { data } = await api.ask<Many>('workspaces list', { ...acme, 'filter[tagged]': conditions });
  return data.map(({ attributes }) => attributes.name);
};

describe('tags of the form key=value on a workspace', () => {
  it('are added, keep the order in which they came, and get other values by the same call', async () => {
    await bind(billing, { foo: 'bar', baz: 'qux' });
    expect(await own(billing)).toEqual(['foo=bar', 'baz=qux']);
    await bind(billing, { foo: 'other', empty: '' });
    expect(await own(billing)).toEqual(['foo=other', 'baz=qux', 'empty=']);
  });

  it('are kept at creation and replaced by an update, where none at all takes off every one', async () => {
    const id = await newWorkspace('web', await newProject('platform'), { env: 'prod' });
    expect(await own(id)).toEqual(['env=prod']);
    const replace = (pairs: Readonly<Record<string, string>>) =>
      api.send(
        'workspaces update',
        { workspace_id: id },
        { data: { type: 'workspaces', relationships: { 'tag-bindings': { data: bound(pairs) } } } },
      );
    await replace({ team: 'core' });
    expect(await own(id)).toEqual(['team=core']);
    await api.send(
      'workspaces update',
      { workspace_id: id },
      { data: { type: 'workspaces', attributes: { description: 'x' } } },
    );
    expect(await own(id)).toEqual(['team=core']);
    await replace({});
    expect(await own(id)).toEqual([]);
  });

  it('are taken off by key, and a key that is not there is passed over', async () => {
    await bind(billing, { a: '1', b: '2' });
    await api.send('workspaces unbind', { workspace_id: billing }, { data: bound({ a: '', nobody: '' }) });
    expect(await own(billing)).toEqual(['b=2']);
  });

  it('leave the pool and the tags from it alone, and those leave them alone', async () => {
    await api.send('workspaces tag', { workspace_id: billing }, { data: [named('env')] });
    await bind(billing, { env: 'prod', only: '' });
    expect(await api.counts('acme')).toEqual({ env: 1 });
    expect(
      (await api.ask<One>('workspaces show', { workspace_id: billing })).data.attributes['tag-names'],
    ).toEqual(['env']);
    await api.send('workspaces rebind', { workspace_id: billing }, { data: [] });
    expect(await api.counts('acme')).toEqual({ env: 1 });
  });

  it('keep their identifier for as long as the key is bound', async () => {
    await bind(billing, { env: 'prod' });
    const [before] = (await api.ask<{ data: Binding[] }>('workspaces bindings', { workspace_id: billing }))
      .data;
    await bind(billing, { env: 'dev' });
    const [after] = (await api.ask<{ data: Binding[] }>('workspaces bindings', { workspace_id: billing }))
      .data;
    expect(after?.id).toBe(before?.id);
    expect(before?.id).toMatch(/^tb-[0-9a-f]{16}$/);
  });

  it.each<[string, object[], string, string]>([
    [
      'no key',
      [{ type: 'tag-bindings', attributes: { value: 'x' } }],
      'missing key',
      '/data/0/attributes/key',
    ],
    ['an empty key', bound({ '': 'x' }), "Key can't be blank", '/data/0/attributes/key'],
    ['a key with a space', bound({ 'a b': 'x' }), 'Key is invalid', '/data/0/attributes/key'],
    ['a reserved prefix', bound({ 'hcp:x': 'x' }), 'Key is invalid', '/data/0/attributes/key'],
    ['a value with a slash', bound({ a: 'x/y' }), 'Value is invalid', '/data/0/attributes/value'],
    [
      'a long key',
      bound({ ['k'.repeat(129)]: '' }),
      'Key is too long (maximum is 128 characters)',
      '/data/0/attributes/key',
    ],
    [
      'a long value',
      bound({ a: 'v'.repeat(257) }),
      'Value is too long (maximum is 256 characters)',
      '/data/0/attributes/value',
    ],
    [
      'eleven keys',
      bound(Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, '']))),
      'Tag bindings cannot exceed 10 bindings per resource',
      '/data',
    ],
    [
      'another type',
      [{ type: 'tags', attributes: { key: 'a' } }],
      'type must be "tag-bindings"',
      '/data/0/type',
    ],
  ])('are refused for %s, and nothing is changed', async (_, data, message, field) => {
    await bind(billing, { before: '1' });
    const change = api.send('workspaces bind', { workspace_id: billing }, { data });
    expect(await refused(change)).toMatchObject({ kind: 'invalid', message, field });
    expect(await own(billing)).toEqual(['before=1']);
  });

  it('refuse a key with two values in one call', async () => {
    const data = [...bound({ a: '1' }), ...bound({ a: '2' })];
    expect(await refused(api.send('workspaces bind', { workspace_id: billing }, { data }))).toMatchObject({
      message: 'Key has already been taken',
    });
  });

  it('take a key twice with the same value in one call', async () => {
    const data = [...bound({ a: '1' }), ...bound({ a: '1' })];
    await api.send('workspaces bind', { workspace_id: billing }, { data });
    expect(await own(billing)).toContain('a=1');
  });
});

describe('what a workspace inherits from its project', () => {
  it('holds for it until it says otherwise, and says where it comes from', async () => {
    const project = await newProject('platform', { env: 'prod', owner: 'core' });
    const id = await newWorkspace('web', project, { env: 'dev' });
    const { data } = await effective(id);
    expect(printed({ data })).toEqual(['env=dev', 'owner=core']);
    expect(data.map(({ links }) => links?.['inherited-from'])).toEqual([
      undefined,
      `/api/v2/projects/${project}`,
    ]);
    expect(await own(id)).toEqual(['env=dev']);
  });

  it('follows the workspace into another project', async () => {
    const before = await newProject('before', { zone: 'a' });
    const after = await newProject('after', { zone: 'b' });
    const id = await newWorkspace('web', before);
    await api.send('projects move', { project_id: after }, { data: [{ type: 'workspaces', id }] });
    expect(printed(await effective(id))).toEqual(['zone=b']);
    expect(await found({ key: 'zone', value: 'a' })).toEqual([]);
  });

  it('can not be overridden where the organization says so, and old values give way', async () => {
    const project = await newProject('platform', { env: 'prod' });
    const id = await newWorkspace('web', project, { env: 'dev' });
    await api.send('tags reserved create', acme, {
      data: { type: 'reserved-tag-keys', attributes: { key: 'env', 'disable-overrides': true } },
    });
    expect(printed(await effective(id))).toEqual(['env=prod']);
    expect(await found({ key: 'env', value: 'dev' })).toEqual([]);
    expect(await found({ key: 'env', value: 'prod' })).toEqual(['web']);
    expect(await refused(bind(id, { env: 'test' }))).toMatchObject({
      kind: 'invalid',
      message: 'Key is reserved and cannot be overridden',
      field: '/data/0/attributes/key',
    });
    expect(await refused(newWorkspace('other', project, { env: 'test' }))).toMatchObject({ kind: 'invalid' });
    // What agrees with the project is no override.
    await bind(id, { env: 'prod', free: '1' });
  });
});

describe('the filter by tags of the form key=value', () => {
  beforeEach(async () => {
    const platform = await newProject('platform', { env: 'prod', zone: 'eu' });
    await newWorkspace('inherits', platform);
    await newWorkspace('overrides', platform, { env: 'dev' });
    await bind(billing, { env: 'dev', only: '' });
    await api.workspace('acme', 'flat', ['env', 'zone']);
  });

  it.each<[string, object[], string[]]>([
    [
      'a key with any value, or as a tag of the pool',
      [{ key: 'env' }],
      ['billing', 'flat', 'inherits', 'overrides'],
    ],
    ['an empty value, which is any', [{ key: 'only', value: '' }], ['billing']],
    ['a value', [{ key: 'env', value: 'dev' }], ['billing', 'overrides']],
    ['a value that is inherited', [{ key: 'env', value: 'prod' }], ['inherits']],
    ['two conditions', [{ key: 'env', value: 'dev' }, { key: 'zone' }], ['overrides']],
    ['another case of the value', [{ key: 'env', value: 'DEV' }], []],
    ['a value of whatever key', [{ value: 'eu' }], ['inherits', 'overrides']],
    ['a key that nobody has', [{ key: 'nobody' }], []],
  ])('finds for %s the right workspaces', async (_, conditions, expected) => {
    expect(await found(...conditions)).toEqual(expected);
  });

  it('agrees with the search for tags by name, as clients send both', async () => {
    const both = { ...acme, 'search[tags]': 'env', 'filter[tagged]': [{ key: 'env', value: 'dev' }] };
    const { data } = await api.ask<Many>('workspaces list', both);
    expect(data.map(({ attributes }) => attributes.name)).toEqual(['billing', 'overrides']);
    const without = await api.ask<Many>('workspaces list', { ...acme, 'search[exclude-tags]': 'env' });
    expect(without.data).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ 'search[tags]': 'zo*' }, ['flat', 'inherits', 'overrides']],
    [{ 'search[tags]': 'EN*,*o*y' }, ['billing']],
    [{ 'search[tags]': 'x*' }, []],
    [{ 'search[exclude-tags]': 'z*e' }, ['billing']],
    [{ 'search[exclude-tags]': '*' }, []],
    [{ 'search[any-tags]': 'only,zone' }, ['billing', 'flat', 'inherits', 'overrides']],
    [{ 'search[any-tags]': 'nobody,on*' }, ['billing']],
    [{ 'search[any-tags]': 'only,env', 'search[tags]': 'zone' }, ['flat', 'inherits', 'overrides']],
    [{ 'search[any-tags]': 'nobody' }, []],
    [{ 'search[any-tags]': ',' }, ['billing', 'flat', 'inherits', 'overrides']],
  ])('is searched by %j, whichever way it is carried', async (search, expected) => {
    const { data } = await api.ask<Many>('workspaces list', { ...acme, ...search });
    expect(data.map(({ attributes }) => attributes.name)).toEqual(expected);
  });

  it('sees what was changed a moment ago', async () => {
    expect(await found({ key: 'env', value: 'dev' })).toEqual(['billing', 'overrides']);
    await bind(billing, { env: 'prod' });
    expect(await found({ key: 'env', value: 'dev' })).toEqual(['overrides']);
    expect(await found({ key: 'env', value: 'prod' })).toEqual(['billing', 'inherits']);
  });
});
