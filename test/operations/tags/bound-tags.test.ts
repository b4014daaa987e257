import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, owner } from '../../../src/operations/declaration/operation.ts';
import { readQuery } from '../../../src/operations/json-api/request.ts';
import { loadOperation } from '../../../src/operations/runner.ts';
import { refused } from '../../refusal.ts';
import { BASE_URL, TagsApi } from './tags-api.ts';

interface Bound {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly relationships?: { readonly target: object };
}
interface Many {
  readonly data: readonly Bound[];
  readonly links: Readonly<Record<string, string | null>>;
  readonly meta: { readonly pagination: Readonly<Record<string, unknown>> };
}

const acme = { organization_name: 'acme' };
const bind = (tags: Readonly<Record<string, string>>) => ({
  data: Object.entries(tags).map(([key, value]) => ({ type: 'tag-bindings', attributes: { key, value } })),
});

let api: TagsApi;
let platform = '';
let web = '';
let worker = '';

beforeAll(async () => {
  api = await TagsApi.open();
  [web = '', worker = ''] = await api.organization('acme', ['web', 'worker', 'bare']);
  const document = { data: { type: 'projects', attributes: { name: 'platform' } } };
  platform = (await api.ask<{ data: Bound }>('projects create', acme, document)).data.id;
  await api.send('projects bind', { project_id: platform }, bind({ Environment: 'Prod', owner: 'core' }));
  const members = [web, worker].map((id) => ({ type: 'workspaces', id }));
  await api.send('projects move', { project_id: platform }, { data: members });
  await api.send('workspaces bind', { workspace_id: worker }, bind({ Environment: 'Stage', flag: '' }));
  await api.organization('globex', ['web']);
});

/** As a server reads the query. */
async function list(query: Readonly<Record<string, string>> = {}, caller: Caller = owner): Promise<Many> {
  const raw = readQuery(await loadOperation('tags where'), query);
  return (await api.send('tags where', { ...raw, ...acme }, undefined, caller)).data as Many;
}
const told = ({ data }: Many): string[] => data.map(({ attributes: { key, value } }) => `${key}=${value}`);

describe('the tags of an organization', () => {
  it('are all that projects, then workspaces have of their own, with key, value and time', async () => {
    const { data, meta, links } = await list();
    expect(data).toMatchObject([
      { type: 'tag-bindings', attributes: { key: 'Environment', value: 'Prod' } },
      { type: 'tag-bindings', attributes: { key: 'owner', value: 'core' } },
      { type: 'tag-bindings', attributes: { key: 'Environment', value: 'Stage' } },
      { type: 'tag-bindings', attributes: { key: 'flag', value: '' } },
    ]);
    for (const binding of data) {
      expect(Object.keys(binding.attributes)).toEqual(['key', 'value', 'created-at']);
      expect(binding).not.toHaveProperty('relationships');
      expect(binding.id).toMatch(/^tb-[0-9a-f]{16}$/);
    }
    expect(meta.pagination).toMatchObject({ 'page-size': 20, 'total-pages': 1, 'total-count': 4 });
    expect(links['self']).toBe(
      `${BASE_URL}/api/v2/organizations/acme/tag-bindings?page%5Bnumber%5D=1&page%5Bsize%5D=20`,
    );
  });

  it('have the identifiers that the thing itself gives them', async () => {
    const own = await api.ask<Many>('projects bindings', { project_id: platform });
    const { data } = await list({ 'filter[taggable-type]': 'projects' });
    expect(data.map(({ id }) => id)).toEqual(own.data.map(({ id }) => id));
  });

  it('are those of another organization never', async () => {
    const data = await api.ask<Many>('tags where', { organization_name: 'globex' });
    expect(told(data)).toEqual([]);
    expect(await refused(api.send('tags where', { organization_name: 'nobody' }))).toMatchObject({
      kind: 'not-found',
    });
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['a kind', { 'filter[taggable-type]': 'workspaces' }, ['Environment=Stage', 'flag=']],
    ['a key', { 'filter[tagged][0][key]': 'Environment' }, ['Environment=Prod', 'Environment=Stage']],
    ['a value', { 'filter[tagged][0][value]': 'core' }, ['owner=core']],
    [
      'key and value under one index, which must both hold',
      { 'filter[tagged][0][key]': 'Environment', 'filter[tagged][0][value]': 'Prod' },
      ['Environment=Prod'],
    ],
    [
      'several indexes, of which one must hold',
      { 'filter[tagged][0][key]': 'flag', 'filter[tagged][1][value]': 'Prod' },
      ['Environment=Prod', 'flag='],
    ],
    ['a key in other letters, which is another one', { 'filter[tagged][0][key]': 'environment' }, []],
    [
      'an empty condition, which leaves nothing out',
      { 'filter[tagged][0][key]': '' },
      ['Environment=Prod', 'owner=core', 'Environment=Stage', 'flag='],
    ],
  ])('are found by %s', async (_what, query, expected) => {
    const found = await list(query);
    expect(told(found)).toEqual(expected);
    expect(found.meta.pagination['total-count']).toBe(expected.length);
  });

  it('come in pages, whose links repeat what was asked', async () => {
    const query = {
      'filter[tagged][0][key]': 'Environment',
      'fields[tag-binding]': 'key,counts',
      'page[size]': '1',
    };
    const first = await list(query);
    expect(told(first)).toEqual(['Environment=undefined']);
    const next = new URL(first.links['next'] ?? '');
    const second = await list(Object.fromEntries(next.searchParams));
    expect(second.data).toMatchObject([{ attributes: { key: 'Environment', counts: { workspaces: 1 } } }]);
    expect(second.data[0]?.attributes).not.toHaveProperty('value');
    expect(second.links['next']).toBeNull();
    expect(told(await list({ 'page[number]': '9' }))).toEqual([]);
  });

  it('have the fields that are named, and the usual ones where none is', async () => {
    const attributesOf = async (fields: string) =>
      Object.keys((await list({ 'fields[tag-binding]': fields })).data[0]?.attributes ?? {});
    for (const none of ['', ',']) expect(await attributesOf(none)).toEqual(['key', 'value', 'created-at']);
    for (const some of ['created_at,', ',created-at'])
      expect(await attributesOf(some)).toEqual(['created-at']);
  });

  it('say on demand what each is bound to, and for how many it holds', async () => {
    const { data } = await list({ 'fields[tag-binding]': 'counts,key,value,target' });
    expect(data[0]).toEqual({
      id: expect.any(String),
      type: 'tag-bindings',
      attributes: { key: 'Environment', value: 'Prod', counts: { projects: 1, workspaces: 1 } },
      relationships: {
        target: {
          data: { id: platform, type: 'projects' },
          links: { self: `/api/v2/projects/${platform}` },
          meta: { name: 'platform' },
        },
      },
    });
    expect(data.map(({ attributes }) => attributes['counts'])).toEqual([
      { projects: 1, workspaces: 1 },
      { projects: 1, workspaces: 2 },
      { projects: 0, workspaces: 1 },
      { projects: 0, workspaces: 1 },
    ]);
    expect(data[2]).toMatchObject({
      relationships: { target: { data: { id: worker, type: 'workspaces' }, meta: { name: 'worker' } } },
    });
  });

  it('hold for every workspace of the project where the key can not be overridden', async () => {
    const document = {
      data: { type: 'reserved-tag-keys', attributes: { key: 'Environment', 'disable-overrides': true } },
    };
    const reserved = await api.ask<{ data: Bound }>('tags reserved create', acme, document);
    const { data } = await list({ 'fields[tag-binding]': 'counts' });
    expect(data[0]).toMatchObject({ attributes: { counts: { projects: 1, workspaces: 2 } } });
    await api.send('tags reserved delete', { reserved_tag_key_id: reserved.data.id });
  });

  it('are those alone of what the caller may see', async () => {
    const only = (...paths: string[]): Caller => ({
      ...owner,
      may: (path, capability) => paths.includes(`${capability} ${path}`),
    });
    const path = 'organizations/acme';
    expect(told(await list({}, only()))).toEqual([]);
    expect(told(await list({}, only(`read ${path}/projects/platform`)))).toEqual([
      'Environment=Prod',
      'owner=core',
    ]);
    const listed = await list({}, only(`list ${path}/workspaces/${worker}/tag-bindings`));
    expect(told(listed)).toEqual(['Environment=Stage', 'flag=']);
    expect(listed.meta.pagination['total-count']).toBe(2);
  });

  it.each<[Record<string, string>, object]>([
    [{ 'filter[taggable-type]': 'registry-modules' }, { field: 'filter[taggable-type]' }],
    [
      { 'fields[tag-binding]': 'key,owner' },
      { field: 'fields[tag-binding]', message: 'unknown tag binding field owner' },
    ],
    [{ 'filter[tagged][0][name]': 'x' }, { field: 'filter[tagged][0][name]' }],
    [{ 'filter[taggable]': 'x' }, { field: 'filter[taggable]' }],
  ])('are not listed for a query that is not understood: %j', async (query, refusal) => {
    expect(await refused(Promise.resolve().then(() => list(query)))).toMatchObject({
      kind: 'invalid',
      ...refusal,
    });
  });
});
