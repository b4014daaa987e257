import { beforeEach, describe, expect, it } from 'vitest';
import { type Caller, owner } from '../../../src/operations/declaration/operation.ts';
import { refused } from '../../refusal.ts';
import { TagsApi } from './tags-api.ts';

interface Organizations {
  readonly data: readonly { readonly id: string }[];
  readonly meta?: object;
}

let api: TagsApi;

beforeEach(async () => {
  api = await TagsApi.open();
});

const create = (attributes: object) =>
  api.send('orgs create', {}, { data: { type: 'organizations', attributes } });
const ids = ({ data }: Organizations): string[] => data.map(({ id }) => id);

describe('organizations', () => {
  it('are identified by their names, and have their identifier among the attributes', async () => {
    const outcome = await create({ name: 'acme', email: 'ops@acme.example', 'stacks-enabled': true });
    expect(outcome.created).toBe(true);
    expect(outcome.data).toMatchObject({
      data: {
        id: 'acme',
        type: 'organizations',
        attributes: {
          name: 'acme',
          email: 'ops@acme.example',
          'external-id': expect.stringMatching(/^org-[1-9A-HJ-NP-Za-km-z]{16}$/),
          'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          'default-execution-mode': 'remote',
          permissions: {
            'can-update': true,
            'can-destroy': true,
            'can-create-workspace': true,
            'can-manage-tags': true,
            'can-create-project': true,
          },
        },
        relationships: {
          'default-project': { data: { id: expect.stringMatching(/^prj-/), type: 'projects' } },
        },
        links: { self: '/api/v2/organizations/acme' },
      },
    });
    expect(await api.ask('orgs show', { organization_name: 'acme' })).toEqual(outcome.data);
  });

  it('are changed, renamed without losing what they have, and keep the settings that clients compare', async () => {
    await create({ name: 'acme', email: 'ops@acme.example' });
    const id = await api.workspace('acme', 'billing', ['a']);
    const attributes = {
      email: 'new@acme.example',
      'session-timeout': 30,
      'collaborator-auth-policy': 'two_factor_mandatory',
      'cost-estimation-enabled': true,
      'default-execution-mode': 'local',
    };
    const update = (organization_name: string, changed: object) =>
      api.ask<{ data: { id: string; attributes: object } }>(
        'orgs update',
        { organization_name },
        {
          data: { type: 'organizations', attributes: changed },
        },
      );
    expect((await update('acme', attributes)).data.attributes).toMatchObject(attributes);
    const { data } = await update('acme', { name: 'umbrella' });
    expect([data.id, data.attributes]).toEqual(['umbrella', expect.objectContaining(attributes)]);
    expect(await api.ask('workspaces show', { workspace_id: id })).toMatchObject({
      data: {
        attributes: { 'tag-names': ['a'], 'execution-mode': 'local' },
        relationships: { organization: { data: { id: 'umbrella' } } },
      },
    });
    expect(await refused(api.send('orgs show', { organization_name: 'acme' }))).toMatchObject({
      kind: 'not-found',
    });
    await create({ name: 'acme' });
    expect(await refused(update('acme', { name: 'umbrella' }))).toMatchObject({ kind: 'exists' });
  });

  it('need no e-mail address', async () => {
    expect((await create({ name: 'acme' })).data).toMatchObject({ data: { attributes: { email: null } } });
  });

  it.each([
    ['acme', 'Name has already been taken'],
    ['', "Name can't be blank"],
    ['..', 'Name can only include letters, numbers, hyphens and underscores'],
    ['a b', 'Name can only include letters, numbers, hyphens and underscores'],
  ])('may not be called %j', async (name, message) => {
    await create({ name: 'acme' });
    expect(await refused(create({ name }))).toEqual({
      kind: message === 'Name has already been taken' ? 'exists' : 'invalid',
      message,
      field: '/data/attributes/name',
    });
  });

  it('are listed whole and without pagination, unless a page is asked for', async () => {
    for (const name of ['c', 'a', 'b']) await create({ name, email: `${name}@example.net` });
    const whole = await api.ask<Organizations>('orgs list');
    expect(ids(whole)).toEqual(['a', 'b', 'c']);
    expect(whole).not.toHaveProperty('meta');
    const page = await api.ask<Organizations>('orgs list', { 'page[size]': '2', 'page[number]': '2' });
    expect(ids(page)).toEqual(['c']);
    expect(page.meta).toMatchObject({ pagination: { 'total-count': 3, 'current-page': 2 } });
    const first = await api.ask<Organizations>('orgs list', { 'page[size]': '2' });
    expect([ids(first), first.meta]).toMatchObject([['a', 'b'], { pagination: { 'current-page': 1 } }]);
    const usual = await api.ask<Organizations>('orgs list', { 'page[number]': '1' });
    expect([ids(usual), usual.meta]).toMatchObject([['a', 'b', 'c'], { pagination: { 'page-size': 20 } }]);
  });

  it('are listed with their addresses for those alone who may list or read them', async () => {
    for (const name of ['a', 'b']) await create({ name, email: `${name}@example.net` });
    const emails = async (paths: readonly string[], query: object = {}) => {
      const caller: Caller = { ...owner, may: (path) => paths.includes(path) };
      const { data } = await api.send('orgs list', { ...query }, undefined, caller);
      return (data as { data: readonly { attributes: { email: string | null } }[] }).data.map(
        ({ attributes }) => attributes.email,
      );
    };
    expect(await emails([])).toEqual([null, null]);
    expect(await emails(['organizations/a'])).toEqual(['a@example.net', null]);
    expect(await emails(['organizations'])).toEqual(['a@example.net', 'b@example.net']);
    expect(await emails(['organizations/a'], { q: 'example' })).toEqual(['a@example.net']);
    expect(await emails([], { 'q[email]': '@' })).toEqual([]);
  });

  it.each([
    [{ q: 'EXAMPLE' }, ['a', 'b']],
    [{ q: 'a@' }, ['a']],
    [{ 'q[name]': 'B' }, ['b']],
    [{ 'q[email]': 'b@' }, ['b']],
    [{ 'q[email]': 'none' }, []],
  ])('are found by %j', async (query, expected) => {
    await create({ name: 'a', email: 'a@example.net' });
    await create({ name: 'b', email: 'b@example.net' });
    expect(ids(await api.ask<Organizations>('orgs list', query))).toEqual(expected);
  });

  it('are listed only for those who may do something there', async () => {
    await create({ name: 'seen' });
    await create({ name: 'hidden' });
    const caller: Caller = { ...owner, reaches: (path) => path === 'organizations/seen' };
    const { data } = await api.send('orgs list', {}, undefined, caller);
    expect(ids(data as Organizations)).toEqual(['seen']);
  });

  it('get another name only from those who may make organizations', async () => {
    await create({ name: 'acme' });
    const caller: Caller = { ...owner, may: (path) => path !== 'organizations' };
    const change = (attributes: object) =>
      api.send(
        'orgs update',
        { organization_name: 'acme' },
        { data: { type: 'organizations', attributes } },
        caller,
      );
    expect(await refused(change({ name: 'payments' }))).toMatchObject({ kind: 'not-found' });
    await change({ name: 'acme', email: 'ops@example.net' });
    expect(ids(await api.ask<Organizations>('orgs list'))).toEqual(['acme']);
  });

  it('take their workspaces and tags with them', async () => {
    const [workspace_id = ''] = await api.organization('acme', ['w']);
    const [tag_id = ''] = await api.tags('acme', 'a');
    const organization_name = 'acme';
    expect(await api.send('orgs delete', { organization_name })).toEqual({});
    for (const [path, values] of [
      ['orgs show', { organization_name }],
      ['orgs delete', { organization_name }],
      ['tags list', { organization_name }],
      ['workspaces list', { organization_name }],
      ['tags show', { tag_id }],
      ['workspaces show', { workspace_id }],
    ] as const) {
      expect(await refused(api.send(path, values))).toMatchObject({ kind: 'not-found' });
    }
  });

  it('start empty when a name is used again', async () => {
    await api.organization('acme', ['w']);
    await api.tags('acme', 'a');
    await api.send('orgs delete', { organization_name: 'acme' });
    await api.organization('acme');
    expect(await api.counts('acme')).toEqual({});
  });
});
