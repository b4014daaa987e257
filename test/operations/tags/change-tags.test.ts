import { beforeEach, describe, expect, it } from 'vitest';
import { refused } from '../../refusal.ts';
import { named, type TagData, TagsApi, tag, workspace } from './tags-api.ts';

let api: TagsApi;
let web = '';
let billing = '';

beforeEach(async () => {
  api = await TagsApi.open();
  [web = '', billing = ''] = await api.organization('acme', ['web', 'billing']);
});

const acme = { organization_name: 'acme' };
const tagsOf = async (workspace_id: string): Promise<string[]> => {
  const { data } = await api.ask<{ data: TagData[] }>('tags of', { workspace_id });
  return data.map(({ attributes }) => attributes.name);
};

describe('creating tags', () => {
  it('answers them as created, with their capitals lowered and no instances', async () => {
    const outcome = await api.send('tags create', acme, { data: [named('Env:Prod'), named('b')] });
    expect(outcome.created).toBe(true);
    expect(outcome.data).toMatchObject({
      data: [
        { type: 'tags', attributes: { name: 'env:prod', 'instance-count': 0 } },
        { type: 'tags', attributes: { name: 'b', 'instance-count': 0 } },
      ],
    });
  });

  it('takes one resource as well as several', async () => {
    await api.send('tags create', acme, { data: named('single') });
    expect(await api.counts('acme')).toEqual({ single: 0 });
  });

  it('makes one tag of a name given twice', async () => {
    await api.send('tags create', acme, { data: [named('Prod'), named('prod')] });
    expect(await api.counts('acme')).toEqual({ prod: 0 });
  });

  it('refuses a name that the pool has, in whatever case, and adds none of the others', async () => {
    await api.tags('acme', 'prod');
    expect(await refused(api.send('tags create', acme, { data: [named('new'), named('PROD')] }))).toEqual({
      kind: 'exists',
      message: 'Name has already been taken',
      field: '/data/1/attributes/name',
    });
    expect(await api.counts('acme')).toEqual({ prod: 0 });
  });

  it('lets two organizations have tags of one name', async () => {
    await api.organization('other');
    const [ours] = await api.tags('acme', 'prod');
    const [theirs] = await api.tags('other', 'prod');
    expect(ours).not.toBe(theirs);
  });

  it.each([
    ['', "Name can't be blank"],
    ['x'.repeat(256), 'Name is too long (maximum is 255 characters)'],
    ['no spaces', 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    ['-edge', 'Tags must begin and end with a letter or number'],
  ])('refuses the name %j, and adds none of the others', async (name, message) => {
    expect(await refused(api.send('tags create', acme, { data: [named('fine'), named(name)] }))).toEqual({
      kind: 'invalid',
      message,
      field: '/data/1/attributes/name',
    });
    expect(await api.counts('acme')).toEqual({});
  });

  it.each<[unknown, string, string]>([
    [undefined, 'data is missing', '/data'],
    [{ data: 'a' }, 'must be an array of resource identifiers', '/data'],
    [{ data: ['a'] }, 'must be a resource identifier', '/data/0'],
    [{ data: [{ attributes: { name: 'a' } }] }, 'type must be "tags"', '/data/0/type'],
    [{ data: [{ type: 'workspaces', attributes: { name: 'a' } }] }, 'type must be "tags"', '/data/0/type'],
    [{ data: [{ type: 'tags' }] }, 'missing name', '/data/0/attributes/name'],
    [
      { data: [{ type: 'tags', attributes: { name: 7 } }] },
      'name must be a string',
      '/data/0/attributes/name',
    ],
    [{ data: [null] }, 'must be a resource identifier', '/data/0'],
    [{ data: 7 }, 'must be an array of resource identifiers', '/data'],
  ])('refuses the document %j', async (body, message, field) => {
    expect(await refused(api.send('tags create', acme, body))).toEqual({ kind: 'invalid', message, field });
  });

  it('answers "not found" for an unknown organization', async () => {
    const call = api.send('tags create', { organization_name: 'nobody' }, { data: [named('a')] });
    expect(await refused(call)).toMatchObject({
      kind: 'not-found',
      message: 'organization "nobody" not found',
    });
  });
});

describe('deleting tags', () => {
  it('takes them out of the pool and off every workspace, and answers nothing', async () => {
    const [a = '', b = '', c = ''] = await api.tags('acme', 'a', 'b', 'c');
    for (const id of [a, b, c]) await api.send('tags attach', { tag_id: id }, { data: [workspace(web)] });
    expect(await api.send('tags delete', acme, { data: [tag(a), tag(c), tag(a)] })).toEqual({});
    expect(await api.counts('acme')).toEqual({ b: 1 });
    expect(await tagsOf(web)).toEqual(['b']);
  });

  it('does not bring a tag back to workspaces when its name returns', async () => {
    await api.send('workspaces tag', { workspace_id: web }, { data: [named('a')] });
    const { data } = await api.ask<{ data: TagData[] }>('tags list', acme);
    await api.send('tags delete', acme, { data: data.map(({ id }) => tag(id)) });
    const [again] = await api.tags('acme', 'a');
    expect(again).not.toBe(data[0]?.id);
    expect(await api.counts('acme')).toEqual({ a: 0 });
    expect(await tagsOf(web)).toEqual([]);
  });

  it.each(['tag-1111111111111111', 'tag-1', 'nonsense', 'a', 'ws-Hn4jLs8TdFg6WcXe'])(
    'answers "not found" when one of the tags is %j, and deletes none',
    async (unknown) => {
      const [a = ''] = await api.tags('acme', 'a');
      expect(await refused(api.send('tags delete', acme, { data: [tag(a), tag(unknown)] }))).toEqual({
        kind: 'not-found',
        message: `tag "${unknown}" not found`,
        field: undefined,
      });
      expect(await api.counts('acme')).toEqual({ a: 0 });
    },
  );

  it('deletes and answers with filter[unused] those alone that no workspace carries at that moment', async () => {
    const [a = '', b = '', c = ''] = await api.tags('acme', 'a', 'b', 'c');
    await api.organization('other');
    const [theirs = ''] = await api.tags('other', 'a');
    await api.send('tags attach', { tag_id: b }, { data: [workspace(web)] });
    await api.send('tags delete', acme, { data: [tag(c)] });
    const body = { data: [a, b, c, theirs, a, 'nonsense'].map(tag) };
    const { data } = await api.ask<{ data: TagData[] }>(
      'tags delete',
      { ...acme, 'filter[unused]': 'true' },
      body,
    );
    expect(data.map(({ id }) => id)).toEqual([a]);
    expect(await api.counts('acme')).toEqual({ b: 1 });
    expect(await api.counts('other')).toEqual({ a: 0 });
    expect(await api.send('tags delete', { ...acme, 'filter[unused]': 'false' }, { data: [tag(b)] })).toEqual(
      {},
    );
    expect(await api.counts('acme')).toEqual({});
  });

  it('does not find a tag of another organization', async () => {
    await api.organization('other');
    const [theirs = ''] = await api.tags('other', 'a');
    expect(await refused(api.send('tags delete', acme, { data: [tag(theirs)] }))).toMatchObject({
      kind: 'not-found',
      message: `tag "${theirs}" not found`,
    });
    expect(await api.counts('other')).toEqual({ a: 0 });
  });

  it('answers "not found" for an unknown organization', async () => {
    const [a = ''] = await api.tags('acme', 'a');
    const call = api.send('tags delete', { organization_name: 'nobody' }, { data: [tag(a)] });
    expect(await refused(call)).toMatchObject({
      kind: 'not-found',
      message: 'organization "nobody" not found',
    });
  });

  it('changes nothing for an empty list', async () => {
    await api.tags('acme', 'a');
    expect(await api.send('tags delete', acme, { data: [] })).toEqual({});
    expect(await api.counts('acme')).toEqual({ a: 0 });
  });

  it.each([
    [{}, 'data is missing', '/data'],
    [{ data: ['tag-1'] }, 'must be a resource identifier', '/data/0'],
    [{ data: [{ id: 'tag-1' }] }, 'type must be "tags"', '/data/0/type'],
    [{ data: [{ type: 'tag', id: 'tag-1' }] }, 'type must be "tags"', '/data/0/type'],
    [{ data: [{ type: 'tags' }] }, 'id must be a string', '/data/0/id'],
    [{ data: [{ type: 'tags', id: 7 }] }, 'id must be a string', '/data/0/id'],
    [{ data: [{ type: 'tags', attributes: { name: 'a' } }] }, 'id must be a string', '/data/0/id'],
  ])('refuses the document %j', async (body, message, field) => {
    expect(await refused(api.send('tags delete', acme, body))).toEqual({ kind: 'invalid', message, field });
  });
});

describe('adding workspaces to a tag', () => {
  it('puts the tag on each of them once, however often it is asked, and answers nothing', async () => {
    const [id = ''] = await api.tags('acme', 'a');
    const body = { data: [workspace(web), workspace(billing), workspace(web)] };
    expect(await api.send('tags attach', { tag_id: id }, body)).toEqual({});
    await api.send('tags attach', { tag_id: id }, body);
    expect(await api.counts('acme')).toEqual({ a: 2 });
    expect(await tagsOf(web)).toEqual(['a']);
    expect(await tagsOf(billing)).toEqual(['a']);
  });

  it('answers "not found" for an unknown tag', async () => {
    for (const tag_id of ['tag-1111111111111111', 'nonexisting', 'a']) {
      expect(await refused(api.send('tags attach', { tag_id }, { data: [workspace(web)] }))).toEqual({
        kind: 'not-found',
        message: `tag "${tag_id}" not found`,
        field: undefined,
      });
    }
  });

  it('answers "not found" for an unknown workspace, or one of another organization, and changes none', async () => {
    const [theirs = ''] = await api.organization('other', ['web']);
    const [id = ''] = await api.tags('acme', 'a');
    for (const unknown of ['ws-1111111111111111', 'web', theirs]) {
      const body = { data: [workspace(web), workspace(unknown)] };
      expect(await refused(api.send('tags attach', { tag_id: id }, body))).toEqual({
        kind: 'not-found',
        message: `workspace "${unknown}" not found`,
        field: undefined,
      });
    }
    expect(await api.counts('acme')).toEqual({ a: 0 });
  });

  it.each([
    [{}, 'data is missing', '/data'],
    [{ data: [{ type: 'tags', id: 'x' }] }, 'type must be "workspaces"', '/data/0/type'],
    [{ data: [{ type: 'workspaces' }] }, 'id must be a string', '/data/0/id'],
  ])('refuses the document %j', async (body, message, field) => {
    const [id = ''] = await api.tags('acme', 'a');
    expect(await refused(api.send('tags attach', { tag_id: id }, body))).toEqual({
      kind: 'invalid',
      message,
      field,
    });
  });

  it('changes nothing for an empty list', async () => {
    const [id = ''] = await api.tags('acme', 'a');
    expect(await api.send('tags attach', { tag_id: id }, { data: [] })).toEqual({});
    expect(await api.counts('acme')).toEqual({ a: 0 });
  });
});

describe('taking workspaces off a tag', () => {
  it('leaves the tag in the pool, and is done already where it was not on one', async () => {
    const [id = ''] = await api.tags('acme', 'a');
    await api.send('tags attach', { tag_id: id }, { data: [workspace(web)] });
    await api.send('tags detach', { tag_id: id }, { data: [workspace(web), workspace(billing)] });
    await api.send('tags detach', { tag_id: id }, { data: [workspace(web)] });
    expect(await api.counts('acme')).toEqual({ a: 0 });
    expect(await tagsOf(web)).toEqual([]);
  });

  it('takes it off none when one workspace is unknown', async () => {
    const [id = ''] = await api.tags('acme', 'a');
    await api.send('tags attach', { tag_id: id }, { data: [workspace(web)] });
    const body = { data: [workspace(web), workspace('ws-1111111111111111')] };
    expect(await refused(api.send('tags detach', { tag_id: id }, body))).toMatchObject({ kind: 'not-found' });
    expect(await api.counts('acme')).toEqual({ a: 1 });
  });
});

describe('showing a tag', () => {
  it('finds it by identifier, and by organization and name in any case', async () => {
    const [id = ''] = await api.tags('acme', 'a');
    const expected = { data: { id, attributes: { name: 'a' } } };
    expect(await api.ask('tags show', { tag_id: id })).toMatchObject(expected);
    expect(await api.ask('tags show', { ...acme, tag_name: 'A' })).toMatchObject(expected);
    expect(await refused(api.ask('tags show', { ...acme, tag_name: 'b' }))).toMatchObject({
      kind: 'not-found',
    });
  });
});
