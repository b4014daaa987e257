import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';

const MEDIA_TYPE = 'application/vnd.api+json';
const STATES = 'neither states nor locks: keep the state of this configuration in another backend';
const RUNS = 'runs nothing: run Terraform where the configuration is';
const NOT_FOUND = { errors: [{ status: '404', title: 'not found' }] };

let server: TestServer;
let workspace: string;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  await call('POST', 'organizations', server.token, {
    data: { type: 'organizations', attributes: { name: 'acme' } },
  });
  const made = await call('POST', 'organizations/acme/workspaces', server.token, {
    data: { type: 'workspaces', attributes: { name: 'billing' } },
  });
  workspace = made.json.data.id;
});

const call = (method: string, path: string, token: string, body?: unknown) =>
  send(server.address, method, `/api/v2/${path}`, {
    ...(body === undefined ? {} : { body }),
    headers: {
      authorization: `Bearer ${token}`,
      accept: MEDIA_TYPE,
      ...(method === 'GET' ? {} : { 'content-type': MEDIA_TYPE }),
    },
  });

describe('a client that knows a host and nothing more', () => {
  it('is told without a token where the tags API is, under every name that clients know for it', async () => {
    const { status, headers, json } = await send(server.address, 'GET', '/.well-known/terraform.json');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(json).toEqual({
      'modules.v1': '/api/registry/v1/modules/',
      'tfe.v2': '/api/v2/',
      'tfe.v2.1': '/api/v2/',
      'tfe.v2.2': '/api/v2/',
    });
  });

  it.each(['/.well-known/terraform.json/', '/.well-known/openid-configuration', '/.well-known'])(
    'is told nothing at %s',
    async (path) => {
      expect((await send(server.address, 'GET', path)).status).toBe(404);
    },
  );

  it('learns from the ping which version of the API is spoken', async () => {
    const { status, headers } = await call('GET', 'ping', 'no-token');
    expect(status).toBe(204);
    expect(headers['tfp-api-version']).toBe('2.5');
  });
});

describe('the entitlements of an organization', () => {
  it('promise neither runs nor states', async () => {
    const { status, json } = await call('GET', 'organizations/acme/entitlement-set', server.token);
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      id: expect.stringMatching(/^org-\w{16}$/),
      type: 'entitlement-sets',
      attributes: { operations: false, 'state-storage': false, teams: false, 'vcs-integrations': false },
    });
    const promised = Object.entries(json.data.attributes).filter(([, value]) => value === true);
    expect(promised).toEqual([]);
  });

  it('are not there for an unknown organization, nor for who may not see it', async () => {
    await setPolicy(
      server.directory,
      'other',
      'path "api/v2/organizations/other/*" { capabilities = ["read"] }',
    );
    const stranger = await issueToken(server.directory, { policies: ['other'] });
    for (const [organization, token] of [
      ['none', server.token],
      ['acme', stranger],
    ] as const) {
      const { status, json } = await call('GET', `organizations/${organization}/entitlement-set`, token);
      expect({ status, json }).toEqual({ status: 404, json: NOT_FOUND });
    }
  });
});

describe('the account', () => {
  it('is the token in use, whatever its policies', async () => {
    await setPolicy(server.directory, 'nothing', 'path "api/v2/none" { capabilities = ["read"] }');
    const token = await issueToken(server.directory, { policies: ['nothing'], display_name: 'pipeline' });
    const { status, json } = await call('GET', 'account/details', token);
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      type: 'users',
      attributes: {
        username: 'token-pipeline',
        'is-service-account': true,
        permissions: { 'can-create-organizations': false },
      },
    });
    expect((await call('GET', 'account/details', server.token)).json.data.attributes.permissions).toEqual({
      'can-create-organizations': true,
    });
  });

  it('is nobody without a good token', async () => {
    expect((await call('GET', 'account/details', 'bad')).status).toBe(401);
  });
});

describe('what needs runs or states', () => {
  it.each([
    ['workspaces/WS/actions/lock', STATES],
    ['workspaces/WS/actions/unlock', STATES],
    ['workspaces/WS/actions/force-unlock', STATES],
    ['workspaces/WS/state-versions', STATES],
    ['workspaces/WS/configuration-versions', RUNS],
    ['runs', RUNS],
  ])('is refused at %s with a sentence that says so', async (path, what) => {
    const { status, json } = await call('POST', path.replace('WS', workspace), server.token, { data: {} });
    expect(status).toBe(422);
    expect(json.errors).toEqual([
      {
        status: '422',
        title: 'not supported',
        detail: `Coffer keeps workspaces and their tags, but ${what}`,
      },
    ]);
  });

  it('is not there for who may not change the workspace', async () => {
    await setPolicy(
      server.directory,
      'reader',
      'path "api/v2/organizations/acme/*" { capabilities = ["read", "list"] }',
    );
    const reader = await issueToken(server.directory, { policies: ['reader'] });
    const { status, json } = await call('POST', `workspaces/${workspace}/actions/lock`, reader);
    expect({ status, json }).toEqual({ status: 404, json: NOT_FOUND });
  });

  it('leaves a workspace without a state, as clients expect of a new one', async () => {
    const { status } = await call('GET', `workspaces/${workspace}/current-state-version`, server.token);
    expect(status).toBe(404);
  });
});
