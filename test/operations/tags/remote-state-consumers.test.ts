import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/operations/declaration/operation.ts';
import { owner } from '../../../src/operations/declaration/operation.ts';
import { isLong } from '../../long.ts';
import { refused } from '../../refusal.ts';
import { TagsApi, workspace } from './tags-api.ts';

interface Listed {
  readonly data: readonly { readonly id: string; readonly attributes: { readonly name: string } }[];
  readonly meta: { readonly pagination: { readonly 'total-count': number } };
}

let api: TagsApi;
let web = '';
let billing = '';
let docs = '';

beforeEach(async () => {
  api = await TagsApi.open();
  [web = '', billing = '', docs = ''] = await api.organization('acme', ['web', 'billing', 'docs']);
});

const send = (act: 'add' | 'replace' | 'remove', of: string, ids: readonly string[], caller = owner) =>
  api.send(`workspaces state-consumers ${act}`, { workspace_id: of }, { data: ids.map(workspace) }, caller);

async function consumers(of: string, query: object = {}, caller?: Caller): Promise<[string[], number]> {
  const values = { workspace_id: of, ...query };
  const { data } = await api.send('workspaces state-consumers list', values, undefined, caller);
  const { data: found, meta } = data as Listed;
  return [found.map(({ attributes }) => attributes.name), meta.pagination['total-count']];
}

const settings = (of: string, attributes: object) =>
  api.send('workspaces update', { workspace_id: of }, { data: { type: 'workspaces', attributes } });

describe('the workspaces that may read the state of another one', () => {
  it('are none at first, then those that were added, each once, and lose those that are removed', async () => {
    expect(await consumers(web)).toEqual([[], 0]);
    await send('add', web, [docs, billing]);
    await send('add', web, [billing]);
    expect(await consumers(web)).toEqual([['docs', 'billing'], 2]);
    await send('remove', web, [docs]);
    await send('remove', web, [docs]);
    expect(await consumers(web)).toEqual([['billing'], 1]);
    await send('replace', web, [docs]);
    expect(await consumers(web)).toEqual([['docs'], 1]);
    await send('replace', web, []);
    expect(await consumers(web)).toEqual([[], 0]);
  });

  it('are shown as each is by itself', async () => {
    await send('add', web, [billing]);
    const { data } = (await api.send('workspaces state-consumers list', { workspace_id: web }))
      .data as Listed;
    const shown = await api.ask<{ data: object }>('workspaces show', { workspace_id: billing });
    expect(data).toEqual([shown.data]);
  });

  it.runIf(isLong)('are a thousand at most', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 1000; index++) ids.push(await api.workspace('acme', `w-${index}`));
    await send('replace', web, ids);
    expect(await refused(send('add', web, [docs]))).toMatchObject({ kind: 'invalid' });
    expect((await consumers(web))[1]).toBe(1000);
  });

  it('come in pages', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 25; index++) ids.push(await api.workspace('acme', `w-${index}`));
    await send('add', web, ids);
    const [second, total] = await consumers(web, { 'page[size]': 20, 'page[number]': 2 });
    expect([second, total]).toEqual([['w-20', 'w-21', 'w-22', 'w-23', 'w-24'], 25]);
  });

  it('are no more when they are deleted, and none that is made later comes in their place', async () => {
    await send('add', web, [billing, docs]);
    await api.send('workspaces delete', { workspace_id: billing });
    expect(await consumers(web)).toEqual([['docs'], 1]);
    await api.workspace('acme', 'billing');
    expect(await consumers(web)).toEqual([['docs'], 1]);
  });

  it('stay when the workspace is renamed, tagged and described', async () => {
    await send('add', web, [billing]);
    await settings(web, { name: 'site', description: 'why', 'auto-apply': true });
    const tags = [{ type: 'tags', attributes: { name: 'a' } }];
    await api.send('workspaces tag', { workspace_id: web }, { data: tags });
    expect(await consumers(web)).toEqual([['billing'], 1]);
  });

  it('are all others by name while everybody may read it, and then can not be changed', async () => {
    await send('add', web, [docs]);
    await settings(web, { 'global-remote-state': true });
    expect(await consumers(web)).toEqual([['billing', 'docs'], 2]);
    expect(await consumers(web, { 'page[size]': 1, 'page[number]': 2 })).toEqual([['docs'], 2]);
    for (const act of ['add', 'replace', 'remove'] as const) {
      expect(await refused(send(act, web, [billing]))).toEqual({
        kind: 'invalid',
        message: 'remote state consumers cannot be changed while global-remote-state is true',
        field: '/data',
      });
    }
    await settings(web, { 'global-remote-state': false });
    expect(await consumers(web)).toEqual([['docs'], 1]);
  });

  it('are of the same organization, and never the workspace itself; else nothing is changed', async () => {
    const [theirs = ''] = await api.organization('other', ['theirs']);
    for (const id of [theirs, 'ws-nosuch', '']) {
      expect(await refused(send('add', web, [docs, id]))).toMatchObject({
        kind: id === '' ? 'invalid' : 'not-found',
      });
    }
    expect(await refused(send('add', web, [docs, web]))).toMatchObject({
      kind: 'invalid',
      message: 'a workspace cannot be a consumer of its own state',
    });
    expect(await refused(send('add', 'ws-nosuch', [docs]))).toMatchObject({ kind: 'not-found' });
    expect(await consumers(web)).toEqual([[], 0]);
  });
});

describe('who may read only some workspaces', () => {
  const allowed = (...paths: readonly string[]): Caller => ({
    ...owner,
    may: (path) => paths.includes(path),
  });

  it('is shown those among the consumers, and can name no others', async () => {
    await send('add', web, [billing, docs]);
    const caller = allowed(`organizations/acme/workspaces/${docs}`);
    expect(await consumers(web, {}, caller)).toEqual([['docs'], 1]);
    expect(await consumers(web, {}, allowed('organizations/acme/workspaces/billing'))).toEqual([
      ['billing'],
      1,
    ]);
    expect(await consumers(web, {}, allowed('organizations/acme/workspaces'))).toEqual([
      ['billing', 'docs'],
      2,
    ]);
    await settings(web, { 'global-remote-state': true });
    expect(await consumers(web, {}, caller)).toEqual([['docs'], 1]);
    await settings(web, { 'global-remote-state': false });
    expect(await refused(send('remove', web, [billing], caller))).toMatchObject({ kind: 'not-found' });
    await send('remove', web, [docs], caller);
    expect(await consumers(web)).toEqual([['billing'], 1]);
  });
});

describe('patterns of files that runs depend on', () => {
  it('are refused while changed files decide about no runs, and taken with them', async () => {
    const refusal = {
      kind: 'invalid',
      message: "'trigger_patterns' cannot be populated when 'file_triggers_enabled' is set to false.",
      field: '/data/attributes/trigger-patterns',
    };
    const both = { 'file-triggers-enabled': false, 'trigger-patterns': ['a/**'] };
    expect(await refused(settings(web, both))).toEqual(refusal);
    await settings(web, { 'file-triggers-enabled': false, 'trigger-patterns': [] });
    expect(await refused(settings(web, { 'trigger-patterns': ['a/**'] }))).toEqual(refusal);
    await settings(web, { 'file-triggers-enabled': true, 'trigger-patterns': ['a/**'] });
    await settings(web, { 'file-triggers-enabled': false });
    await settings(web, { description: 'why' });
  });
});
