import { beforeAll, describe, expect, it } from 'vitest';
import { cleanUpAfterAll, type Reply, send, spawnServer } from '../../../servers/serving.ts';
import { type LoginServer, loginServer, putClockForward } from './logins.ts';

let world: LoginServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  world = await loginServer(afterwards);
  await world.enable('approle', 'approle');
});

const ROLE = 'auth/approle/role';
const write = (name: string, body: object = {}) => world.root('POST', `${ROLE}/${name}`, body);
const roleIdOf = async (name: string): Promise<string> =>
  (await world.root('GET', `${ROLE}/${name}/role-id`)).json.data.role_id;
const secretOf = async (name: string, body: object = {}) =>
  (await world.root('POST', `${ROLE}/${name}/secret-id`, body)).json.data;
const login = (role_id: string, secret_id?: string): Promise<Reply> =>
  world.anybody('POST', 'auth/approle/login', { body: { role_id, secret_id } });
const wrapping = { headers: { 'x-vault-wrap-ttl': '60' } };
const unwrap = (token: string): Promise<Reply> => world.anybody('POST', 'sys/wrapping/unwrap', { token });
const errorOf = ({ status, json }: Reply) => [status, ...json.errors];

describe('a role', () => {
  it('is kept and shown in the words of the family, without its role ID', async () => {
    const body = {
      token_policies: 'app,Default',
      token_ttl: '20m',
      token_max_ttl: '1h',
      secret_id_num_uses: 3,
      secret_id_ttl: '1h',
      token_type: 'service',
    };
    expect((await write('App1', body)).status).toBe(204);
    const { json } = await world.root('GET', `${ROLE}/app1`);
    expect(json.data).toEqual({
      bind_secret_id: true,
      local_secret_ids: false,
      secret_id_bound_cidrs: null,
      secret_id_num_uses: 3,
      secret_id_ttl: 3600,
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 3600,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: ['app', 'Default'],
      token_strictly_bind_ip: false,
      token_ttl: 1200,
      token_type: 'service',
    });
    expect((await world.root('LIST', ROLE)).json.data.keys).toContain('app1');
    expect(await roleIdOf('app1')).toMatch(/^[0-9a-f-]{36}$/);
    expect((await world.root('GET', `${ROLE}/nosuch`)).json).toEqual({ errors: [] });
  });

  it.each([
    [{ bind_secret_id: false }, 'at least one constraint should be enabled on the role'],
    [{ secret_id_bound_cidrs: 'foo' }, 'failed to validate CIDR blocks: invalid CIDR address: foo'],
    [{ secret_id_bound_cidrs: '10.0.0.1' }, 'failed to validate CIDR blocks: invalid CIDR address: 10.0.0.1'],
    [{ secret_id_num_uses: -1 }, 'secret_id_num_uses cannot be negative'],
    [{ role_id: '' }, 'invalid role_id supplied, or failed to generate a role_id'],
  ])('can not be made as %j', async (body, message) => {
    expect(errorOf(await write('wrong', body))).toEqual([400, message]);
  });

  it.each([
    ['role-id', {}, 'missing role_id'],
    ['role-id', { role_id: '' }, 'missing role_id'],
    ['token-ttl', { secret_id_ttl: 60 }, 'missing token_ttl'],
    ['secret-id-num-uses', {}, 'missing secret_id_num_uses'],
  ])('has no member at the path %s set by %j', async (member, body, message) => {
    await write('pathless');
    const before = (await world.root('GET', `${ROLE}/pathless`)).json.data;
    expect(errorOf(await world.root('POST', `${ROLE}/pathless/${member}`, body))).toEqual([400, message]);
    expect((await world.root('GET', `${ROLE}/pathless`)).json.data).toEqual(before);
  });

  it('is bound to the address of a login or to networks, not to both', async () => {
    const message = "'token_strictly_bind_ip' conflicts with 'token_bound_cidrs'; set only one";
    const both = { token_strictly_bind_ip: true, token_bound_cidrs: ['10.0.0.0/8'] };
    expect(errorOf(await write('both', both))).toEqual([400, message]);
    expect((await write('both', { token_bound_cidrs: ['10.0.0.0/8'] })).status).toBe(204);
    expect(errorOf(await write('both', { token_strictly_bind_ip: true }))).toEqual([400, message]);
  });

  it('has a role ID of its own, also one of the caller', async () => {
    await write('named', { role_id: 'my-role' });
    await write('other');
    const taken = await world.root('POST', `${ROLE}/other/role-id`, { role_id: 'my-role' });
    expect(errorOf(taken)).toEqual([400, 'role_id already in use']);
    await world.root('POST', `${ROLE}/named/role-id`, { role_id: 'renamed' });
    const { secret_id } = await secretOf('named');
    expect(errorOf(await login('my-role', secret_id))).toEqual([400, 'invalid role or secret ID']);
    expect((await login('renamed', secret_id)).status).toBe(200);
    expect((await write('other', { role_id: 'my-role' })).status).toBe(204);
    expect(errorOf(await write('other', { local_secret_ids: false }))).toEqual([
      400,
      'local_secret_ids can only be modified during role creation',
    ]);
  });

  it('has paths for single members', async () => {
    await write('fields', { token_ttl: 60 });
    const ttl = `${ROLE}/fields/token-ttl`;
    expect((await world.root('GET', ttl)).json.data).toEqual({ token_ttl: 60 });
    expect((await world.root('POST', ttl, { token_ttl: '2m' })).status).toBe(204);
    expect((await world.root('POST', `${ROLE}/fields/policies`, { policies: 'a,b' })).status).toBe(204);
    expect((await world.root('GET', `${ROLE}/fields`)).json.data).toMatchObject({
      token_ttl: 120,
      token_policies: ['a', 'b'],
    });
    expect((await world.root('DELETE', ttl)).status).toBe(204);
    expect((await world.root('GET', ttl)).json.data).toEqual({ token_ttl: 0 });
    expect((await world.root('GET', `${ROLE}/nosuch/token-ttl`)).status).toBe(404);
  });

  it('that was deleted and made anew takes none of its former secret IDs', async () => {
    await write('again', { role_id: 'again' });
    const { secret_id } = await secretOf('again');
    const token = (await login('again', secret_id)).json.auth.client_token;
    expect((await world.root('DELETE', `${ROLE}/again`)).status).toBe(204);
    const renewed = await world.anybody('POST', 'auth/token/renew-self', { token, body: {} });
    expect(errorOf(renewed)).toEqual([
      400,
      'failed to renew entry: role "again" does not exist during renewal',
    ]);
    await write('again', { role_id: 'again' });
    expect((await login('again', secret_id)).status).toBe(400);
    expect((await world.root('LIST', `${ROLE}/again/secret-id`)).status).toBe(404);
    expect(await world.isGood(token)).toBe(true);
  });
});

describe('a secret ID', () => {
  it('is made, looked up both ways, listed and destroyed', async () => {
    await write('life', { secret_id_ttl: '1h', secret_id_num_uses: 3 });
    const made = await secretOf('life', { metadata: '{"team":"a"}', num_uses: 2 });
    expect(made).toEqual({
      secret_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      secret_id_accessor: expect.stringMatching(/^[0-9a-f-]{36}$/),
      secret_id_num_uses: 2,
      secret_id_ttl: 3600,
    });
    const { secret_id, secret_id_accessor } = made;
    const by = (path: string, body: object) => world.root('POST', `${ROLE}/life/${path}`, body);
    const { data } = (await by('secret-id/lookup', { secret_id })).json;
    expect(data).toMatchObject({
      cidr_list: [],
      metadata: { team: 'a' },
      secret_id_accessor,
      secret_id_num_uses: 2,
      token_bound_cidrs: [],
    });
    expect((await by('secret-id-accessor/lookup', { secret_id_accessor })).json.data).toEqual(data);
    expect((await world.root('LIST', `${ROLE}/life/secret-id`)).json.data.keys).toEqual([secret_id_accessor]);
    expect((await by('secret-id-accessor/destroy', { secret_id_accessor })).status).toBe(204);
    expect((await by('secret-id/lookup', { secret_id })).status).toBe(204);
    const gone = await by('secret-id-accessor/lookup', { secret_id_accessor });
    expect([gone.status, gone.json.data]).toEqual([
      404,
      { error: `failed to find accessor entry for secret_id_accessor: "${secret_id_accessor}"` },
    ]);
    expect((await world.root('LIST', `${ROLE}/life/secret-id`)).status).toBe(404);
    const again = await secretOf('life');
    const path = `${ROLE}/life/secret-id/destroy?secret_id=${again.secret_id}`;
    expect((await world.root('DELETE', path)).status).toBe(204);
    expect((await world.root('LIST', `${ROLE}/life/secret-id`)).status).toBe(404);
  });

  it.each([
    ['secret-id-accessor/lookup', { secret_id_accessor: 'x' }],
    ['secret-id-accessor/destroy', { secret_id_accessor: 'x' }],
    ['secret-id/lookup', { secret_id: 'x' }],
    ['secret-id/destroy', { secret_id: 'x' }],
  ])('is gone with its role, which the status says to who asks by %s', async (path, body) => {
    const { status, json } = await world.root('POST', `${ROLE}/gone/${path}`, body);
    expect([status, json]).toEqual([404, { errors: ['role "gone" does not exist'] }]);
  });

  it.each([
    ['secret-id', { num_uses: 4 }, "num_uses cannot be higher than the role's secret_id_num_uses"],
    ['secret-id', { num_uses: 0 }, "num_uses cannot be higher than the role's secret_id_num_uses"],
    ['secret-id', { num_uses: -1 }, 'num_uses cannot be negative'],
    ['secret-id', { ttl: 3601 }, "ttl cannot be longer than the role's secret_id_ttl"],
    ['secret-id', { ttl: 0 }, "ttl cannot be longer than the role's secret_id_ttl"],
    [
      'secret-id',
      { metadata: 'junk' },
      'failed to parse metadata: failed to parse the input: invalid <key,value> format',
    ],
    ['secret-id', { cidr_list: 'xx' }, 'failed to validate CIDR blocks: invalid CIDR address: xx'],
    [
      'secret-id',
      { cidr_list: '11.0.0.0/8' },
      'failed to verify subset relationship between CIDR blocks on the role [10.0.0.0/8] and CIDR blocks on the secret ID [11.0.0.0/8]',
    ],
    ['custom-secret-id', {}, 'missing secret_id'],
    ['secret-id/lookup', {}, 'missing secret_id'],
    ['secret-id-accessor/destroy', {}, 'missing secret_id_accessor'],
  ])('is refused: %s %j', async (path, body, message) => {
    await write('strict', {
      secret_id_num_uses: 3,
      secret_id_ttl: 3600,
      secret_id_bound_cidrs: '10.0.0.0/8',
    });
    expect(errorOf(await world.root('POST', `${ROLE}/strict/${path}`, body))).toEqual([400, message]);
  });

  it('may have as many uses and as long a life as its role gives', async () => {
    await write('most', { secret_id_num_uses: 3, secret_id_ttl: 3600 });
    const body = { num_uses: 3, ttl: 3600 };
    const { data } = (await world.root('POST', `${ROLE}/most/secret-id`, body)).json;
    expect([data.secret_id_num_uses, data.secret_id_ttl]).toEqual([3, 3600]);
  });

  it('comes wrapped for whoever is to log in with it, and is named by its accessor', async () => {
    await write('handed', { role_id: 'handed' });
    const asked = await world.anybody('POST', `${ROLE}/handed/secret-id`, {
      token: world.server.token,
      ...wrapping,
    });
    const { data, wrap_info } = asked.json;
    expect([data, wrap_info.creation_path]).toEqual([null, `${ROLE}/handed/secret-id`]);
    const opened = (await unwrap(wrap_info.token)).json.data;
    expect(opened.secret_id_accessor).toBe(wrap_info.wrapped_accessor);
    expect((await login('handed', opened.secret_id)).status).toBe(200);
    expect((await unwrap(wrap_info.token)).status).toBe(400);
  });

  it('that is only told of, or made up, is not what a wrapped answer holds', async () => {
    await write('told', { role_id: 'told' });
    const { secret_id, secret_id_accessor } = await secretOf('told');
    const body = { secret_id, secret_id_accessor };
    for (const path of [`${ROLE}/told/secret-id/lookup`, 'sys/wrapping/wrap']) {
      const { json } = await world.anybody('POST', path, { token: world.server.token, body, ...wrapping });
      expect(json.wrap_info).not.toHaveProperty('wrapped_accessor');
      expect((await unwrap(json.wrap_info.token)).json.data).toMatchObject({ secret_id_accessor });
    }
  });

  it('of the caller may be the same for two roles, and once for one', async () => {
    const own = { secret_id: 'my-secret' };
    for (const name of ['one', 'two']) {
      await write(name, { role_id: name });
      expect((await world.root('POST', `${ROLE}/${name}/custom-secret-id`, own)).status).toBe(200);
    }
    expect(errorOf(await world.root('POST', `${ROLE}/one/custom-secret-id`, own))).toEqual([
      400,
      'failed to store secret_id: SecretID is already registered',
    ]);
    expect((await login('two', 'my-secret')).json.auth.metadata).toEqual({ role_name: 'two' });
  });

  it('of another role is not told by its accessor, nor destroyed', async () => {
    await write('mine');
    await write('yours');
    const { secret_id_accessor } = await secretOf('mine');
    const by = (path: string) =>
      world.root('POST', `${ROLE}/yours/secret-id-accessor/${path}`, { secret_id_accessor });
    expect((await by('lookup')).status).toBe(204);
    expect(errorOf(await by('destroy'))).toEqual([403, 'invalid secret id accessor']);
  });
});

describe('a login', () => {
  it('takes role ID and secret ID, and tells what the token has', async () => {
    await write('in', { role_id: 'in', token_policies: 'app', token_ttl: '20m' });
    const { secret_id } = await secretOf('in', { metadata: 'team=a,role_name=x' });
    const { status, json } = await login(' in ', ` ${secret_id}\n`);
    expect([status, json.auth.metadata, json.auth.lease_duration]).toEqual([
      200,
      { team: 'a', role_name: 'in' },
      1200,
    ]);
    const token = json.auth.client_token;
    expect((await world.anybody('GET', 'auth/token/lookup-self', { token })).json.data).toMatchObject({
      path: 'auth/approle/login',
      display_name: 'approle',
      policies: ['app', 'default'],
      orphan: true,
    });
  });

  it('is answered wrapped to whoever gets in, and a refusal is open', async () => {
    await write('sealed', { role_id: 'sealed' });
    const { secret_id } = await secretOf('sealed');
    const ask = (role_id: string) =>
      world.anybody('POST', 'auth/approle/login', { body: { role_id, secret_id }, ...wrapping });
    const { auth, wrap_info } = (await ask('sealed')).json;
    expect([auth, wrap_info.creation_path]).toEqual([null, 'auth/approle/login']);
    const opened = (await unwrap(wrap_info.token)).json.auth;
    expect(opened.accessor).toBe(wrap_info.wrapped_accessor);
    expect(await world.isGood(opened.client_token)).toBe(true);
    expect(errorOf(await ask('nosuch'))).toEqual([400, 'invalid role or secret ID']);
  });

  it('says nothing of what is wrong', async () => {
    await write('wrongs', { role_id: 'wrongs' });
    const wrong = [400, 'invalid role or secret ID'];
    expect(errorOf(await login('wrongs', 'x'))).toEqual(wrong);
    expect(errorOf(await login('nosuch', 'x'))).toEqual(wrong);
    expect(errorOf(await login('', 'x'))).toEqual([400, 'missing role_id']);
    expect(errorOf(await login('wrongs'))).toEqual([400, 'missing secret_id']);
    expect(errorOf(await world.anybody('GET', 'auth/approle/login'))).toEqual([405, 'unsupported operation']);
  });

  it('comes from where secret ID and role allow it, and a try from elsewhere costs a use', async () => {
    await write('far', { role_id: 'far' });
    const { secret_id } = await secretOf('far', { cidr_list: '10.0.0.0/8', num_uses: 1 });
    expect(errorOf(await login('far', secret_id))).toEqual([
      400,
      'source address "127.0.0.1" unauthorized by CIDR restrictions on the secret ID',
    ]);
    expect(errorOf(await login('far', secret_id))).toEqual([400, 'invalid role or secret ID']);
    await write('far', { secret_id_bound_cidrs: '10.0.0.0/8', bind_secret_id: false });
    expect(errorOf(await login('far'))[1]).toContain('on the role');
    const refused = await world.root('POST', `${ROLE}/far/secret-id`);
    expect(errorOf(refused)).toEqual([400, 'bind_secret_id is not set on the role']);
    await write('far', { secret_id_bound_cidrs: '127.0.0.0/8' });
    expect((await login('far')).status).toBe(200);
  });

  it.each([
    ['a narrower role', { token_bound_cidrs: '127.0.0.0/16' }, '127.0.0.0/8', ['127.0.0.0/16']],
    ['a narrower secret ID', { token_bound_cidrs: '127.0.0.0/8' }, '127.0.0.0/16', ['127.0.0.0/16']],
    ['another role', { token_bound_cidrs: '10.0.0.0/8' }, '127.0.0.0/8', undefined],
    ['a binding to the address', { token_strictly_bind_ip: true }, '0.0.0.0/0', ['127.0.0.1']],
    ['one to the address elsewhere', { token_strictly_bind_ip: true }, '10.0.0.0/8', undefined],
  ])('binds its token by what is left of role and secret ID: %s', async (name, settings, ofSecret, bound) => {
    const role = name.replaceAll(' ', '-');
    await write(role, { role_id: role, token_bound_cidrs: '' });
    const { secret_id } = await secretOf(role, { token_bound_cidrs: ofSecret });
    await write(role, settings);
    const answer = await login(role, secret_id);
    if (bound === undefined) {
      expect(errorOf(answer)[1]).toContain('CIDR restrictions on the secret ID');
      return;
    }
    const seen = await world.root('POST', 'auth/token/lookup', { token: answer.json.auth.client_token });
    expect(seen.json.data.bound_cidrs).toEqual(bound);
  });

  it('ends with the time of the secret ID, before anybody tidied, and tidying takes it away', async () => {
    await write('short', { role_id: 'short' });
    const { secret_id, secret_id_accessor } = await secretOf('short', { ttl: '1h' });
    const kept = await secretOf('short');
    expect((await login('short', secret_id)).status).toBe(200);
    putClockForward(60 * 60_000);
    expect((await login('short', secret_id)).status).toBe(400);
    const { status, json } = await world.root('POST', 'auth/approle/tidy/secret-id');
    expect([status, json.data, json.warnings.length]).toEqual([202, null, 1]);
    const gone = await world.root('POST', `${ROLE}/short/secret-id-accessor/lookup`, { secret_id_accessor });
    expect(gone.status).toBe(404);
    expect((await world.root('LIST', `${ROLE}/short/secret-id`)).json.data.keys).toEqual([
      kept.secret_id_accessor,
    ]);
  });

  it('is given once for one use, however many workers are asked at the same moment', async () => {
    const server = await spawnServer({ workers: 2 });
    const root = (method: string, path: string, body?: object) =>
      send(server.address, method, `/v1/${path}`, {
        token: server.token,
        body,
      });
    await root('POST', 'sys/auth/approle', { type: 'approle' });
    await root('POST', `${ROLE}/once`, { role_id: 'once', secret_id_num_uses: 3 });
    for (const num_uses of [1, 3]) {
      const { secret_id } = (await root('POST', `${ROLE}/once/secret-id`, { num_uses })).json.data;
      const body = { role_id: 'once', secret_id };
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => send(server.address, 'POST', '/v1/auth/approle/login', { body })),
      );
      const given = answers.filter(({ status }) => status === 200);
      expect(new Set(given.map(({ json }) => json.auth.client_token)).size).toBe(num_uses);
      expect(answers.filter(({ status }) => status === 400 || status === 429)).toHaveLength(50 - num_uses);
    }
  });
});
