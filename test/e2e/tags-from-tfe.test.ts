import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

const asked: string[] = [];
let limited = 0;
let place: Place;

/** As another server answers that pages, knows neither projects nor what can be included, and may not be asked too often. */
function answerOf({ url = '', headers }: IncomingMessage): { status: number; body: unknown; wait?: string } {
  const { pathname, searchParams } = new URL(url, 'http://x');
  asked.push(pathname);
  if (headers.authorization !== 'Bearer theirs')
    return { status: 401, body: { errors: [{ status: '401' }] } };
  if (limited++ % 3 === 0) return { status: 429, body: { errors: [{ status: '429' }] }, wait: '0.05' };
  if (searchParams.has('include') && pathname.endsWith('/workspaces')) {
    return { status: 400, body: { errors: [{ status: '400', title: 'Invalid include parameter' }] } };
  }
  const all: Readonly<Record<string, readonly object[]>> = {
    '/api/v2/organizations/theirs/tags': ['env:prod', 'idle'].map((name, index) => ({
      id: `tag-${index}`,
      type: 'tags',
      attributes: { name, 'instance-count': index === 0 ? 130 : 0 },
    })),
    '/api/v2/organizations/theirs/workspaces': Array.from({ length: 130 }, (_, index) => ({
      id: `ws-${index}`,
      type: 'workspaces',
      attributes: { name: `web-${String(index).padStart(3, '0')}`, 'tag-names': ['env:prod'] },
      relationships: {},
    })),
  };
  const items = all[pathname];
  if (items === undefined) return { status: 404, body: { errors: [{ status: '404', title: 'not found' }] } };
  const number = Number(searchParams.get('page[number]'));
  const size = Number(searchParams.get('page[size]'));
  const pages = Math.ceil(items.length / size);
  const pagination = {
    'current-page': number,
    'prev-page': null,
    'next-page': number < pages ? number + 1 : null,
    'total-pages': pages,
    'total-count': items.length,
  };
  const data = items.slice((number - 1) * size, number * size);
  return { status: 200, body: { data, links: { self: url }, meta: { pagination } } };
}

const server = createServer((request, response) => {
  const { status, body, wait } = answerOf(request);
  if (wait) response.setHeader('x-ratelimit-reset', wait);
  response.writeHead(status, { 'content-type': 'application/vnd.api+json' }).end(JSON.stringify(body));
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'ours' });
  await place.ok('init');
  await place.ok('orgs create ours');
});

afterAll(() => {
  server.close();
  removePlace(place);
});

async function importFrom(more: readonly string[], token = 'theirs') {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const words = [
    binary,
    'tags',
    'import',
    '--from',
    'tfe',
    '--address',
    address,
    '--from-org',
    'theirs',
    ...more,
  ];
  return promisify(execFile)(process.execPath, words, { env: place.environment({ TFE_TOKEN: token }) }).catch(
    (error: unknown) => error as { stdout: string; stderr: string; code: number },
  );
}

it('what another server has is planned, brought into the local store, and found there the second time', async () => {
  const { stdout } = await importFrom(['--dry-run']);
  expect(stdout).toContain('Plan: 262 to add, 0 to change, 0 to remove.');
  expect(await place.ok('tags list')).toBe('');
  expect((await importFrom([])).stderr).toBe('Done: 262 added, 0 changed, 0 removed.\n');
  const [prod] = JSON.parse(await place.ok('tags list env:prod -o json')).data;
  expect(prod.attributes['instance-count']).toBe(130);
  expect(await place.ok('tags list')).toBe('env:prod\nidle');
  expect((await importFrom([])).stderr).toBe('No changes needed.\n');
  expect(asked.length).toBeGreaterThan(10);
});

it('an organization that is not in the local store is told to be created there', async () => {
  expect(await importFrom(['--org', 'new'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(
      '(create it in the local store, without --address: "coffer orgs create new")',
    ),
  });
});

it('a token that is not theirs brings nothing', async () => {
  expect(await importFrom([], 'ours')).toMatchObject({ code: 4 });
});

it.each([
  ['no address', 'tags import --from tfe'],
  ['a file beside it', 'tags import all.csv --from tfe --address http://127.0.0.1:1'],
  ['neither file nor server', 'tags import'],
])('an import with %s is refused', async (_, line) => {
  expect((await place.run(line)).exitCode).toBe(2);
});
