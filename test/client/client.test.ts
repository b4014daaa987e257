import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createConnectionServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/client/http-transport.ts';
import { asCofferError } from '../../src/ground/errors.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import type { CatalogueEntry } from '../../src/operations/catalogue-entry.ts';
import { openCore } from '../../src/operations/core.ts';
import type { Operation, Outcome, Runner } from '../../src/operations/declaration/operation.ts';
import { ownerRunner } from '../../src/operations/runner.ts';
import { refused } from '../refusal.ts';
import {
  cleanUpAfterAll,
  selfSigned,
  send,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../servers/serving.ts';
import { memoryStore } from '../store/memory-store.ts';

type Raw = Readonly<Record<string, unknown>>;
type Run = (entry: CatalogueEntry<Operation>, raw: Raw) => Promise<Outcome<unknown>>;

const PLAINTEXT = 'aGVsbG8=';
/** For whatever is answered. */
const PATIENCE_MS = 30_000;

let server: TestServer;
let client: Runner;
let remotely: Run;
let locally: Run;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  client = connect({ address: server.address, token: server.token });
  afterwards(() => client.close());
  remotely = async (entry, raw) => client.run((await entry.load()).declaration, raw);
  const own = ownerRunner(openCore(await memoryStore()));
  locally = async (entry, raw) => own.run((await entry.load()).declaration, raw);
});

/** The same calls on a server and on a local store, with what each answers or refuses. */
async function both(entry: CatalogueEntry<Operation>, raw: Raw): Promise<readonly [unknown, unknown]> {
  const outcomeOf = async (run: Run): Promise<unknown> => {
    try {
      const { data, warnings, failedItems, created } = await run(entry, raw);
      return { data, warnings: warnings ?? [], failedItems, created };
    } catch (error) {
      const { kind, message, field, hint } = asCofferError(error) ?? {};
      return { kind, message, field, hint };
    }
  };
  return [await outcomeOf(remotely), await outcomeOf(locally)];
}

const { transit, orgs, workspaces, tags, mounts, policy } = catalogue;

describe('a client', () => {
  it.each<[string, CatalogueEntry<Operation>, Raw]>([
    ['a key is created', transit.keys.create, { name: 'k', type: 'aes256-gcm96' }],
    ['a key is listed', transit.keys.list, {}],
    ['a type is unknown', transit.keys.create, { name: 'x', type: 'rot13' }],
    ['a key is missing', transit.keys.read, { name: 'none' }],
    ['a missing key is changed', transit.keys.rotate, { name: 'none' }],
    ['a name is impossible', transit.keys.create, { name: '-x' }],
    ['a required value is missing', transit.keys.create, {}],
    ['a deletion is not allowed', transit.keys.delete, { name: 'k' }],
    ['base64 is broken', transit.encrypt, { name: 'k', plaintext: '!' }],
    ['a ciphertext is broken', transit.decrypt, { name: 'k', ciphertext: 'nonsense' }],
    ['a number is given as text', transit.keys.config, { name: 'k', min_decryption_version: '1' }],
    ['something is hashed', transit.hash, { input: PLAINTEXT, algorithm: 'sha2-512', format: 'base64' }],
    ['an algorithm is unknown', transit.hash, { input: PLAINTEXT, algorithm: 'md5' }],
    ['a mount is impossible', mounts.add, { path: 'sys/x' }],
    ['a mount is removed that is not there', mounts.remove, { path: 'none' }],
    ['a policy is broken', policy.write, { name: 'p', policy: 'path "x" {' }],
    ['a policy is written', policy.write, { name: 'p', policy: 'path "x" { capabilities = ["read"] }' }],
    ['a policy is read', policy.read, { name: 'p' }],
  ])('answers as a local store does when %s', async (_what, entry, raw) => {
    const [remote, local] = await both(entry, raw);
    const withoutTimes = (value: unknown) =>
      JSON.parse(JSON.stringify(value ?? null).replace(/"keys":\{"1":\d+\}/g, '"keys":{}'));
    expect(withoutTimes(remote)).toEqual(withoutTimes(local));
  });

  it('learns of a missing organization no more than a stranger would', async () => {
    const [remote] = await both(tags.list, { organization_name: 'none' });
    expect(remote).toEqual({
      kind: 'not-found',
      message: 'organization "none" not found',
      hint: 'it does not exist, or the token is not allowed to see it; "coffer orgs list" lists the organizations that the token may see',
    });
  });

  it('answers a batch with failed items with all its results', async () => {
    await both(transit.keys.create, { name: 'batch' });
    const batch = { name: 'batch', batch_input: [{ ciphertext: 'nonsense' }, { ciphertext: '' }] };
    const [remote, local] = await both(transit.decrypt, batch);
    expect(remote).toEqual(local);
    expect(remote).toMatchObject({ failedItems: { statusCode: 400 }, data: { batch_results: [{}, {}] } });
  });

  it('makes organizations, workspaces and tags, and shows their links as a local store does', async () => {
    const organization = await remotely(orgs.create, { name: 'firm', email: 'a@b.example' });
    expect(organization).toMatchObject({ created: true, data: { data: { id: 'firm' } } });
    await remotely(workspaces.create, { organization_name: 'firm', name: 'one', tags: ['env:prod'] });
    const { data } = await remotely(tags.list, { organization_name: 'firm', q: 'env', 'page[size]': 5 });
    expect(data).toMatchObject({
      data: [{ attributes: { name: 'env:prod', 'instance-count': 1 } }],
      links: { self: '/api/v2/organizations/firm/tags?q=env&page%5Bnumber%5D=1&page%5Bsize%5D=5' },
    });
  });

  it('reaches a mount under any path', async () => {
    await remotely(mounts.add, { path: 'teams/pay-ments' });
    const { declaration } = await transit.keys.create.load();
    const { data } = await client.run(declaration, { name: 'own' }, 'teams/pay-ments');
    expect(data).toMatchObject({ name: 'own' });
    expect(await refused(client.run(declaration, { name: 'own' }, 'no/such'))).toMatchObject({
      kind: 'not-found',
      message: 'no handler for route "no/such/keys/own". route entry not found.',
    });
  });

  it('is told what its token may not do', async () => {
    const stranger = connect({ address: server.address, token: 'cfr.stranger' });
    onTestFinished(() => stranger.close());
    const read = (await transit.keys.read.load()).declaration;
    expect(await refused(stranger.run(read, { name: 'k' }, 'transit'))).toMatchObject({
      kind: 'denied',
      message: 'permission denied',
    });
    const list = (await tags.list.load()).declaration;
    expect(await refused(stranger.run(list, { organization_name: 'acme' }, 'transit'))).toMatchObject({
      kind: 'denied',
      message: 'the token is missing or not valid',
    });
  });

  it('is told that the server is sealed', async () => {
    const sealed = await startServer({ credentials: [] });
    const own = connect({ address: sealed.address, token: 'any' });
    onTestFinished(() => own.close());
    for (const [entry, raw] of [
      [transit.keys.list, {}],
      [tags.list, { organization_name: 'acme' }],
    ] as const) {
      const { declaration } = await (entry as CatalogueEntry<Operation>).load();
      expect(await refused(own.run(declaration, raw, 'transit'))).toMatchObject({
        kind: 'sealed',
        message: 'the server is sealed',
      });
    }
  });

  it('goes over a Unix socket and over TLS', async () => {
    const socket = join(temporaryDirectory(), 's.sock');
    const { pem, ...tls } = selfSigned(temporaryDirectory());
    const both = await startServer({ socket, tls });
    const { declaration } = await transit.random.load();
    for (const options of [
      { address: `unix:${socket}` },
      { address: both.address, certificateAuthorities: pem },
    ]) {
      const own = connect({ ...options, token: both.token });
      expect(await own.run(declaration, { bytes: 4, format: 'hex' }, 'transit')).toMatchObject({
        data: { random_bytes: expect.stringMatching(/^[0-9a-f]{8}$/) },
      });
      own.close();
    }
    const distrustful = connect({ address: both.address, token: both.token });
    onTestFinished(() => distrustful.close());
    expect(await refused(distrustful.run(declaration, {}, 'transit'))).toMatchObject({
      kind: 'unavailable',
      message: `cannot reach ${both.address}: the server's certificate is not trusted`,
    });
  });
});

describe('a client of something else', () => {
  async function other(listener: RequestListener): Promise<string> {
    const http = createServer(listener).listen(0, '127.0.0.1');
    await new Promise((resolve) => http.once('listening', resolve));
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  async function ask(address: string, timeoutMs = PATIENCE_MS, maxAnswerBytes = 2 ** 20) {
    const own = connect({ address, token: 't', timeoutMs, maxAnswerBytes });
    onTestFinished(() => own.close());
    return refused(own.run((await transit.keys.read.load()).declaration, { name: 'k' }, 'transit'));
  }

  it('is told when nobody listens', async () => {
    const free = 'http://127.0.0.1:1';
    expect(await ask(free)).toMatchObject({
      kind: 'unavailable',
      message: `cannot reach ${free}: connection refused`,
    });
    expect(await ask('unix:/none/coffer.sock')).toMatchObject({
      message: 'cannot reach unix:/none/coffer.sock: socket not found',
    });
  });

  it.each([
    ['HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'the proxy responded with status 407'],
    ['', 'the proxy cut the connection'],
  ])('is told when a proxy on the way answers %j', async (answer, reason) => {
    const proxy = createConnectionServer((socket) => socket.once('data', () => socket.end(answer)));
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const address = 'https://vault.example.test';
    const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const own = connect({ address, token: 't', proxyEnv: { HTTPS_PROXY } });
    onTestFinished(() => own.close());
    const { declaration } = await transit.keys.read.load();
    await expect(own.run(declaration, { name: 'k' }, 'transit')).rejects.toMatchObject({
      message: `cannot reach ${address}: ${reason}`,
      hint: expect.stringContaining('NO_PROXY'),
    });
  });

  it('is told when no answer comes in time, or the connection is cut', async () => {
    const silent = await other(() => undefined);
    expect(await ask(silent, 50)).toMatchObject({
      kind: 'unavailable',
      message: `cannot reach ${silent}: timed out`,
    });
    const half = await other((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
    });
    expect(await ask(half, 50)).toMatchObject({ kind: 'unavailable' });
    const cutting = await other((request) => request.socket.destroy());
    expect(await ask(cutting)).toMatchObject({
      kind: 'unavailable',
      message: `cannot reach ${cutting}: the connection was cut`,
    });
  });

  it('is told that a change may be made when its answer is lost, and that it is not when it was never sent', async () => {
    const rotate = async (address: string) => {
      const own = connect({ address, token: 't', timeoutMs: PATIENCE_MS });
      onTestFinished(() => own.close());
      return refused(own.run((await transit.keys.rotate.load()).declaration, { name: 'k' }, 'transit'));
    };
    const cutting = await other((request) => request.resume().once('end', () => request.socket.destroy()));
    expect(await rotate(cutting)).toMatchObject({
      kind: 'unconfirmed',
      message: `cannot reach ${cutting}: the connection was cut`,
    });
    expect(await rotate('http://127.0.0.1:1')).toMatchObject({ kind: 'unavailable' });
  });

  it('waits as long as the API of organizations asks for, up to ten times', async () => {
    const asked: string[] = [];
    let headers: Record<string, string> = {};
    let refusals = 0;
    const limited = await other(({ url = '' }, response) => {
      asked.push(url);
      if (refusals-- <= 0) return response.end('{"data":[],"links":{}}');
      return response.writeHead(429, headers).end('{"errors":[{"title":"too many requests"}]}');
    });
    const own = connect({ address: limited, token: 't', timeoutMs: PATIENCE_MS });
    onTestFinished(() => own.close());
    const { declaration } = await orgs.list.load();
    const list = async (times: number, given: Record<string, string>): Promise<number> => {
      [refusals, headers] = [times, given];
      const begun = performance.now();
      await own.run(declaration, {}, 'transit');
      return performance.now() - begun;
    };
    expect(await list(2, { 'x-ratelimit-reset': '0.1' })).toBeGreaterThanOrEqual(195);
    expect(await list(1, { 'x-ratelimit-reset': '0', 'retry-after': '60' })).toBeLessThan(20_000);
    expect(await list(1, { 'retry-after': '0.1' })).toBeGreaterThanOrEqual(95);
    expect(await list(1, { 'retry-after': 'soon' })).toBeGreaterThanOrEqual(995);
    expect(asked.splice(0)).toHaveLength(9);
    expect((await refused(list(10, { 'retry-after': '0' }))).message).toBe('too many requests');
    expect(asked.splice(0)).toHaveLength(10);
  });

  it('is told when the connection is to be used for something else', async () => {
    const switching = await other(({ socket }) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n');
    });
    expect(await ask(switching)).toMatchObject({
      kind: 'unavailable',
      message: 'the server gave an unexpected response (status 101)',
    });
  });

  it('takes no answer without end, nor one byte too many', async () => {
    const endless = await other((_request, response) => {
      // Until the client hangs up: the process would go on writing as long as it lives.
      const more = () =>
        response.write('x'.repeat(65_536), (error) => {
          if (!error) setImmediate(more);
        });
      more();
    });
    expect(await ask(endless)).toMatchObject({
      kind: 'unavailable',
      message: `the response from ${endless} exceeds 1048576 bytes`,
    });
    const body = JSON.stringify({ errors: ['no'] });
    const exact = await other((_request, response) => response.writeHead(400).end(body));
    expect(await ask(exact, PATIENCE_MS, body.length)).toMatchObject({ kind: 'invalid', message: 'no' });
    expect(await ask(exact, PATIENCE_MS, body.length - 1)).toMatchObject({ kind: 'unavailable' });
  });

  it.each([
    ['<html>hello</html>', 200],
    ['<html>bad gateway</html>', 502],
    ['[1,2]', 200],
    ['', 500],
  ])('does not take %j for an answer', async (body, status) => {
    const address = await other((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/octet-stream' }).end(body);
    });
    expect(await ask(address)).toMatchObject({ kind: 'unavailable' });
  });

  it('understands the errors of a real Vault', async () => {
    const vault = (status: number, body: object) =>
      other((_request, response) => response.writeHead(status).end(JSON.stringify(body)));
    const wrapped = '1 error occurred:\n\t* permission denied\n\n';
    expect(await ask(await vault(403, { errors: [wrapped] }))).toMatchObject({
      kind: 'denied',
      message: 'permission denied',
    });
    expect(await ask(await vault(404, { errors: [] }))).toMatchObject({
      kind: 'not-found',
      message: 'not found',
    });
    expect(await ask(await vault(400, { errors: ['a', 'b'] }))).toMatchObject({
      kind: 'invalid',
      message: 'a; b',
    });
    expect(await ask(await vault(503, { errors: ['Vault is sealed'] }))).toMatchObject({ kind: 'sealed' });
  });
});

describe('what a server tells the client alone', () => {
  it('is not told to others', async () => {
    const plain = await send(server.address, 'POST', '/v1/transit/keys/none/rotate', { token: server.token });
    expect(plain.json).toEqual({ errors: ['key not found'] });
    const detailed = await send(server.address, 'POST', '/v1/transit/keys/none/rotate', {
      token: server.token,
      headers: { 'x-coffer-details': '1' },
    });
    expect(detailed.json).toMatchObject({
      errors: ['key not found'],
      coffer: { kind: 'not-found', message: 'key not found', field: 'name' },
    });
  });

  it.each([{}, { 'x-coffer-details': '1' }])(
    'has that a key was created, for headers %j',
    async (headers) => {
      const encrypt = async () => {
        const path = `/v1/transit/encrypt/created-for-${Object.keys(headers).length}`;
        const body = { plaintext: PLAINTEXT };
        const { json } = await send(server.address, 'POST', path, { token: server.token, headers, body });
        return json;
      };
      const { coffer, ...first } = await encrypt();
      const next = await encrypt();
      expect(coffer).toEqual(Object.keys(headers).length === 0 ? undefined : { created: true });
      expect(Object.keys(next)).toEqual(Object.keys(first));
    },
  );
});
