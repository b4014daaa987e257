import { beforeAll, describe, expect, it } from 'vitest';
import { CofferError, type ErrorKind } from '../../../src/ground/errors.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';
import { loadOperation } from '../../../src/operations/runner.ts';
import { refused } from '../../refusal.ts';
import { TagsApi } from './tags-api.ts';

let api: TagsApi;
/** Identifiers by the names that the cases use for them. */
let ids: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  api = await TagsApi.open();
  const [web = '', bare = ''] = await api.organization('acme', ['web', 'bare']);
  const [a = '', b = ''] = await api.tags('acme', 'a', 'b');
  await api.send('tags attach', { tag_id: a, data: [web] });
  await api.send('workspaces bind', { workspace_id: web, data: ['env=prod'] });
  const made = await api.ask<{ data: { id: string } }>(
    'projects create',
    { organization_name: 'acme' },
    { data: { type: 'projects', attributes: { name: 'platform' } } },
  );
  await api.send('projects bind', { project_id: made.data.id, data: ['env=prod'] });
  await api.send('transit keys create', { name: 'orders' });
  const tags = ['a', 'env=prod'];
  await api.send('transit keys tag', { name: 'orders', organization: 'acme', tags });
  ids = { web, bare, a, b, platform: made.data.id };
});

/** Replaces the names of things by their identifiers, also within lists and objects. */
const meant = (given: unknown): unknown => {
  if (typeof given === 'string') return given.startsWith('@') ? ids[given.slice(1)] : given;
  if (Array.isArray(given)) return given.map(meant);
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, meant(value)]));
};

const already = async (words: string, raw: object, runner: Runner = api.runner) =>
  (await loadOperation(words)).cli?.unchanged?.(meant(raw) as Record<string, unknown>, runner);

const failing = (error: Error): Runner => ({ ...api.runner, run: () => Promise.reject(error) });

describe('what a change of tags finds as it is to become', () => {
  it.each<[string, object, number]>([
    ['tags attach', { tag_id: '@a', data: ['@web', '@bare'] }, 1],
    ['tags detach', { tag_id: '@a', data: ['@web', '@bare', '@bare'] }, 2],
    ['tags attach', { tag_id: '@a', data: ['@web', 'ws-none'] }, 1],
    ['tags detach', { tag_id: '@a', data: ['ws-none'] }, 0],
    ['tags detach', { tag_id: 'tag-none', data: ['@web', '@bare'] }, 0],
    ['tags attach', { tag_id: '@a' }, 0],
    ['workspaces tag', { workspace_id: '@web', data: ['@b', { id: '@a' }, { name: 'A' }, { name: 'b' }] }, 2],
    ['workspaces untag', { workspace_id: '@web', data: [{ id: '@a' }, { id: '@b' }, { name: 'b' }] }, 2],
    ['workspaces untag', { workspace_id: '@web', data: [{ id: 'tag-none' }, 7, null] }, 0],
    ['workspaces untag', { workspace_id: '@web', data: 'b' }, 0],
    ['workspaces untag', { workspace_id: 'ws-none', data: [{ id: '@b' }] }, 0],
    ['workspaces unbind', { workspace_id: '@web', data: ['env', 'team', 'x'] }, 2],
    ['workspaces unbind', { workspace_id: '@bare', data: ['env'] }, 1],
    ['workspaces unbind', { workspace_id: '@web', data: 'team' }, 0],
    ['workspaces unbind', { workspace_id: 'ws-none', data: ['env'] }, 0],
    ['projects unbind', { project_id: '@platform', data: ['env', 'team'] }, 1],
    ['transit keys tag', { name: 'orders', tags: ['A', '@a', '@b', 'env=prod', 'env=test'] }, 3],
    ['transit keys untag', { name: 'orders', tags: ['A', '@a', '@b', 'b', 'env=prod', 'env=test'] }, 3],
    ['transit keys untag', { name: 'orders', tags: ['tag-none'] }, 1],
    ['transit keys untag', { name: 'orders', tags: 'b' }, 0],
    ['transit keys untag', { name: 'nobody', tags: ['b'] }, 0],
  ])('is counted by %s with %j: %i', async (words, raw, count) => {
    expect(await already(words, raw)).toBe(count);
  });

  const each: readonly [string, object][] = [
    ['tags attach', { tag_id: '@a', data: ['@web'] }],
    ['workspaces untag', { workspace_id: '@web', data: [{ id: '@b' }] }],
    ['workspaces unbind', { workspace_id: '@web', data: ['team'] }],
    ['transit keys untag', { name: 'orders', tags: ['b'] }],
  ];
  it.each(each)('is nothing where %s may not look, and a defect is not hidden by it', async (words, raw) => {
    for (const kind of ['denied', 'not-found', 'unavailable'] satisfies ErrorKind[]) {
      expect(await already(words, raw, failing(new CofferError(kind, 'on purpose')))).toBe(0);
    }
    await expect(already(words, raw, failing(new TypeError('a defect')))).rejects.toThrow('a defect');
  });

  it('is looked for in as many workspaces as one call takes, and not in more', async () => {
    let asked = 0;
    const counting: Runner = {
      ...api.runner,
      run: (...all) => {
        asked += 1;
        return asked === 1 ? api.runner.run(...all) : Promise.reject(new CofferError('not-found', 'no'));
      },
    };
    const data = Array.from({ length: 1001 }, () => 'ws-none');
    await already('tags attach', { tag_id: '@a', data }, counting);
    expect(asked).toBe(1 + 1000);
  });
});

const done = async (words: string, values: object, count?: number) =>
  (await loadOperation(words)).cli?.done?.({ ...values }, undefined, undefined, count);

describe('what is said of a change of tags', () => {
  it.each<[string, object, string, string, string]>([
    [
      'tags attach',
      { data: ['x', 'y'] },
      'Added the tag to 2 workspaces.',
      'Added the tag to 1 workspace. 1 workspace unchanged.',
      'No changes made: 2 workspaces already have the tag.',
    ],
    [
      'tags detach',
      { data: ['x', 'y'] },
      'Removed the tag from 2 workspaces.',
      'Removed the tag from 1 workspace. 1 workspace unchanged.',
      'No changes made: 2 workspaces do not have the tag.',
    ],
    [
      'workspaces tag',
      { data: ['x', 'y'] },
      'Added 2 tags to the workspace.',
      'Added 1 tag to the workspace. 1 tag unchanged.',
      'No changes made: the workspace already has all of the tags.',
    ],
    [
      'workspaces untag',
      { data: ['x', 'y'] },
      'Removed 2 tags from the workspace.',
      'Removed 1 tag from the workspace. 1 tag unchanged.',
      'No changes made: the workspace does not have any of the tags.',
    ],
    [
      'projects unbind',
      { data: ['x', 'y'] },
      'Removed 2 keys from the project.',
      'Removed 1 key from the project. 1 key unchanged.',
      'No changes made: the project has no tag of its own with any of these keys.',
    ],
    [
      'transit keys tag',
      { name: 'k', tags: ['x', 'y'] },
      'Added 2 tags to key k.',
      'Added 1 tag to key k. 1 tag unchanged.',
      'No changes made: key k already has all of the tags.',
    ],
    [
      'transit keys untag',
      { name: 'k', tags: ['x', 'y'] },
      'Removed 2 tags from key k.',
      'Removed 1 tag from key k. 1 tag unchanged.',
      'No changes made: key k does not have any of the tags.',
    ],
  ])('by %s with %j says what changed alone', async (words, values, all, some, none) => {
    const said = await Promise.all([undefined, 0, 1, 2, 3].map((count) => done(words, values, count)));
    expect(said).toEqual([all, all, some, none, none]);
  });

  it.each<[string, object, string]>([
    ['tags attach', { data: ['x'] }, '1 workspace already has the tag'],
    ['tags detach', { data: ['x'] }, '1 workspace does not have the tag'],
    ['workspaces tag', { data: ['x'] }, 'the workspace already has the tag'],
    ['workspaces untag', { data: ['x'] }, 'the workspace does not have the tag'],
    ['workspaces unbind', { data: ['x'] }, 'the workspace has no tag of its own with this key'],
    ['transit keys tag', { name: 'k', tags: ['x'] }, 'key k already has the tag'],
    ['transit keys untag', { name: 'k', tags: ['x'] }, 'key k does not have the tag'],
  ])('by %s of one alone is said of one', async (words, values, said) => {
    expect(await done(words, values, 1)).toBe(`No changes made: ${said}.`);
  });
});

describe('a name that a command line looks up', () => {
  const resolve = async (words: string, raw: object, runner: Runner) =>
    (await loadOperation(words)).cli?.resolve?.({ ...raw }, runner);
  const answering = (data: unknown): Runner => ({
    ...api.runner,
    organization: 'acme',
    run: async () => ({ data }),
  });

  it.each<[unknown]>([[undefined], [{}], [{ data: null }], [{ data: { id: 7 } }], [{ data: [] }]])(
    'is not taken for something else where a server answers %j',
    async (data) => {
      const asked = resolve('tags of', { workspace_id: 'web' }, answering(data));
      expect(await refused(asked as Promise<unknown>)).toMatchObject({
        kind: 'unavailable',
        message: 'unexpected response about "web": no ID',
      });
    },
  );

  it('comes with the command that creates a tag, unless the organization is missing or looking fails', async () => {
    const hintOf = async (runner: Runner): Promise<string | undefined> => {
      try {
        await resolve('tags attach', { tag_id: 'nobody', data: [ids['web']] }, runner);
      } catch (error) {
        return (error as CofferError).hint ?? '';
      }
      return undefined;
    };
    const created = 'create it first with "coffer tags create nobody --org acme"';
    expect(await hintOf({ ...api.runner, organization: 'acme' })).toBe(created);
    expect(await hintOf({ ...api.runner, organization: 'nowhere' })).not.toContain('tags create');
    const denied: Runner = { ...failing(new CofferError('denied', 'no')), organization: 'acme' };
    expect(await hintOf(denied)).not.toContain('tags create');
  });

  it.each(['workspaces show', 'projects show', 'tags reserved show', 'workspaces delete', 'projects delete'])(
    'is missed by %s without one',
    async (words) => {
      for (const raw of [{}, { organization_name: 'acme' }]) {
        expect(await refused(api.send(words, raw))).toMatchObject({
          kind: 'invalid',
          message: expect.stringMatching(/^missing \w+_id$/),
        });
      }
    },
  );
});
