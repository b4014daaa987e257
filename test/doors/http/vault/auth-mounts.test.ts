import { beforeAll, describe, expect, it } from 'vitest';
import { cleanUpAfterAll, issueToken, setPolicy } from '../../../servers/serving.ts';
import { type LoginServer, loginServer } from './logins.ts';

let world: LoginServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  world = await loginServer(afterwards);
});

const tokenWith = async (name: string, policy: string): Promise<string> => {
  await setPolicy(world.server.directory, name, policy);
  return issueToken(world.server.directory, { policies: [name] });
};

describe('the login methods of a store', () => {
  it('are listed with the one that each store has', async () => {
    await world.enable('userpass', 'teams/people', { default_lease_ttl: '1h', max_lease_ttl: '36000' });
    const { json } = await world.root('GET', 'sys/auth');
    expect(json.data).toEqual({
      'teams/people/': expect.objectContaining({
        type: 'userpass',
        accessor: expect.stringMatching(/^auth_userpass_[0-9a-f]{8}$/),
        options: {},
        deprecation_status: 'supported',
        config: {
          default_lease_ttl: 3600,
          max_lease_ttl: 36_000,
          force_no_cache: false,
          token_type: 'default-service',
        },
      }),
      'token/': expect.objectContaining({
        type: 'token',
        description: 'token based credentials',
        options: null,
      }),
    });
    expect(json['teams/people/']).toEqual(json.data['teams/people/']);
    expect(Object.keys((await world.root('GET', 'sys/mounts')).json.data)).toEqual(['transit/']);
  });

  it.each([
    ['no type', 'new', {}, 'backend type must be specified as a string'],
    ['a type that nobody knows', 'new', { type: 'ldap' }, 'plugin not found in the catalog: ldap'],
    ['an engine', 'new', { type: 'transit' }, 'plugin not found in the catalog: transit'],
    ['the method that is there', 'new', { type: 'token' }, 'token credential backend cannot be instantiated'],
    ['a path below another', 'token/x', { type: 'userpass' }, 'path is already in use at token/'],
    [
      'an unknown kind of token',
      'new',
      { type: 'userpass', config: { token_type: 'x' } },
      "invalid value for 'token_type'",
    ],
    [
      'a version',
      'new',
      { type: 'userpass', options: { version: '2' } },
      'auth method "userpass" does not allow setting a version',
    ],
  ])('are not enabled with %s', async (_, path, body, message) => {
    const { status, json } = await world.root('POST', `sys/auth/${path}`, body);
    expect([status, json]).toEqual([400, { errors: [message] }]);
  });

  it('ask for sudo, also who may do everything with engines', async () => {
    const token = await tokenWith(
      'mounts-only',
      'path "sys/mounts/*" { capabilities = ["create", "read", "update", "delete", "sudo"] }\npath "sys/auth/*" { capabilities = ["create", "read", "update", "delete"] }',
    );
    const body = { type: 'userpass' };
    expect((await world.anybody('POST', 'sys/auth/sneaky', { token, body })).status).toBe(403);
    const byMounts = await world.anybody('POST', 'sys/mounts/auth/sneaky', { token, body });
    expect([byMounts.status, byMounts.json]).toEqual([
      400,
      { errors: ['cannot mount under the reserved path "auth/"'] },
    ]);
    const removed = await world.anybody('DELETE', 'sys/mounts/auth/teams/people', { token });
    expect([removed.status, removed.json]).toEqual([
      400,
      { errors: ['cannot unmount "auth/teams/people/"'] },
    ]);
    expect((await world.root('GET', 'sys/auth/teams/people')).status).toBe(200);
  });

  it('are tuned at either path, and show the times that hold', async () => {
    await world.enable('userpass', 'tuned');
    const change = { max_lease_ttl: '10h', description: 'new', token_type: 'service' };
    expect((await world.root('POST', 'sys/mounts/auth/tuned/tune', change)).status).toBe(204);
    expect((await world.root('POST', 'sys/auth/tuned/tune', { default_lease_ttl: '2h' })).status).toBe(204);
    const wanted = {
      default_lease_ttl: 7200,
      max_lease_ttl: 36_000,
      force_no_cache: false,
      description: 'new',
      token_type: 'service',
    };
    expect((await world.root('GET', 'sys/auth/tuned/tune')).json.data).toEqual(wanted);
    expect((await world.root('GET', 'sys/mounts/auth/tuned/tune')).json.data).toEqual(wanted);
    const { json } = await world.root('POST', 'sys/auth/tuned/tune', { default_lease_ttl: '20h' });
    expect(json.errors).toEqual([
      'backend max lease TTL of 36000 would be less than backend default lease TTL of 72000',
    ]);
  });

  it.each([
    ['read', 'GET', 'nosuch', 'No auth engine at nosuch/'],
    ['read the settings of', 'GET', 'nosuch/tune', 'cannot fetch sysview for path "auth/nosuch/"'],
    ['tune', 'POST', 'nosuch/tune', 'tune of path "auth/nosuch/" failed: no mount entry found'],
    ['disable what all have', 'DELETE', 'token', 'token credential backend cannot be disabled'],
  ])('that are not there nobody can %s', async (_, method, path, message) => {
    const { status, json } = await world.root(method, `sys/auth/${path}`);
    expect([status, json]).toEqual([400, { errors: [message] }]);
  });

  it('move below auth/, and nowhere else', async () => {
    await world.enable('userpass', 'before');
    await world.root('POST', 'auth/before/users/ann', { password: 'secret' });
    const out = await world.root('POST', 'sys/remount', { from: 'auth/before', to: 'before' });
    expect([out.status, out.json.errors]).toEqual([400, ['login methods cannot be mounted at "before/"']]);
    expect((await world.root('POST', 'sys/remount', { from: 'auth/before', to: 'auth/after' })).status).toBe(
      200,
    );
    expect((await world.root('GET', 'auth/after/users/ann')).status).toBe(200);
    const login = await world.anybody('POST', 'auth/after/login/ann', { body: { password: 'secret' } });
    expect(login.json.auth).toMatchObject({ policies: ['default'], orphan: true });
  });

  it.each(['service', 'batch'] as const)('end their %s tokens by a move, back too', async (token_type) => {
    const [a, b] = [`${token_type}-a`, `${token_type}-b`];
    await world.enable('userpass', a, { token_type });
    await world.root('POST', `auth/${a}/users/ann`, { password: 'secret', token_policies: 'creator' });
    await setPolicy(
      world.server.directory,
      'creator',
      'path "auth/token/create" { capabilities = ["update"] }',
    );
    const enter = async (path: string): Promise<string> =>
      (await world.anybody('POST', `auth/${path}/login/ann`, { body: { password: 'secret' } })).json.auth
        .client_token;
    const before = [await enter(a)];
    if (token_type === 'service') {
      const child = await world.anybody('POST', 'auth/token/create', { token: before[0] ?? '', body: {} });
      before.push(child.json.auth.client_token);
    }
    const statuses = async (tokens: readonly string[]) => {
      const asked = tokens.map((token) => world.anybody('GET', 'auth/token/lookup-self', { token }));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    expect(await statuses(before)).toEqual(before.map(() => 200));
    await world.root('POST', 'sys/remount', { from: `auth/${a}`, to: `auth/${b}` });
    expect(await statuses(before)).toEqual(before.map(() => 403));
    const moved = await enter(b);
    expect(await statuses([moved])).toEqual([200]);
    await world.root('POST', 'sys/remount', { from: `auth/${b}`, to: `auth/${a}` });
    expect(await statuses([...before, moved])).toEqual([...before, moved].map(() => 403));
    const after = await enter(a);
    expect(await statuses([after])).toEqual([200]);
    expect((await world.root('POST', `sys/leases/revoke-prefix/auth/${a}`)).status).toBe(204);
    expect(await statuses([after])).toEqual([403]);
  });

  it('are shown to those without a token when they are to be, and of those little', async () => {
    await world.enable('userpass', 'shown', { listing_visibility: 'unauth' });
    const wanted = { auth: { 'shown/': { description: '', options: {}, type: 'userpass' } }, secret: {} };
    expect((await world.anybody('GET', 'sys/internal/ui/mounts')).json.data).toEqual(wanted);
    const stale = await world.anybody('GET', 'sys/internal/ui/mounts', { token: 'cfr.nothing' });
    expect(stale.json.data).toEqual(wanted);
    const headers = { 'x-vault-wrap-ttl': '60' };
    const open = await world.anybody('GET', 'sys/internal/ui/mounts', { token: 'cfr.nothing', headers });
    expect([open.json.wrap_info, open.json.data]).toEqual([null, wanted]);
    const { json } = await world.root('GET', 'sys/internal/ui/mounts');
    expect(Object.keys(json.data.auth)).toEqual(expect.arrayContaining(['shown/', 'token/']));
    expect(json.data.auth['shown/'].accessor).toMatch(/^auth_userpass_/);
    expect((await world.anybody('GET', 'sys/internal/ui/mounts/auth/shown')).status).toBe(403);
    const found = await world.root('GET', 'sys/internal/ui/mounts/auth/shown/users');
    expect(found.json.data).toMatchObject({ path: 'auth/shown/', type: 'userpass' });
  });
});

describe('disabling a login method', () => {
  it('ends its tokens and theirs at once, and no others; the same path starts empty', async () => {
    await world.enable('userpass', 'gone');
    await world.enable('userpass', 'stays');
    const tokens: Record<string, string> = {};
    for (const path of ['gone', 'stays']) {
      await world.root('POST', `auth/${path}/users/ann`, { password: 'secret', token_policies: ['issuer'] });
      const login = await world.anybody('POST', `auth/${path}/login/ann`, { body: { password: 'secret' } });
      tokens[path] = login.json.auth.client_token;
    }
    await setPolicy(
      world.server.directory,
      'issuer',
      'path "auth/token/create" { capabilities = ["create", "update"] }',
    );
    const child = await world.anybody('POST', 'auth/token/create', { token: tokens['gone'] ?? '', body: {} });
    expect(await world.isGood(child.json.auth.client_token)).toBe(true);
    expect((await world.root('DELETE', 'sys/auth/gone')).status).toBe(204);
    expect(await world.isGood(tokens['gone'] ?? '')).toBe(false);
    expect(await world.isGood(child.json.auth.client_token)).toBe(false);
    expect(await world.isGood(tokens['stays'] ?? '')).toBe(true);
    await world.enable('userpass', 'gone');
    expect((await world.root('GET', 'auth/gone/users/ann')).status).toBe(404);
    expect(await world.isGood(tokens['gone'] ?? '')).toBe(false);
    expect((await world.root('DELETE', 'sys/auth/nosuch')).status).toBe(204);
  });
});
