import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  type Reply,
  type SendOptions,
  send,
  setPolicy,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';

const ROLES = '/v1/auth/token/roles';
const CREATE = '/v1/auth/token/create';

let server: TestServer;
let pipeline: string;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({ listen: ['127.0.0.1:0'] }, afterwards);
  for (const name of ['app', 'other']) {
    await setPolicy(server.directory, name, 'path "transit/random" { capabilities = ["update"] }');
  }
  await setPolicy(
    server.directory,
    'pipeline',
    'path "auth/token/create/*" { capabilities = ["update"] } path "auth/token/roles/new" { capabilities = ["create"] }',
  );
  pipeline = await issueToken(server.directory, { policies: ['pipeline'] });
});

/** As the owner of everything. */
const call = (method: string, path: string, options: SendOptions = {}) =>
  send(server.address, method, path, { token: server.token, ...options });

const problem = ({ status, json }: Reply) => [status, json?.errors];

/** A token that somebody makes by a role with these settings. */
async function created(role: object, body: object = {}, token = pipeline): Promise<Reply> {
  await call('DELETE', `${ROLES}/tried`);
  const { status, json } = await call('POST', `${ROLES}/tried`, { body: role });
  expect([status, json]).toEqual([204, undefined]);
  return send(server.address, 'POST', `${CREATE}/tried`, { token, body });
}

describe('a token role', () => {
  it('is listed, read as it was written, changed in part, and deleted', async () => {
    expect(problem(await call('LIST', ROLES))).toEqual([404, []]);
    expect(problem(await call('GET', `${ROLES}/ci`))).toEqual([404, []]);
    const body = {
      allowed_policies: 'App,other',
      orphan: true,
      path_suffix: 'rev1',
      token_period: '1h',
      token_num_uses: 5,
    };
    expect((await call('POST', `${ROLES}/ci`, { body })).status).toBe(204);
    await call('POST', `${ROLES}/ci`, { body: { allowed_policies: ['app'] } });
    const { data } = (await call('GET', `${ROLES}/ci`)).json;
    expect(JSON.stringify(data)).toBe(
      '{"allowed_entity_aliases":null,"allowed_policies":["app"],"allowed_policies_glob":[],"disallowed_policies":[],' +
        '"disallowed_policies_glob":[],"explicit_max_ttl":0,"name":"ci","orphan":true,"path_suffix":"rev1","period":0,' +
        '"renewable":true,"token_explicit_max_ttl":0,"token_no_default_policy":false,"token_num_uses":5,"token_period":3600,' +
        '"token_type":"default-service"}',
    );
    expect((await call('LIST', ROLES)).json.data).toEqual({ keys: ['ci'] });
    expect((await call('DELETE', `${ROLES}/ci`)).status).toBe(204);
    expect((await call('DELETE', `${ROLES}/ci`)).status).toBe(204);
    expect(problem(await call('POST', `${CREATE}/ci`, { body: {} }))).toEqual([400, ['unknown role ci']]);
  });

  it('is told in older names, too, until a newer one is given', async () => {
    const told = async (body: object) => {
      await call('POST', `${ROLES}/old`, { body });
      return (await call('GET', `${ROLES}/old`)).json.data;
    };
    expect(await told({ period: 60, bound_cidrs: '10.0.0.0/8' })).toMatchObject({
      period: 60,
      token_period: 60,
      bound_cidrs: ['10.0.0.0/8'],
      token_bound_cidrs: ['10.0.0.0/8'],
    });
    expect(await told({ period: 60, token_period: 90 })).toMatchObject({ period: 0, token_period: 90 });
    await call('DELETE', `${ROLES}/old`);
  });

  it.each([
    [{ path_suffix: 'v1' }, 'given role path suffix contains invalid characters; must match \\w[\\w-.]+\\w'],
    [{ path_suffix: 'a..b' }, 'error registering path suffix: ".." is not allowed'],
    [{ token_type: 'default' }, `invalid 'token_type' value "default"`],
    [
      { token_type: 'batch' },
      "'token_type' cannot be 'batch' when role is set to generate non-orphan tokens",
    ],
    [
      { token_type: 'batch', orphan: true },
      "'token_type' cannot be 'batch' when role is set to generate renewable tokens",
    ],
    [
      { token_type: 'batch', orphan: true, token_period: 60 },
      "'token_type' cannot be 'batch' when role is set to generate periodic tokens",
    ],
    [
      { token_type: 'batch', orphan: true, renewable: false, token_explicit_max_ttl: 60 },
      "'token_type' cannot be 'batch' when role is set to generate tokens with an explicit max TTL",
    ],
    [{ token_num_uses: -1 }, "'token_num_uses' cannot be negative"],
    [
      { token_bound_cidrs: ['nowhere'] },
      'error parsing address "nowhere": Unable to convert "nowhere" to an IPv4 or IPv6 address, or a UNIX Socket',
    ],
  ])('is refused when it says %j', async (body, text) => {
    expect(problem(await call('POST', `${ROLES}/bad`, { body }))).toEqual([400, [text]]);
  });

  it('takes the right to create it, and another one to change it', async () => {
    const write = () => send(server.address, 'POST', `${ROLES}/new`, { token: pipeline, body: {} });
    expect([(await write()).status, (await write()).status]).toEqual([204, 403]);
  });
});

describe('the policies of a token that is made by a role', () => {
  it.each<[string, object, object, readonly string[]]>([
    ['are those that the role allows', { allowed_policies: ['app'] }, {}, ['app', 'default']],
    [
      'are those asked for',
      { allowed_policies: ['app', 'other'] },
      { policies: ['app'] },
      ['app', 'default'],
    ],
    ['may match a glob', { allowed_policies_glob: ['ot*r'] }, { policies: ['other'] }, ['default', 'other']],
    ['are none but default with globs alone', { allowed_policies_glob: ['o*'] }, {}, ['default']],
    ['are the creator’s with refusals alone', { disallowed_policies: ['app'] }, {}, ['default', 'pipeline']],
    [
      'are not the creator’s for an empty name',
      { disallowed_policies: ['app'] },
      { policies: [''] },
      ['default'],
    ],
    ['are not the role’s for an empty name', { allowed_policies: 'app' }, { policies: [''] }, ['default']],
    [
      'are not the creator’s for an empty text',
      { disallowed_policies: ['app'] },
      { policies: '' },
      ['default'],
    ],
    [
      'lack a default that the role switches off',
      { allowed_policies: 'app', token_no_default_policy: true },
      {},
      ['app'],
    ],
    [
      'lack a default that the caller does not want',
      { allowed_policies: 'app' },
      { no_default_policy: true },
      ['app'],
    ],
    [
      'lack a default that is refused',
      { allowed_policies: 'app', disallowed_policies: 'default' },
      {},
      ['app'],
    ],
    ['are a part of the creator’s without lists', {}, { policies: ['pipeline'] }, ['default', 'pipeline']],
  ])('are what role and request agree on: they %s', async (_, role, body, policies) => {
    expect((await created(role, body)).json.auth.policies).toEqual(policies);
  });

  it.each<[object, object, string]>([
    [
      { allowed_policies: ['app'] },
      { policies: ['other'] },
      'token policies (["default" "other"]) must be subset of the role\'s allowed policies (["app" "default"]) or glob policies ([])',
    ],
    [
      { allowed_policies: ['app'], disallowed_policies_glob: ['a*'] },
      {},
      'token policy "app" is disallowed by this role',
    ],
    [
      { disallowed_policies: ['App'] },
      { policies: ['app'] },
      'token policy "app" is disallowed by this role',
    ],
    [{}, { policies: ['app'] }, 'child policies must be subset of parent'],
    [{ allowed_policies: ['root'] }, {}, 'root tokens may not be created without parent token being root'],
  ])('are not those that role %j refuses to %j', async (role, body, text) => {
    expect(problem(await created(role, body))).toEqual([400, [text]]);
  });
});

describe('a token that is made by a role', () => {
  it('is what the role says, and tells its name', async () => {
    const role = {
      allowed_policies: 'app',
      orphan: true,
      renewable: false,
      path_suffix: 'rev1',
      token_explicit_max_ttl: '1h',
    };
    const { auth, warnings } = (await created(role, { no_parent: false })).json;
    expect(warnings).toEqual([
      'TTL of "768h" exceeded the effective max_ttl of "1h"; TTL value is capped accordingly',
    ]);
    expect(auth).toMatchObject({ orphan: true, renewable: false, lease_duration: 3600 });
    const { data } = (await call('GET', '/v1/auth/token/lookup-self', { token: auth.client_token })).json;
    expect(data).toMatchObject({
      path: 'auth/token/create/tried/rev1',
      role: 'tried',
      explicit_max_ttl: 3600,
    });
  });

  it('ends with its creator unless the role says otherwise, whatever the caller wants', async () => {
    expect((await created({ allowed_policies: 'app' }, { no_parent: true })).json.auth.orphan).toBe(false);
  });

  it('has the lesser of the times and uses of role and request', async () => {
    const role = { allowed_policies: 'app', token_period: 1800, token_num_uses: 5 };
    const asking = { period: '1h', explicit_max_ttl: 900, num_uses: 3 };
    expect((await created(role, asking)).json.errors).toEqual([
      'root or sudo privileges required to create periodic token',
    ]);
    const { auth, warnings } = (await created(role, asking, server.token)).json;
    expect(warnings[0]).toBe(
      'Period specified both during creation call and in role; using the lesser value of 1800 seconds',
    );
    expect([auth.num_uses, auth.lease_duration]).toEqual([3, 900]);
    expect((await created(role)).json.auth).toMatchObject({ num_uses: 5, lease_duration: 1800 });
  });

  it('is good from the addresses of the role alone, and so is what it makes', async () => {
    const role = (networks: string) => ({ allowed_policies: 'pipeline', token_bound_cidrs: networks });
    const ask = (token: string) => send(server.address, 'GET', '/v1/auth/token/lookup-self', { token });
    const near = (await created(role('127.0.0.0/8'))).json.auth.client_token;
    expect((await ask(near)).json.data.bound_cidrs).toEqual(['127.0.0.0/8']);
    const child = await created({ allowed_policies: 'app' }, {}, near);
    expect((await ask(child.json.auth.client_token)).json.data.bound_cidrs).toEqual(['127.0.0.0/8']);
    const far = (await created(role('192.0.2.7'))).json.auth.client_token;
    expect(problem(await ask(far))).toEqual([403, ['permission denied']]);
  });

  it('outlives its role', async () => {
    const { auth } = (await created({ allowed_policies: 'app' })).json;
    await call('DELETE', `${ROLES}/tried`);
    expect((await call('GET', '/v1/auth/token/lookup-self', { token: auth.client_token })).status).toBe(200);
  });

  it('has no entity', async () => {
    expect(problem(await created({ allowed_policies: 'app' }, { entity_alias: 'x' }))).toEqual([
      400,
      ["invalid 'entity_alias' value"],
    ]);
  });
});

describe('auth/token/tidy', () => {
  it('removes what is left of tokens that ended', async () => {
    const { accessor, client_token: token } = (await created({ allowed_policies: 'app', token_num_uses: 1 }))
      .json.auth;
    await send(server.address, 'POST', '/v1/transit/random', { token });
    const { status, json } = await call('POST', '/v1/auth/token/tidy');
    expect([status, json.warnings?.length]).toEqual([202, 1]);
    expect((await call('POST', '/v1/auth/token/lookup-accessor', { body: { accessor } })).status).toBe(400);
  });
});
