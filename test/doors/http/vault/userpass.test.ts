import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { collectionOf } from '../../../../src/mounts/mounts.ts';
import {
  cleanUpAfterAll,
  issueToken,
  locally,
  send,
  setPolicy,
  startServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';
import { type LoginServer, loginServer } from './logins.ts';

let world: LoginServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  world = await loginServer(afterwards);
  await world.enable('userpass', 'userpass');
});

const user = (name: string, body: object = {}) =>
  world.root('POST', `auth/userpass/users/${name}`, { password: 'right', ...body });
/** "correct horse" with a cost of 6, by libxcrypt; it is the same for each kind. */
const bcrypt = (kind: string, cost = '06'): string =>
  `$${kind}$${cost}$abcdefghijklmnopqrstuud/5IuQmqhVO0kfNEbHJM.fJkPiliBzC`;
const login = (name: string, password = 'right') =>
  world.anybody('POST', `auth/userpass/login/${name}`, { body: { password } });

describe('a user', () => {
  it('logs in by name and password, in any case of the name and with a stale token', async () => {
    await user('Alice', { token_policies: ['App', 'app '], token_ttl: '20m' });
    const { status, json } = await world.anybody('PUT', 'auth/userpass/login/ALICE', {
      token: 'cfr.stale',
      body: { password: 'right' },
    });
    expect(status).toBe(200);
    expect(json.data).toBeNull();
    expect(Object.keys(json.auth)).toEqual([
      'client_token',
      'accessor',
      'policies',
      'token_policies',
      'metadata',
      'lease_duration',
      'renewable',
      'entity_id',
      'token_type',
      'orphan',
      'mfa_requirement',
      'num_uses',
    ]);
    expect(json.auth).toMatchObject({
      policies: ['app', 'default'],
      metadata: { username: 'alice' },
      lease_duration: 1200,
      renewable: true,
      orphan: true,
    });
    const token = json.auth.client_token;
    expect((await world.anybody('GET', 'auth/token/lookup-self', { token })).json.data).toMatchObject({
      path: 'auth/userpass/login/alice',
      display_name: 'userpass-alice',
      meta: { username: 'alice' },
      creation_ttl: 1200,
      orphan: true,
      type: 'service',
    });
  });

  it('is shown with what its tokens get, never with a password', async () => {
    await user('shown', { token_bound_cidrs: '10.0.0.1/32,10.1.2.3/8', token_max_ttl: 3600 });
    expect((await world.root('GET', 'auth/userpass/users/shown')).json.data).toEqual({
      token_bound_cidrs: ['10.0.0.1', '10.1.2.3/8'],
      token_explicit_max_ttl: 0,
      token_max_ttl: 3600,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: [],
      token_strictly_bind_ip: false,
      token_ttl: 0,
      token_type: 'default',
    });
    expect((await world.root('LIST', 'auth/userpass/users')).json.data.keys).toContain('shown');
    const page = await world.root('GET', 'auth/userpass/users?list=true&after=sgown&limit=1');
    expect(page.json.data.keys).toEqual(['shown']);
    expect((await world.root('GET', 'auth/userpass/users/nosuch')).json).toEqual({ errors: [] });
  });

  it('takes the older names of settings, and shows by both what was set by one', async () => {
    const older = { policies: 'a,b', ttl: '20m', max_ttl: 3600, bound_cidrs: ['10.0.0.1/32'] };
    await user('older', older);
    const shown = async () => (await world.root('GET', 'auth/userpass/users/older')).json.data;
    expect(await shown()).toMatchObject({
      policies: ['a', 'b'],
      token_policies: ['a', 'b'],
      ttl: 1200,
      token_ttl: 1200,
      max_ttl: 3600,
      token_max_ttl: 3600,
      bound_cidrs: ['10.0.0.1'],
      token_bound_cidrs: ['10.0.0.1'],
    });
    await user('older', { ttl: 60, token_ttl: 120, token_policies: ['c'], max_ttl: 0 });
    expect(await shown()).toMatchObject({
      ttl: 120,
      token_ttl: 120,
      token_policies: ['c'],
      token_max_ttl: 0,
    });
    for (const name of ['policies', 'max_ttl']) expect(await shown()).not.toHaveProperty(name);
    await world.root('POST', 'auth/userpass/users/older/policies', { policies: 'd' });
    expect(await shown()).toMatchObject({ policies: ['d'], token_policies: ['d'], ttl: 120 });
  });

  it.each([
    ['no password', { password: '' }, 'must provide either password or password_hash'],
    ['two', { password_hash: 'x' }, 'only one of password or password_hash may be provided'],
    [
      'a time over the longest',
      { token_ttl: 20, token_max_ttl: 10 },
      "'token_ttl' cannot be greater than 'token_max_ttl'",
    ],
    [
      'a network that is none',
      { token_bound_cidrs: ['foo'] },
      'error parsing address "foo": Unable to convert "foo" to an IPv4 or IPv6 address, or a UNIX Socket',
    ],
    ['an unknown kind of token', { token_type: 'x' }, `invalid 'token_type' value "x"`],
    ['fewer than no uses', { token_num_uses: -1 }, "'token_num_uses' cannot be negative"],
  ])('is not made with %s', async (_, body, message) => {
    const { status, json } = await user('refused', body);
    expect([status, json]).toEqual([400, { errors: [message] }]);
    expect((await world.root('GET', 'auth/userpass/users/refused')).status).toBe(404);
  });

  it.each([
    ['$2y$', bcrypt('2y')],
    ['$2a$', bcrypt('2a')],
    ['$2b$', bcrypt('2b')],
  ])(
    'logs in with the password of a hash of bcrypt that begins with %s, which is not kept',
    async (_, hash) => {
      await world.root('POST', 'auth/userpass/users/moved', { password_hash: hash });
      expect((await login('moved', 'wrong horse')).status).toBe(400);
      expect((await login('moved', 'correct horse')).status).toBe(200);
      expect((await login('moved', 'correct horse')).status).toBe(200);
      expect((await login('moved', 'wrong horse')).status).toBe(400);
      await locally(world.server.directory, async ({ core }) => {
        const mount = await core.mounts.get('auth/userpass');
        const ref = { collection: collectionOf(mount, 'users'), id: 'moved' };
        const kept = await core.store.read((view) => view.get<{ readonly password: object }>(ref));
        expect(Object.keys(kept?.password ?? {})).toContain('memoryKiB');
      });
      await world.root('DELETE', 'auth/userpass/users/moved');
    },
  );

  it('changes its own password to one that is hashed already', async () => {
    await user('rehashed');
    const body = { password_hash: bcrypt('2b') };
    expect((await world.root('POST', 'auth/userpass/users/rehashed/password', body)).status).toBe(204);
    expect((await login('rehashed')).status).toBe(400);
    expect((await login('rehashed', 'correct horse')).status).toBe(200);
  });

  it('keeps its password when none is sent in its place', async () => {
    await user('same');
    const { status, json } = await world.root('POST', 'auth/userpass/users/same/password', {});
    expect([status, json.errors]).toEqual([400, ['must provide either password or password_hash']]);
    expect((await login('same')).status).toBe(200);
  });

  it.each([
    ['no hash', 'x', 'password_hash is not a valid bcrypt hash'],
    ['one that is cut off', bcrypt('2b').slice(0, -1), 'password_hash is not a valid bcrypt hash'],
    ['one of another kind', bcrypt('2x'), 'password_hash is not a valid bcrypt hash'],
    ['one of too little work', bcrypt('2b', '04'), 'bcrypt cost of 4 is too low, want 5 at minimum'],
    ['one of too much work', bcrypt('2b', '13'), 'bcrypt cost of 13 exceeds maximum cost of 12'],
  ])('is not made with %s in place of a password', async (_, password_hash, message) => {
    const { status, json } = await world.root('POST', 'auth/userpass/users/refused', { password_hash });
    expect([status, json.errors]).toEqual([400, [message]]);
  });

  it('gets no token that is root', async () => {
    await user('boss', { token_policies: ['root'] });
    const { status, json } = await login('boss');
    expect([status, json.errors]).toEqual([400, ['auth methods cannot create root tokens']]);
  });

  it('changes its own password with a policy for that path alone', async () => {
    await user('self');
    await setPolicy(
      world.server.directory,
      'own-password',
      'path "auth/userpass/users/self/password" { capabilities = ["update"] }',
    );
    const token = await issueToken(world.server.directory, { policies: ['own-password'] });
    const path = 'auth/userpass/users/self';
    const body = { password: 'new', token_policies: ['more'] };
    expect((await world.anybody('POST', path, { token, body })).status).toBe(403);
    expect((await world.anybody('POST', `${path}/password`, { token, body })).status).toBe(204);
    expect((await login('self')).status).toBe(400);
    expect((await login('self', 'new')).json.auth.policies).toEqual(['default']);
    const missing = await world.root('POST', 'auth/userpass/users/nosuch/password', { password: 'x' });
    expect([missing.status, missing.json.errors]).toEqual([400, ['username does not exist']]);
  });

  it('who is renewed must still be there, with the same policies', async () => {
    await user('renewed', { token_policies: ['one'] });
    const token = (await login('renewed')).json.auth.client_token;
    const renew = () => world.anybody('POST', 'auth/token/renew-self', { token, body: {} });
    await user('renewed', { token_ttl: '7m' });
    expect((await renew()).json.auth.lease_duration).toBe(420);
    await world.root('POST', 'auth/userpass/users/renewed/policies', { policies: 'two' });
    expect((await renew()).json.errors).toEqual([
      'failed to renew entry: policies have changed, not renewing',
    ]);
    await world.root('DELETE', 'auth/userpass/users/renewed');
    expect((await renew()).status).toBe(400);
    expect(await world.isGood(token)).toBe(true);
  });

  it('from elsewhere than it is bound to does not get in, nor does its token', async () => {
    await user('bound', { token_bound_cidrs: ['10.0.0.0/8'] });
    const { status, json } = await login('bound');
    expect([status, json]).toEqual([403, { errors: ['permission denied'] }]);
    await user('bound', { token_bound_cidrs: ['127.0.0.0/8'] });
    const token = (await login('bound')).json.auth.client_token;
    const { data } = (await world.anybody('GET', 'auth/token/lookup-self', { token })).json;
    expect(data.bound_cidrs).toEqual(['127.0.0.0/8']);
    await user('strict', { token_strictly_bind_ip: true });
    const strict = (await login('strict')).json.auth.client_token;
    const own = await world.anybody('GET', 'auth/token/lookup-self', { token: strict });
    expect(own.json.data.bound_cidrs).toEqual(['127.0.0.1']);
  });

  it('whose uses are counted has as many, and may have a period', async () => {
    await user('counted', { token_num_uses: 2, token_period: '1h' });
    const { auth } = (await login('counted')).json;
    expect(auth).toMatchObject({ num_uses: 2, lease_duration: 3600 });
    const token = auth.client_token;
    expect([await world.isGood(token), await world.isGood(token), await world.isGood(token)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('a login', () => {
  it('stands in the audit trail, with neither password nor token in clear, whether it succeeds or not', async () => {
    const auditFile = join(temporaryDirectory(), 'audit.log');
    const server = await startServer({ auditFile });
    const root = (path: string, body: object) =>
      send(server.address, 'POST', `/v1/${path}`, { token: server.token, body });
    await root('sys/auth/userpass', { type: 'userpass' });
    await root('auth/userpass/users/ann', { password: 'correct-horse' });
    const logIn = (password: string) =>
      send(server.address, 'POST', '/v1/auth/userpass/login/ann', { body: { password } });
    const token = (await logIn('correct-horse')).json.auth.client_token;
    await logIn('battery-staple');
    const trail = readFileSync(auditFile, 'utf8');
    const records = trail
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ request }) => request.path === 'auth/userpass/login/ann');
    expect(records.map(({ type, response }) => [type, response?.status])).toEqual([
      ['request', undefined],
      ['response', 200],
      ['request', undefined],
      ['response', 400],
    ]);
    expect(records[0].request).toMatchObject({
      remote_address: '127.0.0.1',
      mount_point: 'auth/userpass/',
      data: { password: expect.stringMatching(/^hmac-sha256:/) },
    });
    for (const secret of ['correct-horse', 'battery-staple', token]) expect(trail).not.toContain(secret);
  });
});

describe('a login that fails', () => {
  it('says the same for a wrong name and a wrong password', async () => {
    await user('there');
    for (const name of ['there', 'nobody']) {
      const { status, json } = await login(name, 'wrong');
      expect([status, json]).toEqual([400, { errors: ['invalid username or password'] }]);
    }
    expect((await login('there', '')).json.errors).toEqual(['missing password']);
  });

  it('with another method is not found out to be one by its token', async () => {
    for (const token of [undefined, world.server.token]) {
      const { status, json } = await world.anybody(
        'GET',
        'auth/userpass/login/alice',
        token ? { token } : {},
      );
      expect([status, json]).toEqual([405, { errors: ['unsupported operation'] }]);
    }
    expect((await world.anybody('POST', 'auth/nosuch/login/alice')).status).toBe(403);
    expect((await world.anybody('GET', 'auth/userpass/users/alice')).status).toBe(403);
  });

  it('is not read when a web page sends it', async () => {
    await user('page');
    const headers = { origin: 'https://evil.example' };
    const body = { password: 'right' };
    expect((await world.anybody('POST', 'auth/userpass/login/page', { headers, body })).status).toBe(403);
  });

  it('five times locks the name, whatever comes then, until somebody unlocks it', async () => {
    await user('locked');
    for (let i = 0; i < 5; i++) expect((await login('locked', 'wrong')).status).toBe(400);
    const { status, json } = await login('locked');
    expect([status, json]).toEqual([403, { errors: ['permission denied'] }]);
    const { accessor } = (await world.root('GET', 'sys/auth/userpass')).json.data;
    expect((await world.root('GET', 'sys/locked-users')).json.data).toEqual({
      by_namespace: [
        {
          namespace_id: 'root',
          namespace_path: '',
          counts: 1,
          mount_accessors: [{ mount_accessor: accessor, counts: 1, alias_identifiers: ['locked'] }],
        },
      ],
      total: 1,
    });
    expect((await world.root('POST', `sys/locked-users/${accessor}/unlock/locked`)).status).toBe(204);
    expect((await login('locked')).status).toBe(200);
    expect((await world.root('GET', 'sys/locked-users')).json.data.total).toBe(0);
  });

  it('locks as the mount is tuned to, or never', async () => {
    await world.enable('userpass', 'tuned');
    const tune = (config: object) =>
      world.root('POST', 'sys/auth/tuned/tune', { user_lockout_config: config });
    await world.root('POST', 'auth/tuned/users/ann', { password: 'right' });
    const logIn = async (password: string) =>
      (await world.anybody('POST', 'auth/tuned/login/ann', { body: { password } })).status;
    expect((await tune({ lockout_threshold: '2', lockout_duration: '1h' })).status).toBe(204);
    expect([await logIn('wrong'), await logIn('wrong'), await logIn('right')]).toEqual([400, 400, 403]);
    const { accessor } = (await world.root('GET', 'sys/auth/tuned')).json.data;
    await world.root('POST', `sys/locked-users/${accessor}/unlock/ann`);
    await tune({ lockout_duration: '1s' });
    expect([await logIn('wrong'), await logIn('wrong')]).toEqual([400, 400]);
    await vi.waitUntil(async () => (await logIn('right')) === 200, { timeout: 60_000, interval: 300 });
    const never = { lockout_duration: '1h', lockout_counter_reset_duration: '10m', lockout_disable: true };
    expect((await tune(never)).status).toBe(204);
    const tuning = (await world.root('GET', 'sys/auth/tuned/tune')).json.data;
    expect(tuning).toMatchObject({
      user_lockout_threshold: 2,
      user_lockout_duration: 3600,
      user_lockout_counter_reset_duration: 600,
      user_lockout_disable: true,
    });
    expect(tuning).not.toHaveProperty('user_lockout_config');
    for (let i = 0; i < 6; i++) expect(await logIn('wrong')).toBe(400);
    expect(await logIn('right')).toBe(200);
    for (let i = 0; i < 6; i++) expect(await logIn('wrong')).toBe(400);
    // What failed meanwhile was not counted either.
    await tune({ lockout_disable: false });
    expect(await logIn('right')).toBe(200);
    await world.enable('jwt', 'tuned-jwt');
    const refused = await world.root('POST', 'sys/mounts/auth/tuned-jwt/tune', {
      user_lockout_config: { lockout_threshold: 1 },
    });
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      ['tuning of user lockout configuration for auth type "jwt" not allowed'],
    ]);
  });

  it('is counted also where many come at once', async () => {
    await user('crowded');
    const answers = await Promise.all(Array.from({ length: 12 }, () => login('crowded', 'wrong')));
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(5);
    expect((await login('crowded')).status).toBe(403);
  });

  it('very often is answered 429, at that mount alone', async () => {
    await world.enable('userpass', 'rate');
    await world.enable('userpass', 'other');
    const guess = (path: string) => world.anybody('POST', `auth/${path}/login/nobody`, { body: {} });
    const answers = [];
    for (let i = 0; i < 300; i++) answers.push(await guess('rate'));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400, 429]));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.json.errors).toEqual([
      'request path "auth/rate/login/nobody": too many failed or simultaneous logins from this address',
    ]);
    expect(refused?.headers['retry-after']).toBe('1');
    expect((await guess('other')).status).toBe(400);
  });
});
