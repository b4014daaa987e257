import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Wrapping } from '../../../../src/access/wrapping.ts';
import { unavailable } from '../../../../src/ground/errors.ts';
import {
  cleanUpAfterAll,
  issueToken,
  openTestStore,
  type Reply,
  type SendOptions,
  send,
  setPolicy,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';

const NOT_VALID = [400, ['wrapping token is not valid or does not exist']];
const REFUSED = [403, ['1 error occurred:\n\t* permission denied\n\n']];
const ANYTHING = { password: 'correct horse', n: 1 };

let server: TestServer;
let auditFile: string;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  auditFile = join(temporaryDirectory(afterwards), 'audit.log');
  server = await startServer({ auditFile }, afterwards);
  await call('POST', '/v1/transit/keys/orders');
  await setPolicy(
    server.directory,
    'handing-over',
    `path "sys/wrapping/rewrap" { capabilities = ["update"] }
     path "transit/keys/*" { capabilities = ["read"] min_wrapping_ttl = "1m" max_wrapping_ttl = "1h30m" }`,
  );
});

/** As the owner of everything. */
const call = (method: string, path: string, options: SendOptions = {}) =>
  send(server.address, method, path, { token: server.token, ...options });

const wrapping = (ttl: string) => ({ headers: { 'x-vault-wrap-ttl': ttl } });
const problem = ({ status, json }: Reply) => [status, json?.errors];

/** The `wrap_info` for some data that is kept. */
async function wrapped(body: object = ANYTHING, ttl = '60') {
  const { json } = await call('POST', '/v1/sys/wrapping/wrap', { body, ...wrapping(ttl) });
  return json.wrap_info;
}
const unwrap = (token: string, address = server.address) =>
  send(address, 'POST', '/v1/sys/wrapping/unwrap', { token, body: 'null' });

describe('an answer that was asked for wrapped', () => {
  it('is a token in the place of the data, and the one who brings it gets the answer byte for byte', async () => {
    const asked = await call('GET', '/v1/transit/keys/orders', wrapping('1h30m'));
    const { wrap_info: info } = asked.json;
    expect(asked.status).toBe(200);
    expect(asked.headers['cache-control']).toBe('no-store');
    expect(asked.text).toBe(
      `{"request_id":"","lease_id":"","renewable":false,"lease_duration":0,"data":null,"wrap_info":{"token":"${info.token}"` +
        `,"accessor":"${info.accessor}","ttl":5400,"creation_time":"${info.creation_time}","creation_path":"transit/keys/orders"}` +
        ',"warnings":null,"auth":null}\n',
    );
    const open = await call('GET', '/v1/transit/keys/orders');
    const { status, text, headers } = await unwrap(info.token);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-type']).toBe('application/json');
    const withoutId = (answer: string) => answer.replace(/"request_id":"[^"]{36}"/, '');
    expect(withoutId(text)).toBe(withoutId(open.text).trimEnd());
  });

  it('names the token that it holds by its accessor', async () => {
    const { json } = await call('POST', '/v1/auth/token/create', { body: {}, ...wrapping('60') });
    const { auth } = (await unwrap(json.wrap_info.token)).json;
    expect(json.wrap_info.wrapped_accessor).toBe(auth.accessor);
    expect((await call('GET', '/v1/auth/token/lookup-self', { token: auth.client_token })).status).toBe(200);
  });

  it('is taken once, and is gone with its token', async () => {
    const { token, accessor } = await wrapped();
    expect((await unwrap(token)).json.data).toEqual(ANYTHING);
    expect(problem(await unwrap(token))).toEqual(NOT_VALID);
    expect((await call('POST', '/v1/auth/token/lookup-accessor', { body: { accessor } })).status).toBe(400);
    expect(await keptAnswers()).not.toContain(accessor);
  });

  it('keeps whole numbers of any size', async () => {
    const { token } = await wrapped('{"n":12345678901234567890123}' as unknown as object);
    expect((await unwrap(token)).text).toContain('"data":{"n":12345678901234567890123}');
  });

  it('comes whole of a batch in which items failed', async () => {
    const body = {
      batch_input: [{ ciphertext: 'vault:v1:junk' }],
      partial_failure_response_code: 404,
    };
    const { status, json } = await call('POST', '/v1/transit/decrypt/orders', { body, ...wrapping('60') });
    expect([status, json.data]).toEqual([200, null]);
    expect((await unwrap(json.wrap_info.token)).json.data.batch_results).toHaveLength(1);
  });

  it('is kept whole when a large request asks for it', async () => {
    const plaintext = Buffer.alloc(200_000).toString('base64');
    const { json } = await call('POST', '/v1/transit/encrypt/orders', {
      body: { plaintext },
      ...wrapping('60'),
    });
    const { ciphertext } = (await unwrap(json.wrap_info.token)).json.data;
    expect(
      (await call('POST', '/v1/transit/decrypt/orders', { body: { ciphertext } })).json.data.plaintext,
    ).toBe(plaintext);
  });

  it('says of a list that it was one', async () => {
    const { json } = await call('LIST', '/v1/transit/keys', wrapping('60'));
    expect(json.wrap_info.creation_path).toBe('transit/keys/');
  });

  it('is answered openly where nothing is in it, or where it is a refusal', async () => {
    const asking = wrapping('60');
    expect(problem(await call('GET', '/v1/transit/keys/nothing', asking))).toEqual([404, []]);
    expect((await call('POST', '/v1/transit/decrypt/orders', { body: {}, ...asking })).status).toBe(400);
    expect((await call('DELETE', '/v1/sys/policies/acl/nothing', asking)).status).toBe(204);
    expect((await send(server.address, 'GET', '/v1/sys/health', asking)).json.sealed).toBe(false);
    expect((await call('GET', '/v1/sys/metrics', asking)).status).toBe(400);
  });

  it.each([
    ['foo', 'error parsing X-Vault-Wrap-TTL header: time: invalid duration "foo"'],
    ['-60', 'error parsing X-Vault-Wrap-TTL header: requested wrap ttl cannot be negative'],
  ])('is refused for %s as its time', async (ttl, text) => {
    expect(problem(await call('GET', '/v1/transit/keys/orders', wrapping(ttl)))).toEqual([400, [text]]);
  });

  it.each([
    ['0', null],
    ['', null],
    ['1ms', 1],
    ['1d', 86_400],
  ])('is kept for a time of %j', async (ttl, seconds) => {
    const { json } = await call('GET', '/v1/transit/keys/orders', wrapping(ttl));
    expect(json.wrap_info?.ttl ?? null).toBe(seconds);
  });

  it('can be asked for with the header of our own name', async () => {
    const { json } = await call('GET', '/v1/transit/keys/orders', { headers: { 'x-service-wrap-ttl': '9' } });
    expect(json.wrap_info.ttl).toBe(9);
  });

  it('is not given openly when it can not be kept', async () => {
    const failing = vi.spyOn(Wrapping.prototype, 'wrap').mockRejectedValue(unavailable('no space is left'));
    onTestFinished(() => failing.mockRestore());
    expect(problem(await call('GET', '/v1/transit/keys/orders', wrapping('60')))).toEqual([
      503,
      ['no space is left'],
    ]);
    expect(problem(await call('POST', '/v1/auth/token/create', { body: {}, ...wrapping('60') }))).toEqual([
      409,
      ['the change was made, but no space is left'],
    ]);
  });

  it('ends with its time', async () => {
    const { token } = await wrapped(ANYTHING, '1');
    await expect
      .poll(async () => problem(await send(server.address, 'GET', '/v1/sys/wrapping/lookup', { token })), {
        timeout: 20_000,
      })
      .toEqual(NOT_VALID);
    expect(problem(await unwrap(token))).toEqual(NOT_VALID);
  });
});

describe('a wrapping token', () => {
  it.each([
    ['GET', '/v1/auth/token/lookup-self'],
    ['POST', '/v1/auth/token/create'],
    ['POST', '/v1/sys/wrapping/wrap'],
    ['POST', '/v1/sys/wrapping/rewrap'],
    ['GET', '/v1/transit/keys/orders'],
  ])('is good for nothing but its answer, and lost by %s %s', async (method, path) => {
    const { token, accessor } = await wrapped();
    expect(await keptAnswers()).toContain(accessor);
    expect(problem(await send(server.address, method, path, { token }))).toEqual(REFUSED);
    expect(problem(await unwrap(token))).toEqual(NOT_VALID);
    expect(await keptAnswers()).not.toContain(accessor);
  });

  it('tells where it is from as often as it is asked', async () => {
    const { token, creation_time, creation_path } = await wrapped();
    const data = { creation_path, creation_time, creation_ttl: 60 };
    const path = '/v1/sys/wrapping/lookup';
    for (const options of [{ token }, { body: { token } }, { body: { token }, token: 'stale' }]) {
      const method = 'body' in options ? 'POST' : 'GET';
      expect((await send(server.address, method, path, options)).json.data).toEqual(data);
    }
    expect((await unwrap(token)).status).toBe(200);
  });

  it('is exchanged for one with the same time, and is spent by that', async () => {
    const { token } = await wrapped(ANYTHING, '300');
    const friend = await issueToken(server.directory, { policies: ['handing-over'] });
    const { json } = await send(server.address, 'POST', '/v1/sys/wrapping/rewrap', {
      token: friend,
      body: { token },
    });
    expect([json.wrap_info.ttl, json.wrap_info.creation_path]).toEqual([300, 'sys/wrapping/wrap']);
    expect(problem(await unwrap(token))).toEqual(NOT_VALID);
    expect((await unwrap(json.wrap_info.token)).json.data).toEqual(ANYTHING);
  });

  it('can be revoked by its accessor, and its answer with it', async () => {
    const { token, accessor } = await wrapped();
    await call('POST', '/v1/auth/token/revoke-accessor', { body: { accessor } });
    expect(problem(await unwrap(token))).toEqual(NOT_VALID);
    expect(await keptAnswers()).not.toContain(accessor);
  });

  it('may be brought by somebody with a token of their own, and by no stranger', async () => {
    const { token } = await wrapped();
    const body = { token };
    const path = '/v1/sys/wrapping/unwrap';
    expect(problem(await send(server.address, 'POST', path, { body }))).toEqual([403, ['permission denied']]);
    expect(problem(await send(server.address, 'POST', path, { body, token: 'stale' }))).toEqual([
      403,
      ['permission denied'],
    ]);
    const bare = await issueToken(server.directory, { policies: ['handing-over'], no_default_policy: true });
    expect(problem(await send(server.address, 'POST', path, { body, token: bare }))).toEqual(REFUSED);
    const friend = await issueToken(server.directory, { policies: ['handing-over'] });
    expect((await send(server.address, 'POST', path, { body, token: friend })).json.data).toEqual(ANYTHING);
    expect(problem(await send(server.address, 'POST', path, { body, token: friend }))).toEqual(NOT_VALID);
  });

  it('is nobody else’s token', async () => {
    for (const path of ['unwrap', 'rewrap', 'lookup']) {
      const target = `/v1/sys/wrapping/${path}`;
      expect(problem(await call('POST', target, { body: { token: server.token } }))).toEqual(NOT_VALID);
      expect(problem(await call('POST', target, { body: {} }))).toEqual(NOT_VALID);
      expect(problem(await call('POST', target, { body: { token: '' } }))).toEqual([
        403,
        ['error validating wrapping token: empty token in request body'],
      ]);
    }
    expect(problem(await send(server.address, 'POST', '/v1/sys/wrapping/unwrap'))).toEqual([
      403,
      ['error validating wrapping token: token is empty'],
    ]);
  });

  it('is asked about by a stranger with at most 64 KiB', async () => {
    for (const path of ['unwrap', 'lookup']) {
      const body = { token: 'x'.repeat(65 * 1024) };
      expect((await send(server.address, 'POST', `/v1/sys/wrapping/${path}`, { body })).status).toBe(413);
    }
  });

  it('does not let strangers have anything kept', async () => {
    const { token } = await wrapped();
    const { json } = await send(server.address, 'GET', '/v1/sys/wrapping/lookup', {
      token,
      ...wrapping('1d'),
    });
    expect([json.wrap_info, json.data.creation_ttl]).toEqual([null, 60]);
    await unwrap(token);
  });

  it('has a policy that nobody can give or write', async () => {
    expect(
      problem(await call('POST', '/v1/auth/token/create', { body: { policies: ['Response-Wrapping'] } })),
    ).toEqual([400, ['cannot assign policy "response-wrapping"']]);
    expect(
      problem(await call('POST', '/v1/sys/policy/response-wrapping', { body: { policy: 'path "*" {}' } })),
    ).toEqual([400, ['cannot update "response-wrapping" policy']]);
    expect(problem(await call('DELETE', '/v1/sys/policy/Response-Wrapping'))).toEqual([
      400,
      ['cannot delete "response-wrapping" policy'],
    ]);
  });
});

describe('a wrapped answer for which many come at once', () => {
  it('goes to one of them, whichever server and worker they ask', async () => {
    const other = await startServer({ location: server.directory, workers: 2 });
    const addresses = [server.address, other.address];
    for (let round = 0; round < 5; round += 1) {
      const { token } = await wrapped();
      const friend = { token: server.token, body: { token } };
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, index) => {
          const address = addresses[index % 2] ?? '';
          return index % 4 < 2
            ? unwrap(token, address)
            : send(address, 'POST', '/v1/sys/wrapping/unwrap', friend);
        }),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(15);
    }
  });
});

describe('a policy that bounds the time of wrapping', () => {
  it('lets nobody have the answer openly, or for another time', async () => {
    const token = await issueToken(server.directory, { policies: ['handing-over'] });
    const ask = (ttl: string) =>
      send(server.address, 'GET', '/v1/transit/keys/orders', { token, ...wrapping(ttl) });
    for (const ttl of ['0', '59', '5401']) expect(problem(await ask(ttl))).toEqual(REFUSED);
    for (const ttl of ['60', '90m'])
      expect((await ask(ttl)).json.wrap_info.creation_path).toBe('transit/keys/orders');
  });
});

describe('the audit trail of wrapped answers', () => {
  it('shows accessors, and of secrets only hashes', async () => {
    const { token, accessor } = await wrapped({ secret: 'a canary of wrapping' });
    await unwrap(token);
    const text = readFileSync(auditFile, 'utf8');
    expect(text).not.toContain('a canary of wrapping');
    expect(text).not.toContain(token);
    const records = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { hash } = (await call('POST', '/v1/sys/audit-hash/file', { body: { input: token } })).json.data;
    const made = records.find(({ response }) => response?.wrap_info?.accessor === accessor);
    expect([made.response.wrap_info.token, made.request.wrap_ttl, made.response.data]).toEqual([
      hash,
      60,
      undefined,
    ]);
    const used = records.findLast(({ type, auth }) => type === 'response' && auth.accessor === accessor);
    expect([used.auth.client_token, used.request.path]).toEqual([hash, 'sys/wrapping/unwrap']);
  });
});

async function keptAnswers(): Promise<string[]> {
  const store = await openTestStore(server.directory);
  try {
    return await store.read((view) => view.list('access/wrapped-answers'));
  } finally {
    store.close();
  }
}
