import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  setPolicy,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';
import { bound, callerOf, NOT_FOUND, named } from './api.ts';

let server: TestServer;
const afterwards = cleanUpAfterAll();
const call = callerOf(() => server);
const LIST = 'organizations/acme/workspaces';

const ids: Record<string, string> = {};
let project = '';

beforeAll(async () => {
  server = await startServer({}, afterwards);
  await call('POST', 'organizations', {
    data: { type: 'organizations', attributes: { name: 'acme', email: 'ops@acme.example' } },
  });
  const made = await call('POST', 'organizations/acme/projects', {
    data: {
      type: 'projects',
      attributes: { name: 'platform' },
      relationships: { 'tag-bindings': { data: bound({ zone: 'eu' }) } },
    },
  });
  project = made.json.data.id;
  for (const [name, env, tag] of [
    ['one', 'prod', 'red'],
    ['two', 'dev', 'blue'],
  ] as const) {
    const { json } = await call('POST', LIST, {
      data: {
        type: 'workspaces',
        attributes: { name },
        relationships: {
          tags: { data: named(tag) },
          'tag-bindings': { data: bound({ env }) },
          project: name === 'one' ? { data: { type: 'projects', id: project } } : undefined,
        },
      },
    });
    ids[name] = json.data.id;
  }
});

const namesIn = (json: { data: { attributes: { name: string } }[] }): string[] =>
  json.data.map(({ attributes }) => attributes.name);

const listed = async (query: string, as?: string): Promise<string[]> =>
  namesIn((await call('GET', `${LIST}?${query}`, undefined, as === undefined ? {} : { as })).json);

describe('a filter of the list of workspaces', () => {
  it.each<[string, string[]]>([
    ['filter%5Btagged%5D%5B0%5D%5Bkey%5D=env&filter%5Btagged%5D%5B0%5D%5Bvalue%5D=prod', ['one']],
    ['filter[tagged][0][key]=env&filter[tagged][0][value]=', ['one', 'two']],
    ['filter[tagged][0][key]=zone&filter[tagged][7][key]=env', ['one']],
    ['filter[tagged][0][key]=env&filter[tagged][0][value]=prod&search[tags]=env', ['one']],
    ['filter[tagged][0][value]=dev', ['two']],
    ['search[tags]=zone', ['one']],
    ['search[tags]=red,zone', ['one']],
    ['search[exclude-tags]=zone', ['two']],
    ['filter[project][id]=prj-unknown', []],
    ['TagBindings=%7B+k+%7D&anything=else', ['one', 'two']],
    ['filter[current-run][status]=', ['one', 'two']],
  ])('is kept: %s finds %j', async (query, expected) => {
    expect(await listed(query)).toEqual(expected);
  });

  it('has at most 20 patterns, and is in the links of its pages', async () => {
    const many = Array.from({ length: 21 }, (_, index) => `a${index}*`).join(',');
    const { status, json } = await call('GET', `${LIST}?search[any-tags]=${many}`);
    expect([status, json.errors[0].source]).toEqual([400, { parameter: 'search[any-tags]' }]);
    const page = await call('GET', `${LIST}?search[any-tags]=red,bl*&page[size]=1`);
    expect(namesIn(page.json)).toEqual(['one']);
    expect(namesIn((await call('GET', page.json.links.next.replace(/^.*api\/v2\//, ''))).json)).toEqual([
      'two',
    ]);
  });

  it('by project finds what is in it, and what is in the default one', async () => {
    expect(await listed(`filter[project][id]=${project}`)).toEqual(['one']);
    const { json } = await call('GET', 'organizations/acme');
    const usual = json.data.relationships['default-project'].data.id;
    expect(await listed(`filter[project][id]=${usual}`)).toEqual(['two']);
  });

  it.each<[string, string, string]>([
    [`${LIST}?filter[current-run][status]=applied`, 'filter', 'filter[current-run][status]'],
    [`${LIST}?filter[tagged][0][name]=env`, 'filter', 'filter[tagged][0][name]'],
    [`${LIST}?filter[tagged]=env`, 'filter', 'filter[tagged]'],
    [`${LIST}?search[exclude_tags]=red`, 'search', 'search[exclude_tags]'],
    [`${LIST}?q=one`, 'q', 'q'],
    [`${LIST}?page[after]=x`, 'page', 'page[after]'],
    [`${LIST}?sort=current-run.created-at`, 'sort', 'sort'],
    [`${LIST}?include=nonsense`, 'include', 'include'],
    ['organizations/acme/tags?sort=name', 'sort', 'sort'],
    ['organizations/acme/tags?include=organization', 'include', 'include'],
    ['organizations/acme/projects?filter[permissions][update]=true', 'filter', 'filter[permissions][update]'],
    ['organizations/acme/tags?q=a&q=b', 'q', 'q'],
  ])('that would change the answer and is not kept is refused: %s', async (path, family, parameter) => {
    const { status, json } = await call('GET', path);
    expect([status, json.errors]).toEqual([
      400,
      [
        {
          status: '400',
          title: `invalid ${family} parameter`,
          detail: expect.any(String),
          source: { parameter },
        },
      ],
    ]);
  });
});

describe('what would be lost without a word', () => {
  const workspace = (attributes: object, relationships: object = {}) => ({
    data: { type: 'workspaces', attributes: { name: 'lost', ...attributes }, relationships },
  });

  it.each<[string, object, string]>([
    ['a repository', workspace({ 'vcs-repo': { identifier: 'a/b' } }), '/data/attributes/vcs-repo'],
    ['a pool of agents', workspace({ 'agent-pool-id': 'apool-1' }), '/data/attributes/agent-pool-id'],
    ['agents', workspace({ 'execution-mode': 'agent' }), '/data/attributes/execution-mode'],
    [
      'a version that is none',
      workspace({ 'terraform-version': 'nonexisting' }),
      '/data/attributes/terraform-version',
    ],
    ['a yes that is none', workspace({ 'auto-apply': 'yes' }), '/data/attributes/auto-apply'],
    [
      'an unknown relation',
      workspace({}, { 'ssh-key': { data: { type: 'ssh-keys', id: 'sshkey-1' } } }),
      '/data/relationships/ssh-key',
    ],
    [
      'a binding against the rules',
      workspace({}, { 'tag-bindings': { data: bound({ 'a b': '' }) } }),
      '/data/relationships/tag-bindings/data/0/attributes/key',
    ],
  ])('%s is refused, and nothing is made', async (_, body, pointer) => {
    const { status, json } = await call('POST', LIST, body);
    expect([status, json.errors[0].source]).toEqual([422, { pointer }]);
    expect((await call('GET', `${LIST}/lost`)).status).toBe(404);
  });

  it('is not what says that nothing is wanted, nor what was read before', async () => {
    const body = workspace(
      { 'vcs-repo': null, 'hyok-enabled': false, 'setting-overwrites': { 'execution-mode': false } },
      { 'ssh-key': { data: null }, organization: { data: { type: 'organizations', id: 'acme' } } },
    );
    expect((await call('POST', LIST, body)).status).toBe(201);
    const { json } = await call('GET', `${LIST}/lost`);
    const again = await call('PATCH', `${LIST}/lost`, { data: json.data });
    expect([again.status, again.json.data.attributes.name]).toEqual([200, 'lost']);
    await call('DELETE', `${LIST}/lost`);
  });
});

describe('settings of a workspace', () => {
  it('are answered as they were sent, also when the opposite of the usual', async () => {
    const attributes = {
      name: 'settings',
      'allow-destroy-plan': false,
      'auto-apply': true,
      'file-triggers-enabled': false,
      'queue-all-runs': true,
      'speculative-enabled': false,
      'structured-run-output-enabled': false,
      'terraform-version': '~> 1.9.0',
      'working-directory': 'infra/',
      'execution-mode': 'local',
      'source-name': 'my-app',
    };
    const made = await call('POST', LIST, { data: { type: 'workspaces', attributes } });
    expect(made.json.data.attributes).toMatchObject(attributes);
    expect(made.json.data.attributes).toMatchObject({
      operations: false,
      'setting-overwrites': { 'execution-mode': true },
      permissions: { 'can-force-delete': true },
    });
    const changed = {
      'allow-destroy-plan': true,
      'file-triggers-enabled': true,
      'trigger-patterns': ['/a/**/*'],
    };
    for (const change of [changed, { 'trigger-patterns': [] }]) {
      const { json } = await call('PATCH', `${LIST}/settings`, {
        data: { type: 'workspaces', attributes: change },
      });
      expect(json.data.attributes).toMatchObject({ ...attributes, ...changed, ...change });
    }
    expect((await call('POST', `${LIST}/settings/actions/safe-delete`)).status).toBe(204);
  });

  it('give up, of two that exclude each other, the one that was not sent', async () => {
    const sent = async (attributes: object): Promise<unknown[]> => {
      const body = { data: { type: 'workspaces', attributes } };
      const { attributes: now } = (await call('PATCH', `${LIST}/one-of-two`, body)).json.data;
      const times = [now['auto-destroy-at'], now['auto-destroy-activity-duration']];
      return [now['trigger-patterns'], now['trigger-prefixes'], ...times];
    };
    await call('POST', LIST, { data: { type: 'workspaces', attributes: { name: 'one-of-two' } } });
    const at = '2100-01-01T00:00:00Z';
    await sent({ 'trigger-patterns': ['a/*'], 'auto-destroy-activity-duration': '3d' });
    expect(await sent({ 'trigger-prefixes': ['b'], 'auto-destroy-at': at })).toEqual([[], ['b'], at, null]);
    expect(await sent({ 'trigger-patterns': [] })).toEqual([[], [], at, null]);
    await sent({ 'trigger-patterns': ['a/*'], 'trigger-prefixes': [] });
    expect(await sent({ 'auto-destroy-activity-duration': '3d' })).toEqual([['a/*'], [], null, '3d']);
    expect(await sent({ 'trigger-prefixes': [] })).toEqual([[], [], null, '3d']);
    expect((await call('POST', `${LIST}/one-of-two/actions/safe-delete`)).status).toBe(204);
  });

  it('say that times of destruction are its own while there are any, unless somebody says whose they are', async () => {
    const inherits = async (attributes: object): Promise<boolean> => {
      const body = { data: { type: 'workspaces', attributes } };
      const { json } = await call('PATCH', `${LIST}/timed`, body);
      return json.data.attributes['inherits-project-auto-destroy'];
    };
    await call('POST', LIST, { data: { type: 'workspaces', attributes: { name: 'timed' } } });
    expect(await inherits({ description: 'a note' })).toBe(true);
    expect(await inherits({ 'auto-destroy-at': '2100-01-01T00:00:00Z' })).toBe(false);
    expect(await inherits({ 'auto-destroy-activity-duration': '3d' })).toBe(false);
    expect(await inherits({ 'auto-destroy-activity-duration': null })).toBe(true);
    expect(await inherits({ 'auto-destroy-activity-duration': '3d', 'auto-destroy-at': null })).toBe(false);
    expect(await inherits({ 'auto-destroy-at': null })).toBe(true);
    const said = { 'auto-destroy-activity-duration': '3d', 'inherits-project-auto-destroy': true };
    expect(await inherits(said)).toBe(true);
    expect((await call('POST', `${LIST}/timed/actions/safe-delete`)).status).toBe(204);
  });
});

describe('what a token may not see', () => {
  const token = async (name: string, policy: string, type = 'service'): Promise<string> => {
    await setPolicy(server.directory, name, policy);
    return issueToken(server.directory, { policies: [name], no_default_policy: true, type });
  };
  const tagsWithout = async (workspace: string, as: string): Promise<string[]> => {
    const query = `filter%5Bexclude%5D%5Btaggable%5D%5Bid%5D=${workspace}`;
    return namesIn((await call('GET', `organizations/acme/tags?${query}`, undefined, { as })).json);
  };

  it('is not told by what the exclude filter leaves out', async () => {
    const pool = 'path "api/v2/organizations/acme/tags" { capabilities = ["list"] }';
    const blind = await token('blind', pool);
    expect(await tagsWithout(ids['one'] ?? '', blind)).toEqual(['blue', 'red']);
    const seeing = await token(
      'seeing',
      `${pool} path "api/v2/organizations/acme/workspaces/${ids['one']}/relationships/tags" { capabilities = ["list"] }`,
    );
    expect(await tagsWithout(ids['one'] ?? '', seeing)).toEqual(['blue']);
    expect(await tagsWithout(ids['two'] ?? '', seeing)).toEqual(['blue', 'red']);
  });

  it('can neither be tagged nor lose a tag, and reads the same as what is not there', async () => {
    const pool = await call('GET', 'organizations/acme/tags?q=red');
    const tag = pool.json.data[0].id;
    const as = await token(
      'tagger',
      `path "api/v2/organizations/acme/tags/*" { capabilities = ["update"] }
       path "api/v2/organizations/acme/workspaces/${ids['two']}/relationships/tags" { capabilities = ["update"] }`,
    );
    const change = async (method: string, workspace: string) => {
      const body = { data: [{ type: 'workspaces', id: workspace }] };
      const { status, text } = await call(method, `tags/${tag}/relationships/workspaces`, body, { as });
      return [status, text];
    };
    const missing = `${(ids['one'] ?? '').slice(0, -6)}zzzzzz`;
    // The first workspace has the tag, the second one gets it and loses it.
    for (const method of ['POST', 'DELETE']) {
      expect(await change(method, ids['one'] ?? '')).toEqual([404, NOT_FOUND]);
      expect(await change(method, missing)).toEqual([404, NOT_FOUND]);
      expect(await change(method, ids['two'] ?? '')).toEqual([204, '']);
    }
    const on = await call('GET', `workspaces/${ids['one']}/relationships/tags`);
    expect(namesIn(on.json)).toContain('red');
  });

  it('is found by no filter, search or relation that is sent along', async () => {
    const as = await token('lister', `path "api/v2/${LIST}" { capabilities = ["list"] }`);
    expect(await listed('', as)).toEqual(['one', 'two']);
    expect(await listed('filter[tagged][0][key]=env', as)).toEqual([]);
    expect(await listed('filter[tagged][0][key]=red', as)).toEqual(['one']);
    expect(await listed('search[tags]=env', as)).toEqual([]);
    expect(await listed('search[exclude-tags]=env', as)).toEqual(['one', 'two']);
    expect(await listed('search[any-tags]=env,zone,e*', as)).toEqual([]);
    expect(await listed('search[any-tags]=*', as)).toEqual(['one', 'two']);
    expect(await listed('search[tags]=en*', as)).toEqual([]);
    expect(await listed('search[exclude-tags]=z*', as)).toEqual(['one', 'two']);
    const { json } = await call(
      'GET',
      `${LIST}?include=organization,project,tag_bindings,effective_tag_bindings`,
      undefined,
      { as },
    );
    expect(json.included).toEqual([]);
    expect(json.data[0].relationships['effective-tag-bindings']).toEqual({ links: expect.anything() });
    const reading = await token(
      'reader',
      `path "api/v2/${LIST}" { capabilities = ["list"] }
       path "api/v2/${LIST}/${ids['one']}" { capabilities = ["read"] }`,
    );
    expect(await listed('filter[tagged][0][key]=env', reading)).toEqual(['one']);
    expect(await listed('search[exclude-tags]=env', reading)).toEqual(['two']);
  });

  it('is not told by what somebody else was answered, and no batch token is taken for another', async () => {
    const blind = `path "api/v2/${LIST}" { capabilities = ["list"] }`;
    const lister = await token('batch-lister', blind, 'batch');
    const sight = `${blind} path "api/v2/${LIST}/*" { capabilities = ["read"] }`;
    const reader = await token('batch-reader', sight, 'batch');
    const total = async (key: string, as: string) => {
      const query = `filter[tagged][0][key]=${key}&page[number]=1000`;
      const { json } = await call('GET', `${LIST}?${query}`, undefined, { as });
      return json.meta.pagination['total-count'];
    };
    expect(await total('env', server.token)).toBe(2);
    expect(await total('env', reader)).toBe(2);
    expect(await total('env', lister)).toBe(0);
    expect(await total('zone', lister)).toBe(0);
    expect(await total('zone', reader)).toBe(1);
    expect(await total('zone', server.token)).toBe(1);
  });

  it('takes no workspaces in, and gives none', async () => {
    const as = await token(
      'mover',
      `path "api/v2/${LIST}/*" { capabilities = ["update", "read"] }
       path "api/v2/${LIST}" { capabilities = ["create"] }`,
    );
    const into = (id: string) => ({
      data: {
        type: 'workspaces',
        attributes: { name: 'moved' },
        relationships: { project: { data: { type: 'projects', id } } },
      },
    });
    for (const id of [project, `${project.slice(0, -6)}zzzzzz`]) {
      const made = await call('POST', LIST, into(id), { as });
      expect([made.status, made.text]).toEqual([404, NOT_FOUND]);
      const moved = await call('PATCH', `workspaces/${ids['two']}`, into(id), { as });
      expect([moved.status, moved.text]).toEqual([404, NOT_FOUND]);
    }
  });

  it('leaves the list of organizations to what the token reaches', async () => {
    await call('POST', 'organizations', { data: { type: 'organizations', attributes: { name: 'other' } } });
    const one = await token('one-org', `path "api/v2/${LIST}" { capabilities = ["list"] }`);
    const seen = await call('GET', 'organizations', undefined, { as: one });
    expect(namesIn(seen.json)).toEqual(['acme']);
    expect(seen.json.data[0].attributes.email).toBeNull();
    const none = await token('no-org', 'path "transit/*" { capabilities = ["read"] }');
    expect((await call('GET', 'organizations?q=acme', undefined, { as: none })).json).toEqual({ data: [] });
    expect((await call('GET', 'organizations?q=ops@acme', undefined, { as: one })).json).toEqual({
      data: [],
    });
  });
});

describe('relations that are sent along', () => {
  it('have the resources that were asked for, each once', async () => {
    const { json } = await call(
      'GET',
      `${LIST}?include=effective_tag_bindings,project,organization&search[name]=o`,
    );
    const [one] = json.data;
    const related = one.relationships['effective-tag-bindings'].data;
    expect(related).toHaveLength(2);
    const found = new Map(
      json.included.map((resource: { id: string; type: string }) => [
        `${resource.type} ${resource.id}`,
        resource,
      ]),
    );
    expect(found.size).toBe(json.included.length);
    expect(
      related.map(({ type, id }: { type: string; id: string }) => found.get(`${type} ${id}`)),
    ).toMatchObject([
      { attributes: { key: 'env', value: 'prod' } },
      {
        attributes: { key: 'zone', value: 'eu' },
        links: { 'inherited-from': `/api/v2/projects/${project}` },
        relationships: { 'inherited-from': { data: { id: project, type: 'projects' } } },
      },
    ]);
    expect(found.get('organizations acme')).toMatchObject({ attributes: { email: 'ops@acme.example' } });
    expect(found.get(`projects ${project}`)).toMatchObject({ attributes: { name: 'platform' } });
  });

  it('are none for runs and states, of which a workspace has none', async () => {
    const { status, json } = await call(
      'GET',
      `workspaces/${ids['one']}?include=current_run,current-state-version`,
    );
    expect([status, json.included]).toEqual([200, []]);
  });
});
