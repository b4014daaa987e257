import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  startServer,
  type TestServer,
} from '../../servers/serving.ts';

let server: TestServer;
let token: string;

const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  await setPolicy(
    server.directory,
    'limited',
    `path "transit/keys/*" {
       capabilities = ["update"]
       denied_parameters = { "exportable" = [true], "type" = ["rsa-*"] }
     }
     path "auth/token/create" {
       capabilities = ["update", "sudo"]
       denied_parameters = { "policies" = ["strong"] }
     }
     path "api/v2/organizations" { capabilities = ["create", "read", "update"] }
     path "api/v2/organizations/acme/workspaces" {
       capabilities = ["create", "update"]
       denied_parameters = { "name" = ["prod-*"] }
     }
     path "api/v2/organizations/acme" {
       capabilities = ["read"]
       denied_parameters = { "include" = [] }
     }`,
  );
  token = await issueToken(server.directory, { policies: ['limited'] });
  await document('POST', 'organizations', { type: 'organizations', attributes: { name: 'acme' } });
});

const data = async (path: string, body: object) =>
  (await send(server.address, 'POST', `/v1/${path}`, { token, body })).status;

const document = async (method: string, path: string, resource?: object) =>
  (
    await send(server.address, method, `/api/v2/${path}`, {
      token,
      headers: { 'content-type': 'application/vnd.api+json' },
      body: resource === undefined ? undefined : { data: resource },
    })
  ).status;

describe('a value that a policy denies', () => {
  it.each([true, 'true', 't', 'T', '1', 1])('is denied when it is spelled %j', async (exportable) => {
    expect(await data('transit/keys/orders', { exportable })).toBe(403);
  });

  it('is no value when it is a number that no boolean is written as', async () => {
    expect(await data('transit/keys/orders', { exportable: 2 })).toBe(400);
  });

  it('is denied though another parameter, which the path replaces, can not be read', async () => {
    expect(await data('transit/keys/orders', { exportable: 't', name: {} })).toBe(403);
  });

  it.each(['strong', 'default,strong', 'default, strong', ' Strong '])(
    'is denied in a list and in capitals: %j',
    async (policies) => {
      expect(await data('auth/token/create', { policies })).toBe(403);
    },
  );

  it('leaves others allowed, and the defaults of the operation', async () => {
    expect(await data('transit/keys/orders', {})).toBe(200);
    expect(await data('transit/keys/others', { exportable: 'f', type: 'ed25519' })).toBe(200);
    expect(await data('auth/token/create', { policies: 'default' })).toBe(200);
  });
});

describe('a path that a policy refuses', () => {
  const DENIED = { errors: ['1 error occurred:\n\t* permission denied\n\n'] };
  const NO_PATH = { errors: ['1 error occurred:\n\t* unsupported path\n\n'] };
  let narrow: string;
  beforeAll(async () => {
    await setPolicy(
      server.directory,
      'narrow',
      `path "transit/*" { capabilities = ["read", "list"] }
       path "transit/export/encryption-key/secret" { capabilities = ["deny"] }
       path "sys/mounts/*" { capabilities = ["read", "delete"] }
       path "sys/mounts/vital" { capabilities = ["deny"] }
       path "sys/policies/acl/*" { capabilities = ["read", "update", "delete"] }
       path "sys/policies/acl/admin" { capabilities = ["deny"] }
       path "sys/policy/*" { capabilities = ["read", "update", "delete"] }
       path "sys/policy/admin" { capabilities = ["deny"] }`,
    );
    narrow = await issueToken(server.directory, { policies: ['narrow'] });
    const { token: root } = server;
    await send(server.address, 'POST', '/v1/transit/keys/secret', {
      token: root,
      body: { exportable: true },
    });
    await send(server.address, 'POST', '/v1/sys/mounts/vital', { token: root, body: {} });
  });

  it.each([
    ['GET', 'transit/export/encryption-key/secret', 403, DENIED],
    ['GET', 'transit/export/encryption-key/secret/', 403, DENIED],
    ['GET', 'transit/export/encryption-key/secret%2f', 403, DENIED],
    ['GET', 'transit/export/encryption-key/secret//', 403, DENIED],
    ['GET', 'transit/export/encryption-key//secret', 404, NO_PATH],
    ['DELETE', 'sys/mounts/vital', 403, DENIED],
    ['DELETE', 'sys/mounts/vital/', 403, DENIED],
    ['DELETE', 'sys/mounts/vital//', 403, DENIED],
    ['GET', 'sys/mounts/vital%2F', 403, DENIED],
  ])('is refused in whatever way it is written: %s %s', async (method, path, status, body) => {
    const reply = await send(server.address, method, `/v1/${path}`, { token: narrow });
    expect([reply.status, reply.json]).toEqual([status, body]);
  });

  it.each(['admin', 'Admin', 'ADMIN', '%20admin', 'admin%20', '%41dmin'])(
    'is refused however the name of a policy is spelled: %s',
    async (name) => {
      for (const [method, space] of [
        ['POST', 'policies/acl'],
        ['POST', 'policy'],
        ['GET', 'policies/acl'],
        ['GET', 'policy'],
        ['DELETE', 'policies/acl'],
        ['DELETE', 'policy'],
      ] as const) {
        const body = method === 'POST' ? { policy: 'path "*" { capabilities = ["sudo"] }' } : undefined;
        const reply = await send(server.address, method, `/v1/sys/${space}/${name}`, { token: narrow, body });
        expect([method, space, reply.status, reply.json]).toEqual([method, space, 403, DENIED]);
      }
    },
  );

  it.each(['admin/', 'Admin%2F', 'admin%20/'])(
    'is refused with a slash behind the name of a policy: %s',
    async (name) => {
      for (const [method, space] of [
        ['GET', 'policies/acl'],
        ['GET', 'policy'],
        ['DELETE', 'policies/acl'],
        ['DELETE', 'policy'],
      ] as const) {
        const reply = await send(server.address, method, `/v1/sys/${space}/${name}`, { token: narrow });
        expect([method, space, reply.status, reply.json]).toEqual([method, space, 403, DENIED]);
      }
    },
  );

  it('leaves other names allowed, whatever their spelling', async () => {
    const body = { policy: 'path "x" { capabilities = ["read"] }' };
    const { status, json } = await send(server.address, 'POST', '/v1/sys/policies/acl/Other', {
      token: narrow,
      body,
    });
    expect([status, json.warnings]).toEqual([200, ['policy name was converted to other']]);
  });

  it.each(['policies/acl', 'policy'])('refuses a name with a slash at sys/%s as a name', async (space) => {
    const path = `/v1/sys/${space}/team/app`;
    const body = { policy: 'path "x" { capabilities = ["read"] }' };
    const { status, json } = await send(server.address, 'POST', path, { token: narrow, body });
    expect([status, json.errors]).toEqual([
      400,
      ['policy name "team/app" is not allowed: use up to 128 characters, without spaces, "," or "/"'],
    ]);
    expect((await send(server.address, 'GET', path, { token: narrow })).status).toBe(404);
  });
});

describe('rules about parameters on /api/v2', () => {
  const workspace = (name: string) => ({ type: 'workspaces', attributes: { name } });

  it('hold for what is in a document', async () => {
    expect(await document('POST', 'organizations/acme/workspaces', workspace('prod-1'))).toBe(404);
    expect(await document('POST', 'organizations/acme/workspaces', workspace('test-1'))).toBe(201);
  });

  it('hold for what is in a query', async () => {
    expect(await document('GET', 'organizations/acme')).toBe(200);
    expect(await document('GET', 'organizations/acme?include=entitlement_set')).toBe(404);
  });
});
