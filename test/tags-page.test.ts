import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '../src/operations/catalogue.ts';
import { loadRoutes, routesUnder } from '../src/operations/routes.ts';
import { DirectoryHere } from './cli/directory-here.ts';
import { emptyPlace, MASTER_KEY, removePlace } from './e2e/harness.ts';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  startServer,
  type TestServer,
} from './servers/serving.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/tags.md'), 'utf8');
const section = (title: string): string =>
  page.split('\n## ').find((part) => part.startsWith(`${title}\n`)) ?? '';
const blocks = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block = '']) => block);

describe('the page about tags', () => {
  it('has every path of the API with what it needs, and no other', async () => {
    const routes = routesUnder(await loadRoutes(catalogue), 'json-api');
    const served = routes
      .map(({ route, operation }) => {
        const path = route.parts.map((part) => ('text' in part ? part.text : `:${part.param}`)).join('');
        return `${route.method} /${path} ${operation.anyToken ? 'any token' : operation.capability}`;
      })
      .filter((line) => !line.startsWith('GET /ping'));
    const told = [...section('Paths').matchAll(/^\| `([^`]+)` \| .* \| (\w[\w ]*) \|$/gm)].map(
      ([, path, needed]) => `${path} ${needed}`,
    );
    expect(told.sort()).toEqual(served.sort());
  });

  it('shows commands for many tags at once that work one after the other as they stand', async () => {
    const place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
    try {
      const [commands = ''] = blocks(section('With many at once'), 'sh');
      const { exitCode, stdout, stderr } = await place.shell(`set -e\n${commands}`);
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(stderr).toContain('No changes needed.');
      expect(stdout).toContain('billing-prod\n');
    } finally {
      removePlace(place);
    }
  });

  it('shows a file that is one', async () => {
    const place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'acme' });
    try {
      const [file = ''] = blocks(section('With many at once'), 'yaml');
      const { exitCode, stdout } = await place.shell(
        'coffer init -q && coffer orgs create acme -q && coffer tags apply - --format yaml --yes',
        { input: file },
      );
      expect(exitCode).toBe(0);
      expect(stdout).toContain('+ project Shop: owner=shop');
    } finally {
      removePlace(place);
    }
  });

  it('shows lines for clients that the suite of clients tries as they stand, but for the host', () => {
    const tried = new Set(
      globSync('test/clients/**/*', { cwd: root })
        .map((path) => join(root, path))
        .filter((path) => statSync(path).isFile())
        .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
        .map((line) => line.trim()),
    );
    const shown = ['hcl', 'python']
      .flatMap((language) => blocks(section('Clients'), language))
      .flatMap((block) => block.split('\n'))
      .map((line) => line.trim())
      .filter((line) => !/^(hostname|organization|tags) += ["[]/.test(line));
    expect(shown.filter((line) => !tried.has(line))).toEqual([]);
  });
});

describe('policies on the page about tags', () => {
  const MEDIA_TYPE = 'application/vnd.api+json';
  const policies = new Map(
    [...page.matchAll(/<!-- policy: (\w+) -->\n```hcl\n([\s\S]*?)```/g)].map(([, name = '', text = '']) => [
      name,
      text,
    ]),
  );
  const tokens = new Map<string, string>();
  let server: TestServer;
  let ids: Readonly<Record<string, string>> = {};
  const afterwards = cleanUpAfterAll();

  const call = async (token: string, method: string, path: string, body?: object) => {
    const target = path.replace(/[A-Z]+/g, (name) => ids[name] ?? name);
    const { status, json } = await send(server.address, method, `/api/v2/${target}`, {
      body,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': method === 'GET' ? undefined : MEDIA_TYPE,
      },
    });
    return { status, json };
  };
  const workspace = (name: string) => ({ data: { type: 'workspaces', attributes: { name } } });
  const tags = (name: string) => ({ data: [{ type: 'tags', attributes: { name } }] });

  beforeAll(async () => {
    server = await startServer({}, afterwards);
    await call(server.token, 'POST', 'organizations', {
      data: { type: 'organizations', attributes: { name: 'acme' } },
    });
    const made = await call(server.token, 'POST', 'organizations/acme/workspaces', workspace('web'));
    const pool = await call(server.token, 'POST', 'organizations/acme/tags', tags('env:prod'));
    ids = { WS: made.json.data.id, TAG: pool.json.data[0].id };
    for (const [name, text] of policies) {
      await setPolicy(server.directory, name, text);
      tokens.set(name, await issueToken(server.directory, { policies: [name] }));
    }
    await setPolicy(
      server.directory,
      'listing',
      'path "api/v2/organizations/acme/+" { capabilities = ["list"] }',
    );
    const home = 'path "api/v2/organizations/acme/workspaces';
    const looking = `${home}" { capabilities = ["list"] }\n${home}/+" { capabilities = ["read"] }`;
    await setPolicy(server.directory, 'looking', looking);
    tokens.set('looking', await issueToken(server.directory, { policies: ['listing', 'looking'] }));
    tokens.set('listing', await issueToken(server.directory, { policies: ['listing'] }));
  });

  it('are those that are tried here or as commands', () => {
    expect([...policies.keys()]).toEqual(['everything', 'reading', 'tagging', 'keeping', 'init']);
  });

  it.each<[string, string, string, object | undefined, number]>([
    ['everything', 'GET', 'organizations/acme', undefined, 200],
    ['everything', 'POST', 'organizations/acme/workspaces', workspace('new'), 201],
    ['everything', 'POST', 'organizations/acme/tags', tags('new'), 201],
    ['everything', 'POST', 'workspaces/WS/relationships/tags', tags('env:test'), 204],
    ['everything', 'DELETE', 'organizations/acme', undefined, 404],
    ['reading', 'GET', 'organizations/acme/workspaces?search%5Btags%5D=env:prod', undefined, 200],
    ['reading', 'GET', 'workspaces/WS/relationships/tags', undefined, 200],
    ['reading', 'GET', 'workspaces/WS', undefined, 200],
    ['reading', 'POST', 'workspaces/WS/relationships/tags', tags('env:test'), 404],
    ['reading', 'POST', 'organizations/acme/tags', tags('other'), 404],
    ['tagging', 'GET', 'organizations/acme/tags', undefined, 200],
    ['tagging', 'POST', 'workspaces/WS/relationships/tags', tags('team:core'), 204],
    ['tagging', 'DELETE', 'workspaces/WS/relationships/tags', tags('team:core'), 204],
    ['tagging', 'DELETE', 'organizations/acme/tags', { data: [] }, 404],
    ['tagging', 'POST', 'organizations/acme/workspaces', workspace('other'), 404],
    ['init', 'GET', 'organizations/acme/entitlement-set', undefined, 200],
    ['init', 'GET', 'organizations/acme/workspaces?search%5Btags%5D=app:billing', undefined, 200],
    ['init', 'POST', 'organizations/acme/workspaces', workspace('made-by-init'), 201],
    ['init', 'POST', 'workspaces/WS/relationships/tags', tags('app:billing'), 204],
    ['init', 'PATCH', 'workspaces/WS', workspace('web'), 200],
    ['init', 'DELETE', 'workspaces/WS', undefined, 404],
  ])('with "%s", %s %s (with %j) is answered with its status', async (name, method, path, body, status) => {
    expect((await call(tokens.get(name) ?? '', method, path, body)).status).toBe(status);
  });

  it('with "tagging", a tag goes on a workspace by the tag', async () => {
    const body = { data: [{ type: 'workspaces', id: ids['WS'] }] };
    const { status } = await call(
      tokens.get('tagging') ?? '',
      'POST',
      'tags/TAG/relationships/workspaces',
      body,
    );
    expect(status).toBe(204);
  });

  const here = (name: string) =>
    DirectoryHere.make({ COFFER_ADDR: server.address, COFFER_TOKEN: tokens.get(name), COFFER_ORG: 'acme' });

  it('with "tagging", commands tag and untag by names', async () => {
    const directory = here('tagging');
    await directory.ok('tags attach env:prod --workspace web');
    expect(await directory.ok('tags of web')).toContain('env:prod');
    await directory.ok('tags detach env:prod --where-name we*');
    await directory.ok('workspaces tag web env:prod');
    await directory.ok('workspaces untag web env:prod');
    expect(await directory.ok('tags of web')).not.toContain('env:prod');
  });

  it.each([
    ['tagging', 'the projects of acme'],
    ['keeping', 'the projects of acme'],
    ['listing', 'the KEY=VALUE tags of '],
  ])('with "%s", nothing is exported or copied that the token sees only in part', async (name, unseen) => {
    const directory = here(name);
    directory.write(
      'all.yaml',
      'workspaces:\n  web: { bindings: { a: b }, project: Default Project }\nprojects: {}\n',
    );
    const refused = (line: string, more = {}) => directory.refused(line, 3, { environment: more });
    const problem = `the token is not allowed to list ${unseen}`;
    expect(await refused('tags export')).toContain(problem);
    expect(await refused('tags apply all.yaml --dry-run')).toContain(problem);
    const from = `tags import --from tfe --address ${server.address}`;
    expect(await refused(from, { COFFER_ADDR: undefined })).toContain(problem);
  });

  it('with "reading", everything is exported, and with "tagging", a file of tags alone can be applied', async () => {
    expect(await here('reading').ok('tags export')).toContain('web');
    const tagging = here('tagging');
    tagging.write('tags.yaml', 'workspaces:\n  web: [env:prod]\n');
    expect(await tagging.ok('tags apply tags.yaml --dry-run')).toContain('+ web: env:prod');
  });

  it('keys of workspaces can be applied without seeing those of projects, which an export needs', async () => {
    const looking = here('looking');
    const unseen = 'the token is not allowed to list the KEY=VALUE tags of Default Project';
    expect(await looking.refused('tags export', 3)).toContain(unseen);
    looking.write('web.yaml', 'workspaces:\n  web: { bindings: { a: b }, project: Default Project }\n');
    expect(await looking.ok('tags apply web.yaml --dry-run')).toContain('+ web: a=b\n');
    looking.write('all.yaml', 'projects:\n  Default Project: { a: b }\n');
    expect(await looking.refused('tags apply all.yaml --dry-run', 3)).toContain(unseen);
  });
});
