import { beforeAll, describe, expect, it } from 'vitest';
import { cleanUpAfterAll } from '../../../servers/serving.ts';
import { type LoginServer, loginServer } from './logins.ts';

let world: LoginServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  world = await loginServer(afterwards);
  await world.enable('userpass', 'userpass');
  await world.root('POST', 'auth/userpass/users/ann', { password: 'right' });
});

const PAGE = 'https://ui.example.com';
const settings = (body: object) => world.root('POST', 'sys/config/cors', body);
const from = (origin: string, method = 'GET', path = 'sys/health', headers: object = {}) =>
  world.anybody(method, path, { headers: { origin, ...headers } });
const preflight = (origin: string, method = 'LIST') =>
  from(origin, 'OPTIONS', 'transit/keys', { 'access-control-request-method': method });
const login = (origin: string) =>
  world.anybody('POST', 'auth/userpass/login/ann', { headers: { origin }, body: { password: 'right' } });

describe('web pages', () => {
  it('get what all others get, and no login, until somebody lets them', async () => {
    expect((await world.root('GET', 'sys/config/cors')).json.data).toEqual({ enabled: false });
    const { status, headers } = await from(PAGE);
    expect([status, headers['access-control-allow-origin'], headers['vary']]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    expect((await preflight(PAGE)).status).toBe(405);
    expect((await login(PAGE)).status).toBe(403);
  });

  it('of some origins may use the API, and no others then, until it is taken back', async () => {
    expect((await settings({ allowed_origins: PAGE, allowed_headers: ['X-More'] })).status).toBe(204);
    expect((await world.root('GET', 'sys/config/cors')).json.data).toEqual({
      allow_credentials: false,
      allowed_headers: expect.arrayContaining(['Content-Type', 'X-Vault-Token', 'X-More']),
      allowed_origins: [PAGE],
      enabled: true,
    });
    const seen = await from(PAGE);
    expect(seen.status).toBe(200);
    expect(seen.headers).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' });
    const denied = await from(PAGE, 'GET', 'transit/keys/x');
    expect([denied.status, denied.headers['access-control-allow-origin']]).toEqual([403, PAGE]);
    expect((await login(PAGE)).status).toBe(200);
    const asked = await preflight(PAGE);
    expect([asked.status, asked.text]).toEqual([200, '']);
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'DELETE,GET,OPTIONS,POST,PUT,LIST,SCAN',
      'access-control-allow-headers': expect.stringMatching(/(^|,)X-More(,|$)/),
      'access-control-max-age': '300',
      vary: 'Origin',
    });
    expect(asked.headers).not.toHaveProperty('access-control-allow-credentials');
    expect((await preflight(PAGE, 'PATCH')).status).toBe(405);
    for (const other of ['https://evil.example.com', 'http://ui.example.com', 'null']) {
      for (const answer of [await from(other), await preflight(other), await login(other)]) {
        expect([answer.status, answer.json]).toEqual([403, { errors: ['origin not allowed'] }]);
      }
    }
    expect((await world.anybody('GET', 'sys/health')).headers).not.toHaveProperty('vary');
    expect((await world.root('DELETE', 'sys/config/cors')).status).toBe(204);
    expect((await from('https://evil.example.com')).status).toBe(200);
    expect((await login(PAGE)).status).toBe(403);
  });

  it('of any origin may use it where that is said alone', async () => {
    expect((await settings({ allowed_origins: ['*'], allow_credentials: true })).status).toBe(204);
    expect((await from('https://any.example.org')).headers).toMatchObject({
      'access-control-allow-origin': 'https://any.example.org',
      'access-control-allow-credentials': 'true',
    });
    await world.root('DELETE', 'sys/config/cors');
  });

  it.each([
    ['none', {}, 'at least one origin or the wildcard must be provided'],
    [
      'any and some',
      { allowed_origins: ['*', PAGE] },
      "to allow all origins the '*' must be the only value for allowed_origins",
    ],
  ])('are not let in with %s', async (_, body, message) => {
    const { status, json } = await settings(body);
    expect([status, json.errors]).toEqual([400, [message]]);
  });
});
