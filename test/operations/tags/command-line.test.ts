import { beforeEach, describe, expect, it } from 'vitest';
import type { Runner } from '../../../src/operations/declaration/operation.ts';
import { parseValues } from '../../../src/operations/declaration/params.ts';
import { loadOperation } from '../../../src/operations/runner.ts';
import { createdText, type TagResource } from '../../../src/operations/tags/documents.ts';
import { deletionQuestion } from '../../../src/operations/tags/tags.ts';
import { refused } from '../../refusal.ts';
import { type TagData, TagsApi } from './tags-api.ts';

let api: TagsApi;
let runner: Runner;
let ids: Readonly<Record<string, string>> = {};

beforeEach(async () => {
  api = await TagsApi.open();
  const [web = '', billing = ''] = await api.organization('acme', ['web', 'billing']);
  const [a = '', b = ''] = await api.tags('acme', 'a', 'b');
  await api.send('tags attach', { tag_id: a, data: [web, billing] });
  await api.send('tags attach', { tag_id: b, data: [web] });
  ids = { web, billing, a, b };
  runner = { ...api.runner, organization: 'acme' };
});

const shape = async (path: string) => (await loadOperation(path)).cli ?? {};
const resolve = async (path: string, raw: object, where = runner) =>
  (await shape(path)).resolve?.({ ...raw }, where) ?? raw;

describe('a text about tags', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const resources = (count: number) =>
    names.slice(0, count).map((name) => ({ attributes: { name, 'instance-count': 1 } }) as TagResource);

  it('names five of them at most, and counts more', () => {
    expect(createdText('tag', names.slice(0, 5))).toBe('Created tags a, b, c, d and e.');
    expect(createdText('tag', names, 'acme')).toBe('Created 6 tags in acme.');
    expect(deletionQuestion(resources(5))).toBe(
      'Delete 5 tags? 1 workspace loses a, 1 workspace loses b, 1 workspace loses c, 1 workspace loses d, 1 workspace loses e. Keys that have them lose them, too. This cannot be undone; keep a copy first with "coffer tags export". That has no tags of keys; "coffer store backup FILE" on a local store has everything.',
    );
    expect(deletionQuestion(resources(6))).toBe(
      'Delete 6 tags, used 6 times by workspaces? Keys that have them lose them, too. This cannot be undone; keep a copy first with "coffer tags export". That has no tags of keys; "coffer store backup FILE" on a local store has everything.',
    );
  });
});

describe('names on the command line', () => {
  it('become identifiers, for tags and workspaces, one or several', async () => {
    const { web, billing, a, b } = ids;
    expect(await resolve('tags attach', { tag_id: 'A', data: ['web', billing] })).toEqual({
      tag_id: a,
      data: [web, billing],
    });
    expect(await resolve('tags delete', { organization_name: 'acme', data: ['b', a] })).toEqual({
      organization_name: 'acme',
      data: [b, a],
    });
    expect(await resolve('tags of', { workspace_id: 'web' })).toEqual({ workspace_id: web });
  });

  it('stand beside the organization where the API takes names itself', async () => {
    expect(await resolve('workspaces show', { workspace_id: 'web' })).toEqual({
      workspace_name: 'web',
      organization_name: 'acme',
    });
    expect(await resolve('workspaces show', { workspace_id: ids['web'] })).toEqual({
      workspace_id: ids['web'],
    });
  });

  it('that nobody has are not found', async () => {
    expect(await refused(resolve('tags attach', { tag_id: 'nobody', data: ['web'] }))).toMatchObject({
      kind: 'not-found',
      message: 'tag "nobody" not found',
    });
    expect(await refused(resolve('tags attach', { tag_id: 'a', data: ['nobody'] }))).toMatchObject({
      kind: 'not-found',
      message: 'workspace "nobody" not found',
    });
  });

  it.each([
    ['workspaces bind', 'Set 2 tags on the workspace'],
    ['workspaces rebind', 'Set 2 tags on the workspace, replacing all others'],
    ['projects bind', 'Set 2 tags on the project'],
    ['projects rebind', 'Set 2 tags on the project, replacing all others'],
  ])('of a key without a value are told as such by %s', async (path, said) => {
    const { params, cli } = await loadOperation(path);
    const done = (...data: readonly string[]) =>
      cli?.done?.(parseValues(params, { workspace_id: 'ws', project_id: 'prj', data }).values);
    expect(done('env', 'a=b')).toBe(`${said}; env has no value (set one with env=VALUE).`);
    expect(done('env', 'a=')).toBe(`${said}; env, a have no value (set one with env=VALUE).`);
    expect(done('env=prod', 'a=b')).toBe(`${said}.`);
  });

  it('are found though they have the form of an identifier, unless something has that identifier', async () => {
    const workspace = await api.workspace('acme', 'ws-productioneuwest');
    const [tag = ''] = await api.tags('acme', 'tag-productioneuwest');
    expect(await resolve('tags of', { workspace_id: 'ws-productioneuwest' })).toEqual({
      workspace_id: workspace,
    });
    expect(await resolve('workspaces show', { workspace_id: 'ws-productioneuwest' })).toEqual({
      workspace_name: 'ws-productioneuwest',
      organization_name: 'acme',
    });
    expect(
      await resolve('tags attach', { tag_id: 'tag-productioneuwest', data: ['ws-productioneuwest'] }),
    ).toEqual({ tag_id: tag, data: [workspace] });
    expect(
      await resolve('workspaces tag', { workspace_id: 'web', data: ['tag-productioneuwest', ids['a'], 'b'] }),
    ).toEqual({ workspace_id: ids['web'], data: [{ name: 'tag-productioneuwest' }, ids['a'], 'b'] });
    await api.workspace('acme', ids['web'] ?? '');
    expect(await resolve('tags of', { workspace_id: ids['web'] })).toEqual({ workspace_id: ids['web'] });
  });

  it('may stand together in one text, for every flag that takes several', async () => {
    const { data } = await api.ask<{ data: { attributes: { name: string } }[] }>('workspaces list', {
      organization_name: 'acme',
      'search[tags]': ['a,b'],
    });
    expect(data.map(({ attributes }) => attributes.name)).toEqual(['web']);
  });

  it('need an organization, which identifiers do not', async () => {
    expect(await refused(resolve('tags attach', { tag_id: 'a', data: ['web'] }, api.runner))).toMatchObject({
      kind: 'invalid',
      field: '--org',
    });
    const raw = { tag_id: ids['a'], data: [ids['web']] };
    expect(await resolve('tags attach', raw, api.runner)).toEqual(raw);
  });

  it('leave an identifier of anything else to the exclude filter, which then leaves out nothing', async () => {
    const raw = { 'filter[exclude][taggable][id]': ids['a'] };
    expect(await resolve('tags list', raw)).toEqual(raw);
  });
});

describe('the question before a deletion', () => {
  const question = async (path: string, values: object) =>
    (await shape(path)).confirm?.({ ...values }, runner);

  it('says how many workspaces lose the tag', async () => {
    expect(await question('tags delete', { data: [ids['a']] })).toBe(
      'Delete 1 tag? 2 workspaces lose a. Keys that have it lose it, too. This cannot be undone; keep a copy first with "coffer tags export". That has no tags of keys; "coffer store backup FILE" on a local store has everything.',
    );
    expect(await question('tags delete', { data: [ids['a'], ids['b']] })).toBe(
      'Delete 2 tags? 2 workspaces lose a, 1 workspace loses b. Keys that have them lose them, too. This cannot be undone; keep a copy first with "coffer tags export". That has no tags of keys; "coffer store backup FILE" on a local store has everything.',
    );
  });

  it('sums up when there are many tags', async () => {
    const more = await api.tags('acme', 'c', 'd', 'e', 'f');
    expect(await question('tags delete', { data: [ids['a'], ids['b'], ...more] })).toBe(
      'Delete 6 tags, used 3 times by workspaces? Keys that have them lose them, too. This cannot be undone; keep a copy first with "coffer tags export". That has no tags of keys; "coffer store backup FILE" on a local store has everything.',
    );
  });

  it('says what a workspace carries, and what an organization has', async () => {
    expect(await question('workspaces delete', { workspace_id: ids['web'] })).toBe(
      'Delete workspace web? It has 2 tags. This cannot be undone; keep a copy first with "coffer tags export". That has no descriptions or settings; "coffer store backup FILE" on a local store has everything.',
    );
    expect(await question('orgs delete', { organization_name: 'acme' })).toBe(
      'Delete organization acme with its 2 workspaces and 2 tags? This cannot be undone; keep a copy first with "coffer tags export --org acme". That has no tags of keys, descriptions, settings or reserved keys; "coffer store backup FILE" on a local store has everything.',
    );
  });
});

describe('what is shown', () => {
  it('is a table with names, instances, times and identifiers, and says which page of how many', async () => {
    const document = await api.ask<{ data: TagData[] }>('tags list', { organization_name: 'acme' });
    const { table, lines } = await shape('tags list');
    expect(table?.(document)).toEqual({
      head: ['Name', 'Workspaces', 'Created', 'ID'],
      rows: [
        ['a', '2', { time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) }, ids['a']],
        ['b', '1', { time: expect.stringMatching(/Z$/) }, ids['b']],
      ],
      whole: 0,
      lesser: [3, 2, 1],
      summary: 'Page 1 of 1, 2 tags',
    });
    expect(lines?.(document)).toEqual(['a', 'b']);
  });

  it('has the tags of each workspace, and one name a line', async () => {
    const document = await api.ask('workspaces list', { organization_name: 'acme' });
    const { table, lines } = await shape('workspaces list');
    expect(table?.(document)).toMatchObject({
      head: ['Name', 'Tags', 'Created', 'ID'],
      rows: [
        ['billing', 'a', expect.anything(), ids['billing']],
        ['web', 'a b', expect.anything(), ids['web']],
      ],
      summary: 'Page 1 of 1, 2 workspaces',
    });
    expect(lines?.(document)).toEqual(['billing', 'web']);
  });

  it('names organizations by their names', async () => {
    const document = await api.ask('orgs list');
    const { table, lines } = await shape('orgs list');
    expect(table?.(document)).toMatchObject({
      head: ['Name', 'Email', 'Created', 'ID'],
      rows: [['acme', 'ops@acme.example', expect.anything(), expect.stringMatching(/^org-/)]],
    });
    expect(lines?.(document)).toEqual(['acme']);
  });

  it.each([
    ['tags attach', { data: ['x', 'y'] }, 'Added the tag to 2 workspaces.'],
    ['tags detach', { data: ['x'] }, 'Removed the tag from 1 workspace.'],
    ['tags delete', { data: ['x'] }, 'Deleted 1 tag.'],
    ['workspaces tag', { data: ['x', 'y'] }, 'Added 2 tags to the workspace.'],
    ['workspaces untag', { data: ['x'] }, 'Removed 1 tag from the workspace.'],
    ['workspaces delete', { workspace_name: 'web' }, 'Deleted workspace web.'],
    ['orgs delete', { organization_name: 'acme' }, 'Deleted organization acme.'],
  ])('for %s is a remark', async (path, values, remark) => {
    expect((await shape(path)).done?.(values)).toBe(remark);
  });
});

it('what is shown of one workspace has its description', async () => {
  const made = await api.ask(
    'workspaces create',
    { organization_name: 'acme' },
    {
      data: { type: 'workspaces', attributes: { name: 'told', description: 'what it is for' } },
    },
  );
  const { table } = await shape('workspaces show');
  expect(table?.(made).rows).toContainEqual(['Description', 'what it is for']);
});
