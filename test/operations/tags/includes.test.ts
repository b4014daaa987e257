import { beforeEach, describe, expect, it } from 'vitest';
import { type Caller, owner } from '../../../src/operations/declaration/operation.ts';
import { TagsApi } from './tags-api.ts';

const acme = { organization_name: 'acme' };
let api: TagsApi;

beforeEach(async () => {
  api = await TagsApi.open();
  await api.organization('acme', []);
});

describe('the tags of projects beside a list of them', () => {
  const include = { include: 'tag_bindings,effective_tag_bindings' };
  const bind = async (project_id: string) => {
    const data = [{ type: 'tag-bindings', attributes: { key: 'owner', value: 'core' } }];
    await api.send('projects bind', { project_id }, { data });
  };
  const beside = async (caller: Caller, query: object = include) => {
    const { data } = await api.send('projects list', { ...acme, ...query }, undefined, caller);
    return (data as { readonly included?: readonly { readonly type: string }[] }).included?.map(
      ({ type }) => type,
    );
  };

  it('are shown to those who may see them alone, as they ask for them', async () => {
    const { data } = await api.ask<{ data: { id: string } }>('projects create', acme, {
      data: { type: 'projects', attributes: { name: 'platform' } },
    });
    await bind(data.id);
    const own = `organizations/acme/projects/${data.id}`;
    const allowed = (...paths: readonly string[]): Caller => ({
      ...owner,
      may: (path) => paths.includes(path),
    });
    expect(await beside(allowed('organizations/acme/projects'))).toEqual([]);
    for (const path of [own, 'organizations/acme/projects/platform', `${own}/tag-bindings`]) {
      expect(await beside(allowed('organizations/acme/projects', path))).toEqual([
        'tag-bindings',
        'effective-tag-bindings',
      ]);
    }
    expect(await beside(owner, { include: 'tag_bindings' })).toEqual(['tag-bindings']);
    expect(await beside(owner, { include: 'effective_tag_bindings' })).toEqual(['effective-tag-bindings']);
    expect(await beside(owner, {})).toBeUndefined();
  });
});
