import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../refusal.ts';
import { named, type TagData, TagsApi, tag } from './tags-api.ts';

interface Workspace {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>> & {
    readonly name: string;
    readonly 'tag-names': string[];
  };
}
interface One {
  readonly data: Workspace;
}
interface Many {
  readonly data: readonly Workspace[];
  readonly meta: { readonly pagination: Readonly<Record<string, number | null>> };
}

let api: TagsApi;
const acme = { organization_name: 'acme' };

beforeEach(async () => {
  api = await TagsApi.open();
  await api.organization('acme');
});

const create = (attributes: object, tags?: readonly object[]) =>
  api.send('workspaces create', acme, {
    data: {
      type: 'workspaces',
      attributes,
      relationships: tags === undefined ? undefined : { tags: { data: tags } },
    },
  });
const names = ({ data }: Many): string[] => data.map(({ attributes }) => attributes.name);
const list = (query: object = {}): Promise<Many> => api.ask<Many>('workspaces list', { ...acme, ...query });

describe('creating a workspace', () => {
  it('answers the whole resource, with the names of its tags in it already', async () => {
    const [id = ''] = await api.tags('acme', 'networking');
    const outcome = await create({ name: 'billing-prod' }, [named('Env:Prod'), tag(id)]);
    expect(outcome.created).toBe(true);
    expect(outcome.data).toMatchObject({
      data: {
        id: expect.stringMatching(/^ws-[1-9A-HJ-NP-Za-km-z]{16}$/),
        type: 'workspaces',
        attributes: {
          name: 'billing-prod',
          'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          'updated-at': expect.stringMatching(/Z$/),
          description: null,
          locked: false,
          'resource-count': 0,
          'tag-names': ['env:prod', 'networking'],
          permissions: {
            'can-update': true,
            'can-destroy': true,
            'can-force-delete': true,
            'can-read-settings': true,
            'can-manage-tags': true,
          },
        },
        relationships: {
          organization: { data: { id: 'acme', type: 'organizations' } },
          project: { data: { id: expect.stringMatching(/^prj-/), type: 'projects' } },
        },
        links: { self: '/api/v2/organizations/acme/workspaces/billing-prod' },
      },
    });
  });

  it('is answered as it is shown, by either path, and listed', async () => {
    const { data } = (await create({ name: 'w', description: 'why' }, [named('a')])).data as One;
    const expected = { data };
    expect(await api.ask('workspaces show', { workspace_id: data.id })).toEqual(expected);
    expect(await api.ask('workspaces show', { ...acme, workspace_name: 'w' })).toEqual(expected);
    expect((await list()).data).toEqual([data]);
  });

  it('ignores attributes and relationships that it does not know', async () => {
    const body = {
      data: {
        type: 'workspaces',
        attributes: { name: 'w', 'auto-apply': true, 'vcs-repo': null },
        relationships: { 'tag-bindings': { data: [] } },
      },
    };
    expect((await api.send('workspaces create', acme, body)).created).toBe(true);
  });

  it('refuses a name that is taken', async () => {
    await create({ name: 'w' });
    expect(await refused(create({ name: 'w' }, [named('new')]))).toEqual({
      kind: 'exists',
      message: 'Name has already been taken',
      field: '/data/attributes/name',
    });
    expect(await api.counts('acme')).toEqual({});
  });

  it('makes nothing, tags included, when one of the tags is refused', async () => {
    expect(await refused(create({ name: 'w' }, [named('fine'), named('not fine')]))).toEqual({
      kind: 'invalid',
      message: 'Tags must only contain letters, numbers, colons, hyphens or underscores',
      field: '/data/relationships/tags/data/1/attributes/name',
    });
    expect(await refused(create({ name: 'w' }, [named('fine'), tag('tag-1')]))).toMatchObject({
      kind: 'not-found',
      message: 'tag "tag-1" not found',
    });
    expect(await api.counts('acme')).toEqual({});
    expect(names(await list())).toEqual([]);
  });

  it.each([
    [{ data: { type: 'workspace', attributes: { name: 'a' } } }, 'type must be "workspaces"', '/data/type'],
    [{ data: [] }, 'must be a resource object', '/data'],
    [{ data: { type: 'workspaces', attributes: 'a' } }, 'must be an object', '/data/attributes'],
    [
      { data: { type: 'workspaces', attributes: { name: 7 } } },
      'name must be a string',
      '/data/attributes/name',
    ],
    [
      { data: { type: 'workspaces', attributes: { name: null } } },
      "Name can't be blank",
      '/data/attributes/name',
    ],
    [
      { data: { type: 'workspaces', attributes: { name: 'a' }, relationships: { tags: [] } } },
      'must be an object',
      '/data/relationships/tags',
    ],
  ])('refuses the document %j', async (body, message, field) => {
    expect(await refused(api.send('workspaces create', acme, body))).toEqual({
      kind: 'invalid',
      message,
      field,
    });
  });
});

describe('updating a workspace', () => {
  it('changes what is given and keeps the rest, tags and identifier included', async () => {
    const { data } = (await create({ name: 'w', description: 'why' }, [named('a')])).data as One;
    const update = async (which: object, attributes: object) =>
      (await api.ask<One>('workspaces update', { ...which }, { data: { type: 'workspaces', attributes } }))
        .data;
    expect((await update({ workspace_id: data.id }, { name: 'v' })).attributes).toMatchObject({
      name: 'v',
      description: 'why',
      'tag-names': ['a'],
    });
    const cleared = await update({ ...acme, workspace_name: 'v' }, { description: null });
    expect(cleared).toMatchObject({ id: data.id, attributes: { name: 'v', description: null } });
    expect(await refused(api.ask('workspaces show', { ...acme, workspace_name: 'w' }))).toMatchObject({
      kind: 'not-found',
    });
  });

  it('refuses the name of another workspace', async () => {
    await create({ name: 'v' });
    const { data } = (await create({ name: 'w' })).data as One;
    const body = { data: { type: 'workspaces', attributes: { name: 'v' } } };
    expect(await refused(api.send('workspaces update', { workspace_id: data.id }, body))).toEqual({
      kind: 'exists',
      message: 'Name has already been taken',
      field: '/data/attributes/name',
    });
  });
});

describe('deleting a workspace', () => {
  it('corrects the counts of its tags, which stay in the pool', async () => {
    const first = await api.workspace('acme', 'first', ['a', 'b']);
    await api.workspace('acme', 'second', ['b']);
    expect(await api.send('workspaces delete', { workspace_id: first })).toEqual({});
    expect(await api.counts('acme')).toEqual({ a: 0, b: 1 });
    expect(await refused(api.ask('workspaces show', { workspace_id: first }))).toMatchObject({
      kind: 'not-found',
      message: `workspace "${first}" not found`,
    });
    await api.send('workspaces delete', { ...acme, workspace_name: 'second' });
    expect(await api.counts('acme')).toEqual({ a: 0, b: 0 });
  });

  it('does not count down a tag that was deleted in the meantime', async () => {
    const id = await api.workspace('acme', 'w', ['a', 'b']);
    const { data } = await api.ask<{ data: TagData[] }>('tags list', { ...acme, q: 'a' });
    await api.send('tags delete', acme, { data: data.map((each) => tag(each.id)) });
    await api.tags('acme', 'a');
    await api.send('workspaces delete', { workspace_id: id });
    expect(await api.counts('acme')).toEqual({ a: 0, b: 0 });
  });
});

describe('tagging a workspace', () => {
  it('takes identifiers and names, makes the names that are new, and lets the identifier win', async () => {
    const id = await api.workspace('acme', 'w');
    const [known = ''] = await api.tags('acme', 'known');
    const both = { type: 'tags', id: known, attributes: { name: 'other' } };
    expect(await api.send('workspaces tag', { workspace_id: id }, { data: [named('New'), both] })).toEqual(
      {},
    );
    expect(await api.counts('acme')).toEqual({ known: 1, new: 1 });
  });

  it('lists the fourth of four tags as the fourth', async () => {
    const id = await api.workspace('acme', 'w');
    await api.send('workspaces tag', { workspace_id: id }, { data: ['tag1', 'tag2', 'tag3'].map(named) });
    await api.send('workspaces tag', { workspace_id: id }, { data: [named('tag4')] });
    const { data } = await api.ask<{ data: TagData[] }>('tags of', { workspace_id: id });
    expect(data.map(({ attributes }) => attributes.name)).toEqual(['tag1', 'tag2', 'tag3', 'tag4']);
    const { attributes } = (await api.ask<One>('workspaces show', { workspace_id: id })).data;
    expect(attributes['tag-names']).toEqual(['tag1', 'tag2', 'tag3', 'tag4']);
  });

  it('makes and puts on none when one is refused', async () => {
    const id = await api.workspace('acme', 'w');
    const tagging = (data: unknown) => refused(api.send('workspaces tag', { workspace_id: id }, { data }));
    expect(await tagging([named('a'), named('b'), named('c!')])).toEqual({
      kind: 'invalid',
      message: 'Tags must only contain letters, numbers, colons, hyphens or underscores',
      field: '/data/2/attributes/name',
    });
    expect(await tagging([named('a'), tag('tag-1111111111111111')])).toMatchObject({ kind: 'not-found' });
    expect(await tagging([{ type: 'tags' }])).toEqual({
      kind: 'invalid',
      message: 'a tag needs an id or a name',
      field: '/data/0',
    });
    expect(await api.counts('acme')).toEqual({});
  });

  it('answers "not found" for an unknown workspace, and makes no tag', async () => {
    const call = api.send('workspaces tag', { workspace_id: 'ws-1111111111111111' }, { data: [named('a')] });
    expect(await refused(call)).toMatchObject({ kind: 'not-found' });
  });

  it('makes one tag of a new name that ten workspaces get at once', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => api.workspace('acme', `w${i}`)));
    await Promise.all(
      ids.map((id) => api.send('workspaces tag', { workspace_id: id }, { data: [named('new')] })),
    );
    expect(await api.counts('acme')).toEqual({ new: 10 });
  });
});

describe('untagging a workspace', () => {
  it('takes off by name and by identifier, and passes over a name that nobody has', async () => {
    const id = await api.workspace('acme', 'w', ['a', 'b', 'c']);
    const { data } = await api.ask<{ data: TagData[] }>('tags list', { ...acme, q: 'b' });
    const body = { data: [named('A'), tag(data[0]?.id ?? ''), named('nobody has this')] };
    expect(await api.send('workspaces untag', { workspace_id: id }, body)).toEqual({});
    expect(await api.counts('acme')).toEqual({ a: 0, b: 0, c: 1 });
  });

  it('is done already for a tag that is not on it', async () => {
    const id = await api.workspace('acme', 'w');
    await api.tags('acme', 'a');
    expect(await api.send('workspaces untag', { workspace_id: id }, { data: [named('a')] })).toEqual({});
    expect(await api.counts('acme')).toEqual({ a: 0 });
  });

  it('takes off none when an identifier is unknown', async () => {
    const id = await api.workspace('acme', 'w', ['a']);
    const body = { data: [named('a'), tag('tag-1111111111111111')] };
    expect(await refused(api.send('workspaces untag', { workspace_id: id }, body))).toMatchObject({
      kind: 'not-found',
    });
    expect(await api.counts('acme')).toEqual({ a: 1 });
  });
});

describe('the tags of a workspace', () => {
  it('come as full resources in pages, narrowed by a part of the name', async () => {
    const id = await api.workspace('acme', 'w', ['a1', 'a2', 'b1']);
    const document = await api.ask<{ data: TagData[]; links: object; meta: object }>('tags of', {
      workspace_id: id,
      name: 'A',
      'page[size]': '1',
      'page[number]': '2',
    });
    expect(document).toMatchObject({
      data: [{ type: 'tags', attributes: { name: 'a2', 'instance-count': 1 } }],
      links: {
        self: `https://tags.example/api/v2/workspaces/${id}/relationships/tags?name=A&page%5Bnumber%5D=2&page%5Bsize%5D=1`,
      },
      meta: { pagination: { 'total-count': 2, 'next-page': null } },
    });
  });
});

describe('the list of workspaces', () => {
  beforeEach(async () => {
    await api.workspace('acme', 'Billing', ['foo']);
    await api.workspace('acme', 'web-prod', ['bar', 'foo']);
    await api.workspace('acme', 'web-test', ['bar']);
  });

  it.each<[object, string[]]>([
    [{}, ['Billing', 'web-prod', 'web-test']],
    [{ sort: '-name' }, ['web-test', 'web-prod', 'Billing']],
    [{ 'search[name]': 'WEB' }, ['web-prod', 'web-test']],
    [{ 'search[tags]': 'foo' }, ['Billing', 'web-prod']],
    [{ 'search[tags]': 'FOO,bar' }, ['web-prod']],
    [{ 'search[tags]': 'foo,unknown' }, []],
    [{ 'search[tags]': ',' }, ['Billing', 'web-prod', 'web-test']],
    [{ 'search[exclude-tags]': 'foo' }, ['web-test']],
    [{ 'search[exclude-tags]': 'unknown' }, ['Billing', 'web-prod', 'web-test']],
    [{ 'search[tags]': 'bar', 'search[exclude-tags]': 'foo', 'search[name]': 'e' }, ['web-test']],
    [{ 'search[wildcard-name]': 'web-*' }, ['web-prod', 'web-test']],
    [{ 'search[wildcard-name]': '*-test' }, ['web-test']],
    [{ 'search[wildcard-name]': '*b*' }, ['Billing', 'web-prod', 'web-test']],
    [{ 'search[wildcard-name]': 'web' }, []],
    [{ 'search[wildcard-name]': '*' }, ['Billing', 'web-prod', 'web-test']],
    [{ 'page[size]': '2', 'page[number]': '2' }, ['web-test']],
    [{ 'page[size]': '2', 'page[number]': '2', sort: '-name' }, ['Billing']],
    [{ 'page[size]': '2', 'page[number]': '9', sort: '-name' }, []],
  ])('lists for the query %j the workspaces %j', async (query, expected) => {
    expect(names(await list(query))).toEqual(expected);
  });

  it('takes twenty patterns of tags, and any number of names', async () => {
    const search = (tags: string[]) => list({ 'search[tags]': tags.join(',') });
    expect(names(await search([...Array<string>(20).fill('f*'), ...Array<string>(20).fill('foo')]))).toEqual([
      'Billing',
      'web-prod',
    ]);
    await expect(search(Array<string>(21).fill('f*'))).rejects.toMatchObject({
      kind: 'invalid',
      message: 'search[tags] must have at most 20 names with *, not 21',
      field: 'search[tags]',
    });
  });

  it('refuses an order that it does not keep', async () => {
    await expect(list({ sort: 'current-run.created-at' })).rejects.toMatchObject({
      kind: 'invalid',
      field: 'sort',
    });
  });

  it('counts all pages together', async () => {
    expect((await list({ 'search[tags]': 'foo', 'page[size]': '1' })).meta.pagination).toMatchObject({
      'total-count': 2,
      'total-pages': 2,
      'next-page': 2,
    });
  });
});

describe('the settings of a workspace', () => {
  const change = async (attributes: object) => {
    const id = await api.workspace('acme', 'changing');
    return api.ask<One>(
      'workspaces update',
      { workspace_id: id },
      { data: { type: 'workspaces', attributes } },
    );
  };

  it.each<[string, object, string]>([
    [
      'patterns and prefixes at once',
      { 'trigger-patterns': ['a/**'], 'trigger-prefixes': ['a'] },
      'trigger-patterns',
    ],
    ['a day in place of a time', { 'auto-destroy-at': '2026-01-31' }, 'auto-destroy-at'],
    ['a day that there is not', { 'auto-destroy-at': '2026-13-31T12:00:00Z' }, 'auto-destroy-at'],
    ['a time without a zone', { 'auto-destroy-at': '2026-01-31T12:00:00' }, 'auto-destroy-at'],
    ['no duration', { 'auto-destroy-activity-duration': '0d' }, 'auto-destroy-activity-duration'],
    [
      'a duration of more digits',
      { 'auto-destroy-activity-duration': '10000h' },
      'auto-destroy-activity-duration',
    ],
    ['a version that is none', { 'terraform-version': '1.9.x' }, 'terraform-version'],
    [
      'a constraint that is too long',
      { 'terraform-version': `${'>= 1.9,'.repeat(13)}>= 1.9.100` },
      'terraform-version',
    ],
  ])('are not %s', async (_, attributes, field) => {
    expect(await refused(change(attributes))).toMatchObject({
      kind: 'invalid',
      field: `/data/attributes/${field}`,
    });
  });

  it.each<[string, object]>([
    ['a time with a zone of its own', { 'auto-destroy-at': '2026-01-31T12:00:00+01:00' }],
    ['the longest duration', { 'auto-destroy-activity-duration': '9999d' }],
    ['the longest constraint', { 'terraform-version': `${'>= 1.9,'.repeat(13)}>= 1.9.10` }],
    ['patterns beside no prefixes', { 'trigger-patterns': ['a/**'], 'trigger-prefixes': [] }],
  ])('may be %s', async (_, attributes) => {
    await change(attributes);
  });
});
