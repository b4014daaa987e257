import Kitsu from 'kitsu';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanUpAfterAll, startServer, type TestServer } from '../../../servers/serving.ts';

/** The JSON:API client of the npm package kitsu, as it is. */

let server: TestServer;
let api: Kitsu;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  api = new Kitsu({
    baseURL: `${server.address}/api/v2`,
    headers: { Authorization: `Bearer ${server.token}` },
    camelCaseTypes: false,
    pluralize: false,
  });
});

interface Resource {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly 'instance-count'?: number;
}

const get = async (path: string, params: object = {}): Promise<{ data: readonly Resource[]; meta: never }> =>
  (await api.get(path, { params })) as { data: readonly Resource[]; meta: never };

describe('kitsu with the pool of tags', () => {
  it('makes an organization, workspaces and tags, and reads them', async () => {
    const organization = await api.post('organizations', {
      type: 'organizations',
      name: 'acme',
      email: 'a@b.example',
    });
    expect(organization.data).toMatchObject({ id: 'acme', type: 'organizations', email: 'a@b.example' });
    const workspace = await api.post('organizations/acme/workspaces', {
      type: 'workspaces',
      name: 'billing',
    });
    expect(workspace.data).toMatchObject({ type: 'workspaces', name: 'billing', 'tag-names': [] });
    await api.post(`workspaces/${workspace.data.id}/relationships/tags`, [
      { type: 'tags', name: 'env:prod' },
      { type: 'tags', name: 'networking' },
    ]);
    const { data, meta } = await get('organizations/acme/tags');
    expect(data.map(({ name, type }) => [name, type])).toEqual([
      ['env:prod', 'tags'],
      ['networking', 'tags'],
    ]);
    expect(data[0]?.['instance-count']).toBe(1);
    expect(meta).toMatchObject({ pagination: { 'total-count': 2, 'next-page': null } });
  });

  it('searches and pages with parameters in brackets', async () => {
    const found = await get('organizations/acme/tags', { q: 'net' });
    expect(found.data.map(({ name }) => name)).toEqual(['networking']);
    const second = await get('organizations/acme/tags', { page: { number: 2, size: 1 } });
    expect(second.data.map(({ name }) => name)).toEqual(['networking']);
    expect(second.meta).toMatchObject({
      pagination: { 'current-page': 2, 'page-size': 1, 'total-pages': 2 },
    });
  });

  it('changes a workspace and deletes tags', async () => {
    const { data: workspaces } = await get('organizations/acme/workspaces');
    const { id = '' } = workspaces[0] ?? {};
    const changed = await api.patch('workspaces', {
      type: 'workspaces',
      id,
      description: 'of the shop',
    });
    expect(changed.data).toMatchObject({ description: 'of the shop' });
    const { data: tags } = await get('organizations/acme/tags');
    // Its types know only identifiers that are numbers.
    const ids = tags.map(({ id: tag }) => tag) as unknown as number[];
    await api.delete('organizations/acme/tags', ids);
    expect((await get('organizations/acme/tags')).data).toEqual([]);
  });

  it('reads the errors of a refusal, and the place of the mistake', async () => {
    await expect(api.get('organizations/none/tags')).rejects.toMatchObject({
      errors: [{ status: '404', title: 'not found' }],
    });
    await expect(
      api.post('organizations', { type: 'organizations', name: 'not a name', email: 'a@b.example' }),
    ).rejects.toMatchObject({
      errors: [{ status: '422', source: { pointer: '/data/attributes/name' } }],
    });
  });
});
