import { beforeAll, describe, expect, it } from 'vitest';
import { cleanUpAfterAll, issueToken, send, setPolicy, startServer, type TestServer } from './serving.ts';

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
      ...(resource === undefined ? {} : { body: { data: resource } }),
    })
  ).status;

describe('a value that a policy denies', () => {
  it.each([true, 'true', 't', 'T', '1', 1, 2])('is denied when it is spelled %j', async (exportable) => {
    expect(await data('transit/keys/orders', { exportable })).toBe(403);
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
