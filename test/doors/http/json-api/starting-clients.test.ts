import { request } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';
import { callerOf, MEDIA_TYPE } from './api.ts';

const STATES = 'not states or locks: store the state of this configuration in another backend';
const RUNS = 'not runs: run Terraform on the machine that has the configuration';
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
    body,
    headers: {
      authorization: `Bearer ${token}`,
      accept: MEDIA_TYPE,
      'content-type': method === 'GET' ? undefined : MEDIA_TYPE,
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
    const batch = { policies: ['nothing'], display_name: 'job', type: 'batch' };
    const short = await issueToken(server.directory, batch);
    const { data } = (await call('GET', 'account/details', short)).json;
    expect([data.id, data.attributes.username]).toEqual(['token-job', 'token-job']);
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

describe('manners of HTTP', () => {
  const LIST = 'organizations/acme/workspaces';
  const call = callerOf(() => server);

  it('answer HEAD as GET, without the body', async () => {
    const get = await call('GET', LIST);
    const head = await call('HEAD', LIST);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect((await call('HEAD', 'organizations/none')).status).toBe(404);
  });

  it.each(['bearer', 'BEARER', 'Bearer'])('take the scheme of a token as %s', async (scheme) => {
    const headers = { authorization: `${scheme} ${server.token}` };
    expect((await call('GET', LIST, undefined, { as: null, headers })).status).toBe(200);
  });

  it.each([
    [{ 'x-forwarded-proto': 'https' }, 'https'],
    [{ forwarded: 'for=1.2.3.4;proto=https;by=5.6.7.8' }, 'https'],
    [{ 'x-forwarded-proto': 'https, http' }, 'https'],
    [{ 'x-forwarded-proto': 'javascript' }, 'http'],
  ])('name in links the scheme that a proxy says: %j', async (headers, scheme) => {
    const { json } = await call('GET', LIST, undefined, { headers });
    expect(json.links.self.split(':')[0]).toBe(scheme);
  });

  it('refuse heads that are too long in the words of the API that was asked', async () => {
    const { hostname, port } = new URL(server.address);
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (data: Buffer) => {
        text += data.toString();
      });
      socket.on('close', () => resolve(text));
      socket.write(`GET /api/v2/${LIST} HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(20_000)}\r\n\r\n`);
    });
    expect(answer).toContain('HTTP/1.1 431');
    expect(answer).toContain(`Content-Type: ${MEDIA_TYPE}`);
    expect(answer).toContain('{"errors":[{"status":"431","title":"request header fields too large"}]}');
  });

  it('keep a request of the other API as it was', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        `${server.address}/v1/sys/health`,
        { headers: { long: 'x'.repeat(20_000) } },
        (reply) => {
          reply.resume();
          expect(reply.headers['content-type']).toBe('application/json');
          resolve(reply.statusCode);
        },
      );
      sent.on('error', reject).end();
    });
    expect(status).toBe(431);
  });
});
