import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { emptyPlace, type Place, removePlace } from './harness.ts';

/* What answers a login, and is no Coffer: a server of the family with more than we understand, or another program. */

let server: Server;
let user: Place;
let status = 200;
let body: unknown;
/** What the server was asked for since the test began, and with which token. */
let asked: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    const { method, url, headers } = request;
    asked.push(`${method} ${url} ${headers['x-vault-token'] ?? headers['x-service-token'] ?? ''}`.trimEnd());
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  user = emptyPlace({ COFFER_STORE: undefined, COFFER_ADDR: `http://127.0.0.1:${port}` });
});
beforeEach(() => {
  asked = [];
});
afterAll(() => {
  server.close();
  removePlace(user);
});

const login = (exitCode: number): Promise<string> =>
  user.refused('login userpass username=ada password=-', exitCode, { input: 'correct horse' });

describe('a login that is answered by somebody else', () => {
  it.each<[string, unknown, number, string]>([
    ['nothing of a login', { data: { ok: true } }, 1, 'no token (check that the path is a login method)'],
    [
      'a token that is none',
      { data: null, auth: { client_token: 7 } },
      1,
      'unexpected response of the server: it has no token',
    ],
    [
      'an empty token',
      { data: null, auth: { client_token: '' } },
      1,
      'unexpected response of the server: it has no token',
    ],
    [
      'a second factor',
      { data: null, auth: { client_token: '', mfa_requirement: { mfa_request_id: 'a' } } },
      2,
      'the server asks for a second factor',
    ],
  ])('is refused, and nothing kept, with %s', async (_, answer, exitCode, message) => {
    [status, body] = [200, answer];
    expect(await login(exitCode)).toContain(message);
    expect(existsSync(user.file('.local/state/coffer/logins'))).toBe(false);
  });

  it('says of a wrong password that it is one, and of what is lacking that it is the line', async () => {
    [status, body] = [400, { errors: ['invalid username or password'] }];
    expect(await login(4)).toContain('invalid username or password');
    [status, body] = [400, { errors: ['missing password'] }];
    expect(await login(2)).toContain('missing password');
    [status, body] = [500, { errors: ['out of order'] }];
    expect(await login(1)).toContain('out of order');
  });
});

it('a refused login is not explained with the policies of a token, which logins do not need', async () => {
  [status, body] = [403, { errors: ['permission denied'] }];
  const hint = (path: string): string =>
    `(an administrator can check with "coffer auth list" that ${path}/ is enabled; if it is, the credentials may be wrong, the user may be locked out, or logins from your address may not be allowed)`;
  expect(await login(4)).toBe(`coffer: login failed ${hint('auth/userpass')}`);
  const line = 'login userpass username=login password=- --path team/users2';
  expect(await user.refused(line, 4, { input: 'x' })).toBe(
    `coffer: login failed ${hint('auth/team/users2')}`,
  );
  const owner = user.with({ COFFER_TOKEN: 't' });
  expect(await owner.refused('write auth/approle/role/login policies=a', 4)).toContain(
    'policies must grant "update" on auth/approle/role/login',
  );
});

describe('a token that a user brings', () => {
  const bring = (exitCode: number, input: string): Promise<string> =>
    user.refused('login token=-', exitCode, { input });

  it.each(['', '\n', ' \n'])('is not empty: %j', async (input) => {
    [status, body] = [200, { data: { policies: ['root'] } }];
    expect(await bring(2, input)).toBe('coffer: token: the token is empty');
    expect(existsSync(user.file('.local/state/coffer/logins'))).toBe(false);
  });

  it('is no argument, and none of a variable', async () => {
    const environment = { VAULT_TOKEN: 'cfr.other' };
    expect(await user.refused('login token=cfr.own', 2, { environment })).toContain(
      'coffer: token: secrets cannot',
    );
  });

  it('is not kept if the server does not know it, or cannot tell', async () => {
    [status, body] = [403, { errors: ['permission denied'] }];
    expect(await bring(4, 't')).toContain('the server rejected the token: unknown or expired');
    [status, body] = [500, { errors: ['out of order'] }];
    const failed = await bring(1, 't');
    expect(failed).toContain('out of order');
    expect(failed).not.toContain('rejected');
    expect(existsSync(user.file('.local/state/coffer/logins'))).toBe(false);
  });
});

it('a login without a secret that its method does not always need is sent without one', async () => {
  [status, body] = [200, { data: null, auth: { client_token: 't', lease_duration: 60 } }];
  await user.ok('login approle role_id=r');
  expect(existsSync(user.file('.local/state/coffer/logins'))).toBe(true);
});

describe('a token that the user does not get', () => {
  const MADE = 'login userpass username=ada password=-';
  const BROUGHT = 'login token=-';
  const LOGIN = 'POST /v1/auth/userpass/login/ada';
  const LOOK = 'GET /v1/auth/token/lookup-self brought';
  const REVOKED = 'POST /v1/auth/token/revoke-self made';

  it.each([
    ['one that the login made is revoked', MADE, [LOGIN, REVOKED]],
    ['one that the user brought stays valid', BROUGHT, [LOOK]],
  ])('because it cannot be stored, or the output has no such field: %s', async (_what, line, requests) => {
    [status, body] = [200, { data: { policies: [] }, auth: { client_token: 'made', lease_duration: 60 } }];
    writeFileSync(user.file('no-directory'), '');
    const full = user.with({ XDG_STATE_HOME: user.file('no-directory') });
    await full.refused(line, 1, { input: 'brought' });
    expect(asked).toEqual(requests);
    asked = [];
    await user.refused(`${line} --no-store --field nothing`, 3, { input: 'brought' });
    expect(asked).toEqual(requests);
  });

  it('in the output, but in the file, stays valid whoever made it', async () => {
    [status, body] = [200, { data: { policies: [] }, auth: { client_token: 'made', lease_duration: 60 } }];
    for (const [line, request] of [
      [MADE, LOGIN],
      [BROUGHT, LOOK],
    ] as const) {
      asked = [];
      await user.refused(`${line} --field nothing`, 3, { input: 'brought' });
      expect(asked).toEqual([request]);
    }
  });
});
