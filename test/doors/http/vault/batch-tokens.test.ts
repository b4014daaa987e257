import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { rekey } from '../../../../src/store/administration/slots.ts';
import {
  cleanUpAfterAll,
  openTestStore,
  type Reply,
  send,
  spawnServer,
  startServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';

/** A server of two workers, and another one beside it on the same store. */
let first: Awaited<ReturnType<typeof spawnServer>>;
let second: Awaited<ReturnType<typeof startServer>>;
let auditFile: string;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  auditFile = join(temporaryDirectory(afterwards), 'audit.log');
  first = await spawnServer({ workers: 2, auditFile }, afterwards);
  second = await startServer({ location: first.directory }, afterwards);
  const policy =
    'path "transit/random" { capabilities = ["update"] } path "auth/token/create*" { capabilities = ["update", "sudo"] }';
  await root('POST', 'sys/policies/acl/app', { policy });
  await root('POST', 'sys/auth/approle', { type: 'approle' });
});

const ask = (address: string, method: string, path: string, token: string | undefined, body?: unknown) =>
  send(address, method, `/v1/${path}`, {
    token,
    body,
  });
const root = (method: string, path: string, body?: unknown) =>
  ask(first.address, method, path, first.token, body);
const problem = ({ status, json }: Reply) => [status, ...(json?.errors ?? [])];

const make = async (body: object = {}, token = first.token) =>
  (
    await ask(first.address, 'POST', 'auth/token/create', token, {
      policies: ['app'],
      type: 'batch',
      ...body,
    })
  ).json.auth;

/** What both servers say of a token: each of the workers several times, on connections of their own. */
async function statusOf(token: string): Promise<number> {
  const asked = [first, first, first, first, second].map(({ address }) =>
    ask(address, 'POST', 'transit/random', token, {}),
  );
  const seen = new Set((await Promise.all(asked)).map(({ status }) => status));
  expect(seen.size).toBe(1);
  return [...seen][0] ?? 0;
}

/** Logs in by a role with these settings. */
async function logIn(role: object, mount = 'approle'): Promise<Reply> {
  await root('DELETE', `auth/${mount}/role/tried`);
  expect((await root('POST', `auth/${mount}/role/tried`, { token_policies: 'app', ...role })).status).toBe(
    204,
  );
  const { role_id } = (await root('GET', `auth/${mount}/role/tried/role-id`)).json.data;
  const { secret_id } = (await root('POST', `auth/${mount}/role/tried/secret-id`)).json.data;
  return ask(second.address, 'POST', `auth/${mount}/login`, undefined, { role_id, secret_id });
}

describe('a batch token', () => {
  it('is answered as the family does, and looked up by itself', async () => {
    const auth = await make({ ttl: '1h', renewable: true, explicit_max_ttl: '0s', id: 'ignored' });
    const { client_token: token } = auth;
    expect(token).toMatch(/^b\./);
    // A second may have passed.
    expect(JSON.stringify(auth).replace('3599', '3600')).toBe(
      `{"client_token":"${token}","accessor":"","policies":["app","default"],"token_policies":["app","default"],` +
        '"metadata":null,"lease_duration":3600,"renewable":false,"entity_id":"","token_type":"batch","orphan":false,' +
        '"mfa_requirement":null,"num_uses":0}',
    );
    const told = {
      accessor: '',
      creation_ttl: 3600,
      id: token,
      num_uses: 0,
      orphan: false,
      path: 'auth/token/create',
      policies: ['app', 'default'],
      renewable: false,
      type: 'batch',
    };
    expect((await ask(second.address, 'GET', 'auth/token/lookup-self', token)).json.data).toMatchObject(told);
    expect((await root('POST', 'auth/token/lookup', { token })).json.data).toMatchObject(told);
  });

  it('is good for every worker and server at once', async () => {
    const tokens = await Promise.all([1, 2, 3].map(async () => (await make()).client_token));
    for (const token of tokens) expect(await statusOf(token)).toBe(200);
  });

  it('can be neither renewed, revoked nor multiplied', async () => {
    const { client_token: token } = await make();
    const by = (path: string, body: object = {}) =>
      ask(second.address, 'POST', `auth/token/${path}`, token, body);
    expect(problem(await by('renew-self'))).toEqual([400, 'batch tokens cannot be renewed']);
    expect(problem(await by('revoke-self'))).toEqual([400, 'batch tokens cannot be revoked']);
    for (const type of ['batch', 'service', '']) {
      expect(problem(await by('create', { type }))).toEqual([400, 'batch tokens cannot create more tokens']);
    }
    expect(problem(await root('POST', 'auth/token/renew', { token }))).toEqual([
      400,
      'batch tokens cannot be renewed',
    ]);
    for (const path of ['revoke', 'revoke-orphan']) {
      expect(problem(await root('POST', `auth/token/${path}`, { token }))).toEqual([
        400,
        'batch tokens cannot be revoked',
      ]);
    }
    expect(problem(await root('POST', 'auth/token/lookup-accessor', { accessor: '' }))).toEqual([
      400,
      'missing accessor',
    ]);
    expect(await statusOf(token)).toBe(200);
  });

  it('tells what it may do', async () => {
    const { client_token: token } = await make();
    const own = await ask(second.address, 'POST', 'sys/capabilities-self', token, {
      paths: ['transit/random'],
    });
    expect(own.json.data['transit/random']).toEqual(['update']);
    const of = await root('POST', 'sys/capabilities', { token, paths: ['transit/random'] });
    expect(of.json.data['transit/random']).toEqual(['update']);
  });

  it('is worth nothing with one character changed, and nobody is told why', async () => {
    const { client_token: token } = await make();
    const forged = `${token.slice(0, -9)}${token.at(-9) === 'A' ? 'B' : 'A'}${token.slice(-8)}`;
    expect(problem(await ask(second.address, 'GET', 'auth/token/lookup-self', forged))).toEqual([
      403,
      'permission denied',
    ]);
    expect(problem(await root('POST', 'auth/token/lookup', { token: forged }))).toEqual([403, 'bad token']);
  });

  it('ends with its issuer, everywhere', async () => {
    const issuer = (await root('POST', 'auth/token/create', { policies: ['app'] })).json.auth;
    const child = await make({ policies: [] }, issuer.client_token);
    const orphan = await make({ policies: [], no_parent: true }, issuer.client_token);
    expect([child.orphan, orphan.orphan]).toEqual([false, true]);
    expect(await statusOf(child.client_token)).toBe(200);
    await root('POST', 'auth/token/revoke-accessor', { accessor: issuer.accessor });
    expect(await statusOf(child.client_token)).toBe(403);
    expect(await statusOf(orphan.client_token)).toBe(200);
  });

  it('can be wrapped, and is no wrapping token', async () => {
    const { client_token: token } = await make();
    const lookup = await ask(second.address, 'POST', 'sys/wrapping/lookup', undefined, { token });
    expect(problem(lookup)).toEqual([400, 'wrapping token is not valid or does not exist']);
    const wrapped = await send(first.address, 'POST', '/v1/auth/token/create', {
      token: first.token,
      headers: { 'x-vault-wrap-ttl': '60' },
      body: { policies: ['app'], type: 'batch' },
    });
    expect(wrapped.json.wrap_info).not.toHaveProperty('wrapped_accessor');
    const opened = await ask(second.address, 'POST', 'sys/wrapping/unwrap', wrapped.json.wrap_info.token);
    expect(await statusOf(opened.json.auth.client_token)).toBe(200);
  });

  it('stands in the audit trail as what it is, and never in clear', async () => {
    const { client_token: token } = await make();
    await ask(first.address, 'POST', 'transit/random', token, {});
    await ask(first.address, 'GET', `auth/token/lookup/${token}`, first.token);
    const lines = readFileSync(auditFile, 'utf8');
    expect(lines).toContain('"token_type":"batch"');
    expect(lines).not.toContain(token.slice(0, 40));
  });
});

describe('a token role', () => {
  it.each<[string, string | undefined, string]>([
    ['default-service', undefined, 'service'],
    ['default-service', 'batch', 'batch'],
    ['default-batch', undefined, 'batch'],
    ['default-batch', 'service', 'service'],
    ['batch', 'service', 'batch'],
    ['service', 'batch', 'service'],
  ])('with token_type %s makes of %s a %s token', async (token_type, type, made) => {
    await root('POST', 'auth/token/roles/kinds', {
      token_type,
      orphan: true,
      renewable: false,
      allowed_policies: 'app',
    });
    const { auth } = (await root('POST', 'auth/token/create/kinds', { type })).json;
    // What is not stored has no accessor.
    expect([auth.token_type, auth.accessor === '']).toEqual([made, made === 'batch']);
    expect(await statusOf(auth.client_token)).toBe(200);
  });

  it('that counts uses makes no batch token', async () => {
    await root('POST', 'auth/token/roles/counts', { token_type: 'default-batch', token_num_uses: 3 });
    expect(problem(await root('POST', 'auth/token/create/counts', {}))).toEqual([
      400,
      'batch tokens cannot have "num_uses" set',
    ]);
  });
});

describe('logins', () => {
  it.each<[string, string, string]>([
    ['service', 'default', 'service'],
    ['service', 'service', 'service'],
    ['service', 'batch', 'service'],
    ['batch', 'default', 'batch'],
    ['batch', 'service', 'batch'],
    ['batch', 'batch', 'batch'],
    ['default-service', 'default', 'service'],
    ['default-service', 'service', 'service'],
    ['default-service', 'batch', 'batch'],
    ['default-batch', 'default', 'batch'],
    ['default-batch', 'service', 'service'],
    ['default-batch', 'batch', 'batch'],
  ])('at a mount of type %s by a role of type %s get %s tokens', async (ofMount, ofRole, made) => {
    expect((await root('POST', 'sys/auth/approle/tune', { token_type: ofMount })).status).toBe(204);
    expect((await root('GET', 'sys/auth/approle/tune')).json.data.token_type).toBe(ofMount);
    const { auth } = (await logIn({ token_type: ofRole, token_ttl: '10m' })).json;
    expect(auth).toMatchObject({
      token_type: made,
      accessor: made === 'batch' ? '' : expect.stringMatching(/^[0-9a-f]{40}$/),
      renewable: made === 'service',
      lease_duration: 600,
      orphan: true,
      metadata: { role_name: 'tried' },
    });
    expect(await statusOf(auth.client_token)).toBe(200);
  });

  it('write nothing for a batch token', async () => {
    await root('POST', 'sys/auth/approle/tune', { token_type: 'default-service' });
    await logIn({ token_type: 'batch' });
    const { role_id } = (await root('GET', 'auth/approle/role/tried/role-id')).json.data;
    const { secret_id } = (await root('POST', 'auth/approle/role/tried/secret-id')).json.data;
    const store = await openTestStore(first.directory);
    try {
      const before = await store.revision();
      const made = await ask(second.address, 'POST', 'auth/approle/login', undefined, { role_id, secret_id });
      expect(made.json.auth.token_type).toBe('batch');
      expect(await store.revision()).toBe(before);
    } finally {
      store.close();
    }
  });

  it('take the use of a secret ID for a batch token, too', async () => {
    const { status } = await logIn({ token_type: 'batch', secret_id_num_uses: 1 });
    expect(status).toBe(200);
    const { role_id } = (await root('GET', 'auth/approle/role/tried/role-id')).json.data;
    const { secret_id } = (await root('POST', 'auth/approle/role/tried/secret-id')).json.data;
    const tries = Array.from({ length: 12 }, (_, index) =>
      ask([first, second][index % 2]?.address ?? '', 'POST', 'auth/approle/login', undefined, {
        role_id,
        secret_id,
      }),
    );
    const statuses = (await Promise.all(tries)).map((reply) => reply.status);
    expect(statuses.filter((reply) => reply === 200)).toHaveLength(1);
  });

  it('end with their method, and do not come back with another at its path', async () => {
    await root('POST', 'sys/auth/short', { type: 'approle', config: { token_type: 'batch' } });
    const { auth } = (await logIn({}, 'short')).json;
    expect(await statusOf(auth.client_token)).toBe(200);
    await root('DELETE', 'sys/auth/short');
    expect(await statusOf(auth.client_token)).toBe(403);
    await root('POST', 'sys/auth/short', { type: 'approle', config: { token_type: 'batch' } });
    expect(await statusOf(auth.client_token)).toBe(403);
  });

  it('by a role whose tokens can not be of that kind are refused', async () => {
    await root('POST', 'sys/auth/batches', { type: 'approle', config: { token_type: 'batch' } });
    expect(problem(await logIn({ token_num_uses: 3 }, 'batches'))).toEqual([
      400,
      'batch tokens cannot have "num_uses" set',
    ]);
    expect(problem(await logIn({ token_period: 60 }, 'batches'))).toEqual([
      400,
      'batch tokens cannot have "period" set',
    ]);
    const bad = await root('POST', 'auth/batches/role/bad', { token_type: 'batch', token_period: 60 });
    expect(problem(bad)).toEqual([
      400,
      "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens",
    ]);
  });
});

/** Last, since it ends what others have. */
describe('a rekey', () => {
  it('ends every batch token on every server that goes on running, and no service token', async () => {
    const { client_token: token } = await make();
    expect(await statusOf(token)).toBe(200);
    const store = await openTestStore(first.directory);
    await rekey(store);
    store.close();
    expect(await statusOf(token)).toBe(403);
    expect(await statusOf(first.token)).toBe(200);
    expect(await statusOf((await make()).client_token)).toBe(200);
  });
});
