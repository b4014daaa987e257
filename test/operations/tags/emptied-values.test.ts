import { beforeAll, describe, expect, it } from 'vitest';
import { refused } from '../../refusal.ts';
import { TagsApi } from './tags-api.ts';

interface Resource {
  readonly data: { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> };
}

const acme = { organization_name: 'acme' };
let api: TagsApi;
let web = '';
let platform = '';

beforeAll(async () => {
  api = await TagsApi.open();
  [web = ''] = await api.organization('acme', ['web']);
  const made = await api.ask<Resource>('projects create', acme, {
    data: { type: 'projects', attributes: { name: 'platform' } },
  });
  platform = made.data.id;
});

const update = async (kind: 'workspaces' | 'projects' | 'organizations', attributes: object) => {
  const [words, values] = {
    workspaces: ['workspaces update', { workspace_id: web }],
    projects: ['projects update', { project_id: platform }],
    organizations: ['orgs update', acme],
  }[kind] as [string, object];
  return (await api.ask<Resource>(words, { ...values }, { data: { type: kind, attributes } })).data
    .attributes;
};

describe('a value', () => {
  it.each<['workspaces' | 'projects' | 'organizations', string, unknown, unknown]>([
    ['workspaces', 'description', 'why', null],
    ['projects', 'description', 'why', null],
    ['organizations', 'email', 'ops@acme.example', null],
    ['projects', 'auto-destroy-activity-duration', '14d', null],
    ['workspaces', 'auto-destroy-activity-duration', '14d', null],
    ['workspaces', 'source-name', 'terraform', null],
    ['workspaces', 'working-directory', 'infra', ''],
    ['workspaces', 'terraform-version', '1.9.0', 'latest'],
    ['organizations', 'owners-team-saml-role-id', 'owners', null],
    ['organizations', 'collaborator-auth-policy', 'two_factor_mandatory', 'password'],
    ['organizations', 'session-timeout', 30, null],
  ])(
    'of %s stays until it is changed, and is emptied by null and by nothing: %s',
    async (kind, name, value, empty) => {
      const emptied = typeof value === 'number' ? [null] : [null, ''];
      for (const nothing of emptied) {
        expect((await update(kind, { [name]: value }))[name]).toBe(value);
        expect((await update(kind, {}))[name]).toBe(value);
        expect((await update(kind, { [name]: nothing }))[name]).toBe(empty);
      }
    },
  );

  it('of a name is never emptied', async () => {
    for (const kind of ['workspaces', 'projects', 'organizations'] as const) {
      for (const name of [null, '']) {
        expect(await refused(update(kind, { name }))).toMatchObject({
          kind: 'invalid',
          field: '/data/attributes/name',
        });
      }
    }
  });
});

describe('the execution mode', () => {
  it.each<[object, string, boolean]>([
    [{ 'execution-mode': 'local' }, 'local', true],
    [{ operations: true }, 'remote', true],
    [{ operations: false }, 'local', true],
    [{ operations: true, 'execution-mode': 'local' }, 'local', true],
    [{ 'setting-overwrites': { 'execution-mode': false } }, 'remote', false],
    [{ 'execution-mode': 'local', 'setting-overwrites': { 'execution-mode': false } }, 'remote', false],
  ])('of a workspace that is changed by %j is %s, its own: %s', async (attributes, mode, isOwn) => {
    const repeated = await update('workspaces', attributes);
    for (const shown of [repeated, await update('workspaces', {})]) {
      expect(shown).toMatchObject({
        'execution-mode': mode,
        operations: mode === 'remote',
        'setting-overwrites': { 'execution-mode': isOwn, 'agent-pool': isOwn },
      });
    }
  });

  it('of a project is its own until it follows its organization again', async () => {
    const own = (isOwn: boolean) => ({ 'default-execution-mode': isOwn, 'default-agent-pool': isOwn });
    expect(await update('projects', { 'default-execution-mode': 'local' })).toMatchObject({
      'default-execution-mode': 'local',
      'setting-overwrites': own(true),
    });
    const again = {
      'default-execution-mode': 'local',
      'setting-overwrites': { 'default-execution-mode': false },
    };
    for (const attributes of [again, {}]) {
      expect(await update('projects', attributes)).toMatchObject({
        'default-execution-mode': 'remote',
        'setting-overwrites': own(false),
      });
    }
  });

  it.each([
    ['workspaces', 'execution-mode'],
    ['projects', 'default-execution-mode'],
    ['organizations', 'default-execution-mode'],
  ] as const)('of %s is never that of agents, which there are not: %s', async (kind, name) => {
    const before = (await update(kind, {}))[name];
    expect(await refused(update(kind, { [name]: 'agent' }))).toMatchObject({
      message: `agent cannot be the ${name}: agent pools are not supported`,
    });
    expect(await refused(update(kind, { [name]: 'nowhere' }))).toMatchObject({ kind: 'invalid' });
    expect((await update(kind, {}))[name]).toBe(before);
  });
});
