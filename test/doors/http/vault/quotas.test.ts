import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { remove } from '../../../../src/operations/sys/quotas.ts';
import {
  cleanUpAfterAll,
  issueToken,
  locally,
  type Reply,
  type SendOptions,
  send,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';

let server: TestServer;
let auditFile: string;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  auditFile = join(temporaryDirectory(afterwards), 'audit.log');
  server = await startServer({ auditFile }, afterwards);
  await root('POST', 'sys/auth/approle', { type: 'approle' });
  await root('POST', 'sys/auth/userpass', { type: 'userpass' });
});

const ask = (method: string, path: string, options: SendOptions = {}) =>
  send(server.address, method, path.startsWith('/') ? path : `/v1/${path}`, options);
const root = (method: string, path: string, body?: unknown) =>
  ask(method, path, { token: server.token, body });
const problem = ({ status, json }: Reply) => [status, ...(json?.errors ?? [])];

const LIMITS = 'sys/quotas/rate-limit';
/** So long that no interval ends while a test runs. */
const LONG = { interval: '1h' };

beforeEach(async () => {
  const { json } = await root('LIST', LIMITS);
  for (const name of json.data?.keys ?? []) await root('DELETE', `${LIMITS}/${name}`);
});

/** How many of so many requests are answered with something else than 429. */
async function answered(count: number, request: () => Promise<Reply>): Promise<number> {
  let passed = 0;
  for (let index = 0; index < count; index++) if ((await request()).status !== 429) passed += 1;
  return passed;
}

describe('a rate limit', () => {
  it('is kept and told in the words of the family', async () => {
    expect(problem(await root('LIST', LIMITS))).toEqual([404]);
    expect((await root('POST', `${LIMITS}/g`, { rate: '500.5', path: '' })).status).toBe(204);
    expect(JSON.stringify((await root('GET', `${LIMITS}/g`)).json.data)).toBe(
      '{"block_interval":0,"inheritable":true,"interval":1,"name":"g","path":"","rate":500.5,"role":"","type":"rate-limit"}',
    );
    await root('POST', `${LIMITS}/g`, { rate: 600 });
    await root('POST', `${LIMITS}/t`, { rate: 700, path: 'transit/', ...LONG });
    expect((await root('GET', `${LIMITS}/t`)).json.data).toMatchObject({ path: 'transit/', interval: 3600 });
    expect((await root('LIST', LIMITS)).json.data).toEqual({ keys: ['g', 't'] });
    for (let again = 0; again < 2; again++) expect((await root('DELETE', `${LIMITS}/g`)).status).toBe(204);
    expect(problem(await root('GET', `${LIMITS}/g`))).toEqual([404]);
  });

  it.each([
    [{}, "'rate' is invalid"],
    [{ rate: 0 }, "'rate' is invalid"],
    [{ rate: 'many' }, "'rate' is invalid"],
    [{ rate: 5, path: 'nosuch/' }, 'invalid mount path "nosuch/"'],
    [{ rate: 5, path: 'transit', role: 'x' }, 'a role needs the path of a login method'],
    [{ rate: 5, path: 'transit' }, 'quota rule with similar properties exists under the name "bad"'],
  ])('can not be %j', async (body, text) => {
    await root('POST', `${LIMITS}/bad`, { rate: 1000, path: 'transit' });
    expect(problem(await root('POST', `${LIMITS}/other`, body))).toEqual([400, text]);
  });

  it.each([
    ['transit', 'transit/'],
    ['transit/', 'transit/'],
    ['auth/approle', 'auth/approle/'],
    ['auth/token/', 'auth/token/'],
    ['sys', 'sys/'],
    ['sys/health', 'sys/health'],
    ['transit/encrypt/orders', 'transit/encrypt/orders'],
    ['auth/approle/lo*', 'auth/approle/lo*'],
  ])('of the path %s is told with that of peers, a slash behind a mount', async (path, told) => {
    await root('POST', `${LIMITS}/of-path`, { rate: 500, path });
    const { data } = (await root('GET', `${LIMITS}/of-path`)).json;
    expect([data.path, data.inheritable]).toEqual([told, false]);
  });

  it('is inherited if somebody said so', async () => {
    await root('POST', `${LIMITS}/said`, { rate: 500, path: 'transit', inheritable: true });
    expect((await root('GET', `${LIMITS}/said`)).json.data.inheritable).toBe(true);
    await root('POST', `${LIMITS}/said`, { rate: 600, path: 'transit' });
    expect((await root('GET', `${LIMITS}/said`)).json.data.inheritable).toBe(false);
  });

  it.each([['written again'], ['deleted and created']])(
    'counts from the beginning once it is %s',
    async (how) => {
      const limit = { rate: 2, path: 'transit/random', ...LONG };
      const draw = () => root('POST', 'transit/random', {});
      await root('POST', `${LIMITS}/again`, limit);
      expect(await answered(3, draw)).toBe(2);
      if (how !== 'written again') await root('DELETE', `${LIMITS}/again`);
      await root('POST', `${LIMITS}/again`, limit);
      expect(await answered(3, draw)).toBe(2);
    },
  );

  it('counts strangers before anything else, and says why', async () => {
    await root('POST', `${LIMITS}/t`, { rate: 3, path: 'transit', ...LONG });
    const stranger = () => ask('POST', 'transit/random', { token: 'cfr.nobody', body: {} });
    expect(await answered(5, stranger)).toBe(3);
    const last = await ask('POST', 'transit/random', { token: server.token, body: {} });
    expect(problem(last)).toEqual([429, 'request path "transit/random": rate limit quota exceeded']);
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(3000);
    expect((await root('GET', 'sys/mounts')).status).toBe(200);
  });

  it('is for logins of one role alone, where that is said', async () => {
    await root('POST', 'auth/approle/role/ci', {});
    await root('POST', 'auth/approle/role/other', {});
    const logIn = async (role: string) => {
      const { role_id } = (await root('GET', `auth/approle/role/${role}/role-id`)).json.data;
      const { secret_id } = (await root('POST', `auth/approle/role/${role}/secret-id`)).json.data;
      return ask('POST', 'auth/approle/login', { body: { role_id, secret_id } });
    };
    await root('POST', `${LIMITS}/ci`, { rate: 2, path: 'auth/approle', role: 'ci', ...LONG });
    expect(await answered(4, () => logIn('ci'))).toBe(2);
    expect((await logIn('other')).status).toBe(200);
    await root('POST', `${LIMITS}/alice`, { rate: 1, path: 'auth/userpass', role: 'Alice', ...LONG });
    expect((await root('GET', `${LIMITS}/alice`)).json.data.role).toBe('alice');
    const guess = (name: string) => ask('POST', `auth/userpass/login/${name}`, { body: { password: 'x' } });
    expect(await answered(3, () => guess('Alice'))).toBe(1);
    expect((await guess('bob')).status).toBe(400);
  });

  it('holds for every spelling of its path', async () => {
    await root('POST', `${LIMITS}/ada`, { rate: 2, path: 'auth/userpass/login/Ada', ...LONG });
    const spelled = ['ada', 'ADA', '%61da', 'Ada', 'ad%41'];
    const guess = (name = '') => ask('POST', `auth/userpass/login/${name}`, { body: { password: 'x' } });
    expect(await answered(5, () => guess(spelled.pop()))).toBe(2);
    await root('POST', `${LIMITS}/acme`, { rate: 2, path: 'api/v2/organizations/acme', ...LONG });
    const names = ['acme', '%61cme', 'ac%6De', 'acme'];
    const headers = { authorization: `Bearer ${server.token}` };
    const tags = (name = '') => ask('GET', `/api/v2/organizations/${name}/tags`, { headers });
    expect(await answered(4, () => tags(names.pop()))).toBe(2);
  });

  it('of an organization counts what is asked by identifiers of its workspaces and tags', async () => {
    const headers = {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/vnd.api+json',
    };
    const api = (method: string, path: string, type?: string, attributes: object = {}) =>
      ask(method, `/api/v2/${path}`, {
        headers,
        body: type === undefined ? undefined : { data: { type, attributes } },
      });
    await api('POST', 'organizations', 'organizations', { name: 'limited', email: 'a@b.example' });
    const made = await api('POST', 'organizations/limited/workspaces', 'workspaces', { name: 'web' });
    await api('POST', 'organizations', 'organizations', { name: 'free', email: 'a@b.example' });
    const other = await api('POST', 'organizations/free/workspaces', 'workspaces', { name: 'web' });
    const [id, freeId] = [made, other].map(({ json }) => json.data.id);
    await root('POST', `${LIMITS}/limited`, { rate: 4, path: 'api/v2/organizations/limited', ...LONG });
    const asked = [
      `workspaces/${id}`,
      'organizations/limited/tags',
      `workspaces/${id}/tag-bindings`,
      `workspaces/%77${id.slice(1)}`,
      `workspaces/${id}`,
    ];
    expect(await answered(5, () => api('GET', asked.pop() ?? ''))).toBe(4);
    expect(await answered(5, () => api('GET', `workspaces/${freeId}`))).toBe(5);
    await root('POST', `${LIMITS}/tags`, {
      rate: 1,
      path: 'api/v2/organizations/limited/workspaces',
      ...LONG,
    });
    expect(await answered(3, () => api('GET', `workspaces/${id}`))).toBe(1);
  });

  it('is told in each answer, and recorded, if the configuration says so', async () => {
    const config = {
      enable_rate_limit_response_headers: true,
      enable_rate_limit_audit_logging: true,
      rate_limit_exempt_paths: 'transit/hash',
    };
    expect((await root('POST', 'sys/quotas/config', config)).status).toBe(204);
    expect((await root('GET', 'sys/quotas/config')).json.data).toEqual({
      ...config,
      rate_limit_exempt_paths: ['transit/hash'],
    });
    await root('POST', `${LIMITS}/t`, { rate: 1, path: 'transit', ...LONG });
    const first = await root('POST', 'transit/random', {});
    expect([first.status, first.headers]).toMatchObject([
      200,
      { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3600' },
    ]);
    const second = await root('POST', 'transit/random', {});
    expect([second.status, second.headers['x-ratelimit-remaining']]).toEqual([429, '0']);
    expect((await root('POST', 'transit/hash', { input: '' })).headers).not.toHaveProperty(
      'x-ratelimit-limit',
    );
    expect(readFileSync(auditFile, 'utf8').trim().split('\n').at(-2)).toContain('rate limit quota exceeded');
    await root('POST', 'sys/quotas/config', {
      enable_rate_limit_response_headers: false,
      enable_rate_limit_audit_logging: false,
    });
    const lines = () => readFileSync(auditFile, 'utf8').split('\n').length;
    const before = lines();
    expect((await root('POST', 'transit/random', {})).status).toBe(429);
    expect(lines()).toBe(before);
  });

  it('holds for the other API, and never for probes', async () => {
    await root('POST', `${LIMITS}/all`, { rate: 4, ...LONG });
    const tags = () =>
      ask('GET', '/api/v2/organizations', { headers: { authorization: `Bearer ${server.token}` } });
    const replies = [await tags(), await tags(), await tags(), await tags(), await tags()];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
    expect(replies[4]?.json.errors[0]).toMatchObject({ status: '429' });
    expect(await answered(10, () => ask('GET', 'sys/health'))).toBe(10);
    // Nobody can ask the server any more to take it back: whoever has the store can.
    await locally(server.directory, (call) => remove.run(call, { name: 'all' }));
    expect((await tags()).status).toBe(200);
  });

  it('takes the right to set it', async () => {
    const token = await issueToken(server.directory, { policies: ['default'] });
    expect((await ask('POST', `${LIMITS}/mine`, { token, body: { rate: 1 } })).status).toBe(403);
  });
});
