import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  type Reply,
  send,
  startServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';
import { type LoginServer, loginServer } from './logins.ts';

let world: LoginServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  world = await loginServer(afterwards);
  const policy = 'path "transit/random" { capabilities = ["update"] }';
  await world.root('POST', 'sys/policies/acl/app', { policy });
  for (const path of ['one', 'one-more']) {
    await world.enable('approle', path);
    for (const token_type of ['service', 'batch']) {
      await world.root('POST', `auth/${path}/role/${token_type}`, { token_policies: 'app', token_type });
    }
  }
});

const problem = ({ status, json }: Reply) => [status, ...(json?.errors ?? [])];

async function logIn(path: string, kind: 'service' | 'batch'): Promise<string> {
  const role = `auth/${path}/role/${kind}`;
  const { role_id } = (await world.root('GET', `${role}/role-id`)).json.data;
  const { secret_id } = (await world.root('POST', `${role}/secret-id`)).json.data;
  return (await world.anybody('POST', `auth/${path}/login`, { body: { role_id, secret_id } })).json.auth
    .client_token;
}

const leasesBelow = async (path: string): Promise<readonly string[]> =>
  (await world.root('LIST', `sys/leases/lookup/${path}`)).json.data?.keys ?? [];

/** The lease of a token that is made here, the only one of its path. */
async function leaseOf(path: string): Promise<{ readonly token: string; readonly lease: string }> {
  await world.root('POST', `auth/token/roles/${path}`, { allowed_policies: 'app', orphan: true });
  const { client_token: token } = (await world.root('POST', `auth/token/create/${path}`, { ttl: '1h' })).json
    .auth;
  const [id] = await leasesBelow(`auth/token/create/${path}/`);
  return { token, lease: `auth/token/create/${path}/${id}` };
}

describe('a root token that never ends', () => {
  it('has no lease, so that ending all of its path, or all that there are, does not end it', async () => {
    const make = async (body: object): Promise<string> =>
      (await world.root('POST', 'auth/token/create', body)).json.auth.client_token;
    const endless = await make({ policies: ['root'] });
    for (const path of ['auth/token', 'auth/token/create', 'auth']) {
      const ending = await make({ policies: ['root'], ttl: '1h' });
      expect((await world.root('PUT', `sys/leases/revoke-prefix/${path}`)).status).toBe(204);
      expect([await world.isGood(endless), await world.isGood(ending)], path).toEqual([true, false]);
    }
    expect(await world.isGood(world.server.token)).toBe(true);
  });
});

describe('a lease', () => {
  it('is of a token, and found by the path that issued it', async () => {
    const { lease } = await leaseOf('found');
    expect(lease).toMatch(/^auth\/token\/create\/found\/h[0-9a-f]{64}$/);
    expect(await leasesBelow('auth/token')).toEqual(['create/']);
    expect((await world.root('GET', 'sys/leases/lookup?list=true')).json.data.keys).toContain('auth/');
    const { data } = (await world.root('POST', 'sys/leases/lookup', { lease_id: lease })).json;
    expect(data).toEqual({
      expire_time: expect.stringMatching(/Z$/),
      id: lease,
      issue_time: expect.stringMatching(/Z$/),
      last_renewal: null,
      path: 'auth/token/create/found',
      renewable: true,
      ttl: expect.any(Number),
    });
    expect(problem(await world.root('LIST', 'sys/leases/lookup/nowhere'))).toEqual([404]);
  });

  it('is no other’s: neither at another path nor with another end', async () => {
    const { lease } = await leaseOf('exact');
    const last = lease.at(-1) === '0' ? '1' : '0';
    for (const wrong of [
      lease.replace('exact', 'found'),
      lease.slice(0, -1) + last,
      lease.slice(0, -1),
      'x',
    ]) {
      expect(problem(await world.root('POST', 'sys/leases/lookup', { lease_id: wrong }))).toEqual([
        400,
        'invalid lease',
      ]);
    }
  });

  it.each([
    ['lookup', {}, 'lease_id must be specified'],
    ['renew', { lease_id: 'auth/token/create/hx' }, 'lease not found'],
    ['revoke', {}, 'lease_id must be specified'],
  ])('is refused to %s with %j', async (path, body, text) => {
    expect(problem(await world.root('POST', `sys/leases/${path}`, body))).toEqual([400, text]);
  });

  it('is not renewed as a lease, and ends with its token', async () => {
    const { token, lease } = await leaseOf('ended');
    expect(problem(await world.root('POST', 'sys/leases/renew', { lease_id: lease }))).toEqual([
      400,
      'tokens cannot be renewed through this endpoint',
    ]);
    expect(await world.isGood(token)).toBe(true);
    for (let again = 0; again < 2; again++) {
      expect((await world.root('POST', 'sys/leases/revoke', { lease_id: lease })).status).toBe(204);
    }
    expect(await world.isGood(token)).toBe(false);
  });

  it('is the one of the path, whatever the body says', async () => {
    const [meant, other] = [await leaseOf('meant'), await leaseOf('other')];
    const { status } = await world.root('POST', `sys/leases/revoke/${meant.lease}`, {
      lease_id: other.lease,
    });
    expect(status).toBe(204);
    expect([await world.isGood(meant.token), await world.isGood(other.token)]).toEqual([false, true]);
  });

  it('takes sudo to be listed, and to be ended with others', async () => {
    const policy = 'path "sys/*" { capabilities = ["create", "read", "update", "delete", "list"] }';
    await world.root('POST', 'sys/policies/acl/operator', { policy });
    const { client_token: token } = (await world.root('POST', 'auth/token/create', { policies: 'operator' }))
      .json.auth;
    for (const [method, path] of [
      ['LIST', 'sys/leases/lookup/auth'],
      ['POST', 'sys/leases/revoke-prefix/auth'],
      ['POST', 'sys/revoke-prefix/auth'],
      ['GET', 'sys/audit'],
    ] as const) {
      expect((await world.anybody(method, path, { token })).status).toBe(403);
    }
  });

  it('is tidied without a word', async () => {
    const { status, json } = await world.root('POST', 'sys/leases/tidy');
    expect([status, json.warnings?.length]).toEqual([202, 1]);
    const { counters } = (await world.root('GET', 'sys/internal/counters/tokens')).json.data;
    expect(counters.service_tokens.total).toBeGreaterThan(2);
  });
});

describe('revoke-prefix', () => {
  it.each([
    'sys/leases/revoke-prefix/auth/one',
    'sys/leases/revoke-prefix/auth/one/',
    'sys/leases/revoke-force/auth/one/login',
    'sys/revoke-prefix/auth/one',
  ])('%s ends the tokens of that path and of no other, and lets logins go on', async (path) => {
    const doomed = [await logIn('one', 'service'), await logIn('one', 'batch')];
    const others = [await logIn('one-more', 'service'), await logIn('one-more', 'batch')];
    expect((await world.root('PUT', path)).status).toBe(204);
    expect((await world.root('PUT', path)).status).toBe(204);
    for (const token of doomed) expect(await world.isGood(token)).toBe(false);
    for (const token of others) expect(await world.isGood(token)).toBe(true);
    for (const kind of ['service', 'batch'] as const)
      expect(await world.isGood(await logIn('one', kind))).toBe(true);
  });
});

describe('audit logs over HTTP', () => {
  const REFUSED =
    'cannot enable audit device via API; use declarative, config-based audit device management instead';

  it('are told where there is one, and can neither be made nor ended', async () => {
    const auditFile = `${temporaryDirectory(afterwards)}/audit.log`;
    const audited = await startServer({ auditFile }, afterwards);
    const ask = (method: string, path: string, body?: object) =>
      send(audited.address, method, `/v1/${path}`, {
        token: audited.token,
        body,
      });
    const { json } = await ask('GET', 'sys/audit');
    const device = {
      description: '',
      local: false,
      options: { file_path: auditFile },
      path: 'file/',
      type: 'file',
    };
    expect([json.data, json['file/']]).toEqual([{ 'file/': device }, device]);
    const body = { type: 'file', options: { file_path: '/etc/cron.d/x' } };
    expect(problem(await ask('PUT', 'sys/audit/other', body))).toEqual([400, REFUSED]);
    expect(problem(await ask('DELETE', 'sys/audit/file'))).toEqual([
      400,
      REFUSED.replace('enable', 'disable'),
    ]);
    expect(problem(await ask('DELETE', 'sys/audit/other'))).toEqual([204]);
    expect(problem(await ask('POST', 'sys/audit-hash/file', { input: '' }))).toEqual([
      400,
      'the "input" parameter is empty',
    ]);
  });

  it('are none where the server writes none', async () => {
    expect((await world.root('GET', 'sys/audit')).json.data).toEqual({});
  });
});
