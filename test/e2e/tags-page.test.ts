import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { callerOf, named } from '../doors/http/json-api/api.ts';
import {
  cleanUpAfterAll,
  issueToken,
  MASTER_KEY,
  setPolicy,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../servers/serving.ts';
import { binary } from './harness.ts';

/** Follows docs/tags.md: its commands on a store of their own, its policies with tokens that have them. */

const page = readFileSync(fileURLToPath(new URL('../../docs/tags.md', import.meta.url)), 'utf8');
const policies = [...page.matchAll(/<!-- policy: (\w+) -->\n```hcl\n([\s\S]*?)```/g)];
const commands = [...page.matchAll(/<!-- tested -->\n```sh\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');

let server: TestServer;
const afterwards = cleanUpAfterAll();
const call = callerOf(() => server);
let workspace = '';
let tag = '';

beforeAll(async () => {
  server = await startServer({}, afterwards);
  const directory = temporaryDirectory(afterwards);
  const output = execFileSync('bash', ['-c', ['set -euo pipefail', ...commands].join('\n')], {
    cwd: directory,
    env: {
      PATH: [dirname(binary), dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: directory,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      COFFER_STORE: server.directory,
      COFFER_MASTER_KEY: MASTER_KEY,
    },
    encoding: 'utf8',
  });
  expect(output).toMatch(/^env=dev$/m);
  expect(output.lastIndexOf('env=prod')).toBeGreaterThan(output.indexOf('env=dev'));
  for (const [, name = '', text = ''] of policies) await setPolicy(server.directory, name, text);
  workspace = (await call('GET', 'organizations/acme/workspaces/billing')).json.data.id;
  tag = (await call('GET', 'organizations/acme/tags')).json.data[0].id;
});

describe('the policies of the page about tags', () => {
  const cases: readonly [
    policy: string,
    method: string,
    path: string,
    body: object | undefined,
    status: number,
  ][] = [
    ['reading', 'GET', 'organizations/acme/workspaces?filter[tagged][0][key]=env', undefined, 200],
    ['reading', 'GET', 'workspaces/WS/effective-tag-bindings', undefined, 200],
    ['reading', 'POST', 'workspaces/WS/relationships/tags', { data: named('new') }, 404],
    ['reading', 'DELETE', 'workspaces/WS', undefined, 404],
    ['keeping', 'POST', 'workspaces/WS/relationships/tags', { data: named('new') }, 204],
    [
      'keeping',
      'POST',
      'tags/TAG/relationships/workspaces',
      { data: [{ type: 'workspaces', id: 'WS' }] },
      204,
    ],
    ['keeping', 'GET', 'workspaces/WS/tag-bindings', undefined, 200],
    [
      'keeping',
      'PATCH',
      'organizations/acme/tags/new',
      { data: { type: 'tags', attributes: { name: 'newer' } } },
      200,
    ],
    ['keeping', 'PATCH', 'workspaces/WS', { data: { type: 'workspaces', attributes: { name: 'x' } } }, 404],
    ['keeping', 'DELETE', 'organizations/acme/tags', { data: [{ type: 'tags', id: 'TAG' }] }, 404],
    [
      'everything',
      'POST',
      'organizations/acme/projects',
      { data: { type: 'projects', attributes: { name: 'made' } } },
      201,
    ],
    ['everything', 'GET', 'organizations/acme/entitlement-set', undefined, 200],
    ['everything', 'GET', 'organizations/other', undefined, 404],
  ];

  it.each(cases)(
    'as %s: %s %s %j is answered with what it says',
    async (policy, method, path, body, status) => {
      const as = await issueToken(server.directory, { policies: [policy], no_default_policy: true });
      const filled = (text: string): string => text.replaceAll('WS', workspace).replaceAll('TAG', tag);
      const sent = body === undefined ? undefined : JSON.parse(filled(JSON.stringify(body)));
      const reply = await call(method, filled(path), sent, { as });
      expect([reply.status, reply.text.slice(0, 200)]).toEqual([status, expect.anything()]);
    },
  );
});
