import { Agent } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  issueToken,
  type SendOptions,
  send,
  setPolicy,
  startServer,
  type TestServer,
} from '../../../servers/serving.ts';

const HELLO = 'aGVsbG8=';
const wrapped = (text: string) => `1 error occurred:\n\t* ${text}\n\n`;

let server: TestServer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  await call('POST', '/v1/transit/keys/orders');
});

/** As the owner of everything. */
const call = (method: string, path: string, options: SendOptions = {}) =>
  send(server.address, method, path, { token: server.token, ...options });

describe('a successful answer of /v1', () => {
  it('is the envelope of the family, byte for byte but for its id and data', async () => {
    const { text, headers, status } = await call('POST', '/v1/transit/hash', { body: { input: '' } });
    expect(status).toBe(200);
    const id = /^\{"request_id":"([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"/.exec(
      text,
    )?.[1];
    expect(text).toBe(
      `{"request_id":"${id}","lease_id":"","renewable":false,"lease_duration":0,` +
        // SHA-256 of nothing, FIPS 180-4
        '"data":{"sum":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},' +
        '"wrap_info":null,"warnings":null,"auth":null,"mount_type":"transit"}\n',
    );
    expect(headers['content-type']).toBe('application/json');
    expect(headers['cache-control']).toBe('no-store');
  });

  it('has the members of its data sorted as Go sorts them', async () => {
    await call('POST', '/v1/transit/keys/sorted');
    for (let version = 2; version <= 11; version += 1) await call('POST', '/v1/transit/keys/sorted/rotate');
    const { text } = await call('GET', '/v1/transit/keys/sorted');
    const names = [...(/"data":(\{.*\}),"wrap_info"/.exec(text)?.[1] ?? '').matchAll(/"(\w+)":/g)];
    const members = names.map(([, name]) => name ?? '').filter((name) => !/^\d+$/.test(name));
    expect(members).toEqual([...members].sort());
    const versions = names.map(([, name]) => name ?? '').filter((name) => /^\d+$/.test(name));
    expect(versions).toEqual(['1', '10', '11', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  it('is 204 without a body when there is nothing to say', async () => {
    await call('POST', '/v1/transit/keys/gone');
    await call('POST', '/v1/transit/keys/gone/config', { body: { deletion_allowed: true } });
    const { status, text, headers } = await call('DELETE', '/v1/transit/keys/gone');
    expect([status, text, headers['content-type']]).toEqual([204, '', 'application/json']);
  });

  it('escapes what HTML could mistake, as Go does', async () => {
    const { text } = await call('POST', '/v1/transit/encrypt/orders', {
      body: { plaintext: HELLO, '<a&b>': 1 },
    });
    expect(text).toContain('unrecognized parameters: [\\u003ca\\u0026b\\u003e]');
  });

  it('says which parameters it did not know, and which the path replaced', async () => {
    const { json } = await call('POST', '/v1/transit/encrypt/orders', {
      body: { plaintext: HELLO, zeta: 1, alpha: null, name: 'other' },
    });
    expect(json.warnings).toEqual([
      'Endpoint ignored these unrecognized parameters: [alpha zeta]',
      "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]",
    ]);
  });
});

it('says beside an answer of /v1 that something was there already only to who asks, and only where it was', async () => {
  const headers = { 'x-coffer-details': '1' };
  const make = (more: object) => call('POST', '/v1/transit/keys/detailed', { body: {}, ...more });
  expect((await make({ headers })).json).not.toHaveProperty('coffer');
  expect((await make({ headers })).json.coffer).toEqual({ existing: true });
  expect((await make({})).json).not.toHaveProperty('coffer');
});

describe('methods and paths of /v1', () => {
  it('take PUT for POST', async () => {
    const { status, json } = await call('PUT', '/v1/transit/encrypt/orders', { body: { plaintext: HELLO } });
    expect([status, json.data.key_version]).toEqual([200, 1]);
  });

  it.each([
    ['LIST', '/v1/transit/keys'],
    ['LIST', '/v1/transit/keys/'],
    ['GET', '/v1/transit/keys?list=true'],
    ['GET', '/v1/transit/keys/?list=1'],
    ['GET', '/v1/transit/keys?list=T'],
  ])('list the keys with %s %s', async (method, path) => {
    const { status, json } = await call(method, path);
    expect([status, json.data.keys.includes('orders'), json.warnings]).toEqual([200, true, null]);
  });

  it('undo percent-escapes before they match', async () => {
    const { json } = await call('GET', '/v1/trans%69t/keys/%6frders');
    expect(json.data.name).toBe('orders');
  });

  it.each<[string, string, number, readonly string[]]>([
    ['GET', '/v1/transit/keys', 405, [wrapped('unsupported operation')]],
    ['GET', '/v1/transit/keys?list=false', 405, [wrapped('unsupported operation')]],
    ['GET', '/v1/transit/keys?list=maybe', 400, []],
    ['DELETE', '/v1/transit/encrypt/orders', 405, [wrapped('unsupported operation')]],
    ['GET', '/v1/transit/nothing', 404, [wrapped('unsupported path')]],
    ['GET', '/v1/transit/keys/-a', 404, [wrapped('unsupported path')]],
    ['GET', '/v1/transit/keys/a%2Fb', 404, [wrapped('unsupported path')]],
    ['GET', '/v1/foo/bar', 404, ['no handler for route "foo/bar". route entry not found.']],
    ['GET', '/v1/transit', 404, ['no handler for route "transit". route entry not found.']],
    ['POST', '/v1/transit/keys/a/', 400, ["cannot write to a path ending in '/'"]],
    ['GET', '/v1/transit/../sys/mounts', 400, ['relative paths not supported']],
    ['GET', '/v1/transit/%2e%2e/sys/mounts', 400, ['relative paths not supported']],
    ['GET', '/v1/transit/keys/%zz', 400, ['the path is not percent-encoded UTF-8']],
    ['GET', '/v1/transit/keys/%ff', 400, ['the path is not percent-encoded UTF-8']],
    ['PATCH', '/v1/transit/keys/orders', 405, [wrapped('unsupported operation')]],
    ['OPTIONS', '/v1/transit/keys/orders', 405, [wrapped('unsupported operation')]],
    ['PROPFIND', '/v1/transit/keys/orders', 405, [wrapped('unsupported operation')]],
    ['GET', '/v2/transit/keys', 404, []],
    ['GET', '/', 404, []],
  ])('answer %s %s with the status %i', async (method, path, status, errors) => {
    const reply = await call(method, path);
    expect([reply.status, reply.json]).toEqual([status, { errors }]);
  });

  it('answer a read of what is not there with 404 and no text, a change of it with 400', async () => {
    expect(await call('GET', '/v1/transit/keys/none')).toMatchObject({
      status: 404,
      text: '{"errors":[]}\n',
    });
    expect(await call('POST', '/v1/transit/keys/none/rotate')).toMatchObject({
      status: 400,
      json: { errors: ['key not found'] },
    });
  });
});

describe('parameters of /v1', () => {
  it('may come as a form, as curl -d sends it', async () => {
    const form = (body: string) =>
      call('POST', '/v1/transit/hash', {
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    // SHA-256 of "hello"
    const sum = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
    expect((await form(`input=${encodeURIComponent(HELLO)}`)).json.data.sum).toBe(sum);
    expect((await form(JSON.stringify({ input: HELLO }))).json.data.sum).toBe(sum);
  });

  it.each([undefined, 'text/plain', 'application/json; charset=utf-8', 'nonsense', 'application/xml'])(
    'are read as JSON when the content type is %s',
    async (contentType) => {
      const { status } = await call('POST', '/v1/transit/hash', {
        body: { input: HELLO },
        headers: contentType === undefined ? {} : { 'content-type': contentType },
      });
      expect(status).toBe(200);
    },
  );

  it('in the path win over those in the body where the path has some', async () => {
    const hash = (path: string) => call('POST', path, { body: { input: '', algorithm: 'sha2-512' } });
    expect((await hash('/v1/transit/hash/sha2-224')).json.data.sum).toHaveLength(56);
    expect((await hash('/v1/transit/hash')).json.data.sum).toHaveLength(128);
  });

  it('are refused with 400 and the name of the one that is wrong', async () => {
    const { status, json } = await call('POST', '/v1/transit/random', { body: { bytes: 1.5 } });
    expect(status).toBe(400);
    expect(json.errors[0]).toContain('Field validation failed: error converting input for field "bytes"');
  });
});

describe('a batch on /v1', () => {
  const items = [{ plaintext: HELLO, reference: 'a' }, { plaintext: 'no base64!' }];

  it('in which items failed answers 400 with the whole result, and no text of errors', async () => {
    const { status, json, text } = await call('POST', '/v1/transit/encrypt/orders', {
      body: { batch_input: items },
    });
    expect(status).toBe(400);
    expect(json.errors).toBeUndefined();
    expect(json.data.batch_results).toHaveLength(2);
    expect(json.data.batch_results[0]).toMatchObject({ key_version: 1, reference: 'a' });
    expect(json.data.batch_results[1].error).not.toBe('');
    expect(text.endsWith('\n')).toBe(false);
  });

  it('answers with the status that the caller chose for failures in part', async () => {
    const { status, json } = await call('POST', '/v1/transit/encrypt/orders', {
      body: { batch_input: items, partial_failure_response_code: 202 },
    });
    expect([status, json.data.batch_results.length]).toEqual([202, 2]);
  });

  it('answers without its result when that status has no body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = { batch_input: items, partial_failure_response_code: 204 };
    const silent = await call('POST', '/v1/transit/encrypt/orders', { body, agent });
    expect([silent.status, silent.text, silent.headers['content-length']]).toEqual([204, '', undefined]);
    expect((await call('GET', '/v1/transit/keys/orders', { agent })).status).toBe(200);
    agent.destroy();
  });
});

describe('a caller of /v1', () => {
  it.each(['x-service-token', 'x-vault-token'])('may bring the token in %s', async (header) => {
    const { status } = await send(server.address, 'GET', '/v1/auth/token/lookup-self', {
      headers: { [header]: server.token },
    });
    expect(status).toBe(200);
  });

  it('may bring the token as a bearer token', async () => {
    const { status } = await send(server.address, 'GET', '/v1/auth/token/lookup-self', {
      headers: { authorization: `Bearer ${server.token}` },
    });
    expect(status).toBe(200);
  });

  it('is judged by the first header of several', async () => {
    const { status } = await send(server.address, 'GET', '/v1/auth/token/lookup-self', {
      headers: { 'x-service-token': 'wrong', authorization: `Bearer ${server.token}` },
    });
    expect(status).toBe(403);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['no token', {}],
    ['an empty token', { 'x-vault-token': '' }],
    ['an unknown token', { 'x-vault-token': 'cfr.unknown' }],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['a token of another form', { 'x-vault-token': 'a'.repeat(5000) }],
  ])('is refused with %s', async (_what, headers) => {
    const { status, json } = await send(server.address, 'GET', '/v1/transit/keys/orders', { headers });
    expect([status, json]).toEqual([403, { errors: ['permission denied'] }]);
  });

  it('without rights learns nothing of what is there', async () => {
    await setPolicy(server.directory, 'nothing', 'path "transit/keys/mine" { capabilities = ["read"] }');
    const token = await issueToken(server.directory, { policies: ['nothing'], no_default_policy: true });
    const denied = [403, { errors: [wrapped('permission denied')] }];
    for (const path of [
      'transit/keys/orders',
      'transit/keys/none',
      'transit/nothing',
      'foo/bar',
      'sys/mounts',
    ]) {
      const { status, json } = await send(server.address, 'GET', `/v1/${path}`, { token });
      expect([status, json]).toEqual(denied);
    }
  });

  it('gets 400 for a broken body, but only when the token may use the path', async () => {
    const { token } = server;
    const reply = await send(server.address, 'POST', '/v1/transit/encrypt/orders', { token, body: '{' });
    expect([reply.status, reply.json.errors[0]]).toEqual([
      400,
      'failed to decode JSON input: the body is not valid JSON',
    ]);
    const stranger = await send(server.address, 'POST', '/v1/transit/encrypt/orders', { body: '{' });
    expect([stranger.status, stranger.json.errors]).toEqual([403, ['permission denied']]);
  });

  it.each(['', 'root', 'root/', '/'])('may name the root namespace as %j', async (namespace) => {
    const { status } = await call('GET', '/v1/transit/keys/orders', {
      headers: { 'x-vault-namespace': namespace },
    });
    expect(status).toBe(200);
  });

  it('is told that there is no other namespace', async () => {
    const { status, json } = await call('GET', '/v1/transit/keys/orders', {
      headers: { 'x-vault-namespace': 'team' },
    });
    expect([status, json.errors]).toEqual([404, ['namespace not found']]);
  });

  it('may send the headers that official clients send', async () => {
    const { status } = await call('GET', '/v1/transit/keys/orders', {
      headers: { 'x-vault-request': 'true', 'x-vault-no-request-forwarding': 'true', 'x-vault-index': 'x' },
    });
    expect(status).toBe(200);
  });
});

describe('encrypting over /v1', () => {
  const encrypt = (name: string, token: string) =>
    send(server.address, 'POST', `/v1/transit/encrypt/${name}`, { token, body: { plaintext: HELLO } });
  const denied = { status: 403, json: { errors: [wrapped('permission denied')] } };

  it('needs update for a key that is there, create for one that is not', async () => {
    await setPolicy(server.directory, 'updater', 'path "transit/encrypt/*" { capabilities = ["update"] }');
    await setPolicy(server.directory, 'creator', 'path "transit/encrypt/*" { capabilities = ["create"] }');
    const updater = await issueToken(server.directory, { policies: ['updater'] });
    const creator = await issueToken(server.directory, { policies: ['creator'] });
    expect(await encrypt('orders', updater)).toMatchObject({ status: 200 });
    expect(await encrypt('fresh', updater)).toMatchObject(denied);
    expect(await encrypt('orders', creator)).toMatchObject(denied);
    expect(await call('GET', '/v1/transit/keys/fresh')).toMatchObject({ status: 404 });
    expect(await encrypt('fresh', creator)).toMatchObject({ status: 200 });
    expect(await encrypt('fresh', creator)).toMatchObject(denied);
    expect(await encrypt('fresh', updater)).toMatchObject({ status: 200 });
  });
});

describe('mounts over /v1', () => {
  it('lie under any path, and keep keys of their own', async () => {
    expect(
      await call('POST', '/v1/sys/mounts/teams/payments', {
        body: { type: 'transit', description: 'of payments', dialect: 'vault' },
      }),
    ).toMatchObject({ status: 204 });
    expect(await call('POST', '/v1/teams/payments/keys/orders')).toMatchObject({ status: 200 });
    const { json } = await call('POST', '/v1/teams/payments/encrypt/orders', { body: { plaintext: HELLO } });
    expect(json.data.ciphertext).toMatch(/^vault:v1:/);
    const wrongMount = await call('POST', '/v1/transit/decrypt/orders', {
      body: { ciphertext: json.data.ciphertext },
    });
    expect(wrongMount.status).toBe(400);
    const mounts = await call('GET', '/v1/sys/mounts');
    expect(Object.keys(mounts.json.data)).toEqual(['teams/payments/', 'transit/']);
    expect(mounts.json['teams/payments/']).toEqual(mounts.json.data['teams/payments/']);
    expect(mounts.json.data['teams/payments/']).toMatchObject({
      type: 'transit',
      description: 'of payments',
      options: { dialect: 'vault' },
      accessor: expect.stringMatching(/^transit_[0-9a-f]{8}$/),
      config: { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false },
    });
  });

  it('are tuned, shown and removed', async () => {
    await call('POST', '/v1/sys/mounts/temporary', { body: { type: 'transit' } });
    await call('POST', '/v1/sys/mounts/temporary/tune', { body: { description: 'new' } });
    const tuned = await call('GET', '/v1/sys/mounts/temporary/tune');
    expect(tuned.json.data).toMatchObject({ description: 'new', default_lease_ttl: 2_764_800 });
    const shown = await call('GET', '/v1/sys/internal/ui/mounts/temporary/keys/x');
    expect(shown.json.data).toMatchObject({ path: 'temporary/', type: 'transit', description: 'new' });
    expect(await call('DELETE', '/v1/sys/mounts/temporary')).toMatchObject({ status: 204 });
    expect(await call('DELETE', '/v1/sys/mounts/temporary')).toMatchObject({ status: 204 });
    expect(await call('GET', '/v1/temporary/keys/x')).toMatchObject({ status: 404 });
  });

  it.each<[string, string, object | undefined, number, string]>([
    ['POST', 'sys/mounts/transit', { type: 'transit' }, 400, 'path is already in use at transit/'],
    ['POST', 'sys/mounts/transit/below', { type: 'transit' }, 400, 'path is already in use at transit/'],
    ['POST', 'sys/mounts/kv', { type: 'kv' }, 400, 'plugin not found in the catalog: kv'],
    ['GET', 'sys/mounts/none', undefined, 400, 'No secret engine mount at none/'],
    ['GET', 'sys/mounts/none/tune', undefined, 400, 'No secret engine mount at none/'],
    ['POST', 'sys/mounts/none/tune', { description: 'x' }, 400, 'No secret engine mount at none/'],
    [
      'GET',
      'sys/internal/ui/mounts/none',
      undefined,
      403,
      'preflight capability check returned 403, please ensure client\'s policies grant access to path "none/"',
    ],
  ])('answer %s %s with the body %j and the status %i', async (method, path, body, status, text) => {
    const reply = await call(method, `/v1/${path}`, body === undefined ? {} : { body });
    expect([reply.status, reply.json.errors]).toEqual([status, [text]]);
  });

  it('show to a caller those that its policies reach', async () => {
    await setPolicy(
      server.directory,
      'payments',
      'path "teams/payments/encrypt/*" { capabilities = ["update"] }',
    );
    const token = await issueToken(server.directory, { policies: ['payments'], no_default_policy: true });
    const list = await send(server.address, 'GET', '/v1/sys/internal/ui/mounts', { token });
    expect(Object.keys(list.json.data.secret)).toEqual(['teams/payments/']);
    const other = await send(server.address, 'GET', '/v1/sys/internal/ui/mounts/transit', { token });
    expect(other.status).toBe(403);
  });
});
