import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { examineStore } from '../../src/store/administration/repair.ts';
import { rekey } from '../../src/store/administration/slots.ts';
import { childrenOf } from '../hygiene/processes.ts';
import {
  issueToken,
  KEY,
  locally,
  MASTER_KEY,
  openTestStore,
  type Reply,
  send,
  spawnServer,
  startServer,
} from '../servers/serving.ts';

const PLAINTEXT = 'aGVsbG8=';
const WENT_BACK = /^the store was rolled back from generation 2, revision \d+ to generation 1, revision \d+$/;
const LARGE = Buffer.alloc(100_000, 7).toString('base64');

/** The names of the state, of the generations and of every document. */
const traceOf = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true }).map(String).sort();

interface Served {
  readonly address: string;
  readonly directory: string;
  readonly token: string;
}

const encrypt = ({ address }: Served, token: string): Promise<Reply> =>
  send(address, 'POST', '/v1/transit/encrypt/orders', { token, body: { plaintext: PLAINTEXT } });

async function withStore<T>(
  directory: string,
  work: (store: Awaited<ReturnType<typeof openTestStore>>) => Promise<T>,
): Promise<T> {
  const store = await openTestStore(directory);
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

const accept = (directory: string): Promise<unknown> => withStore(directory, (store) => store.accept(0));

/** A server that has seen generation 2 and refused a token, and a copy of its store in which that token was good. */
async function bringBack(server: Served): Promise<{ readonly revoked: string; readonly since: string }> {
  const { address, directory, token } = server;
  const past = `${directory}.past`;
  onTestFinished(() => rmSync(past, { recursive: true, force: true }));
  await send(address, 'POST', '/v1/transit/keys/orders', { token });
  const revoked = await issueToken(directory, {});
  expect((await encrypt(server, revoked)).status).toBe(200);
  cpSync(directory, past, { recursive: true });
  await withStore(directory, (store) => rekey(store));
  await send(address, 'POST', '/v1/auth/token/revoke', { token, body: { token: revoked } });
  expect((await encrypt(server, revoked)).status).toBe(403);
  const since = await issueToken(directory, {});
  expect((await encrypt(server, since)).status).toBe(200);
  renameSync(directory, `${directory}.future`);
  renameSync(past, directory);
  onTestFinished(() => rmSync(`${directory}.future`, { recursive: true, force: true }));
  return { revoked, since };
}

function exchange(directory: string): void {
  renameSync(directory, `${directory}.aside`);
  renameSync(`${directory}.future`, directory);
  renameSync(`${directory}.aside`, `${directory}.future`);
}

describe('a running server whose store is brought back to an older generation', () => {
  it('answers 503 at every door, to good tokens, revoked ones and none, and says from where to where', async () => {
    const server = await startServer();
    const { revoked, since } = await bringBack(server);
    const before = traceOf(server.directory);
    for (const token of [revoked, since, server.token, 'nonsense', undefined]) {
      const asked = { token };
      for (const [method, path, body] of [
        ['POST', '/v1/transit/encrypt/orders', { plaintext: PLAINTEXT }],
        ['POST', '/v1/transit/encrypt/orders', { plaintext: LARGE }],
        ['POST', '/v1/transit/keys/more', {}],
        ['POST', '/v1/transit/keys/orders/rotate', {}],
        ['GET', '/v1/auth/token/lookup-self', undefined],
        ['POST', '/v1/auth/token/create', {}],
        ['GET', '/v1/sys/metrics', undefined],
        ['GET', '/v1/sys/health', undefined],
        ['GET', '/v1/sys/seal-status', undefined],
        ['GET', '/api/v2/organizations', undefined],
      ] as const) {
        const reply = await send(server.address, method, path, { ...asked, body });
        expect([path, reply.status, reply.text]).toEqual([path, 503, reply.text]);
        const [error] = reply.json.errors;
        expect(error.detail ?? error).toMatch(WENT_BACK);
      }
    }
    expect(traceOf(server.directory)).toEqual(before);
    const alarms = server.log.filter((line) => line.includes('WAS ROLLED BACK'));
    expect(alarms.map((line) => JSON.parse(line))).toEqual([
      {
        time: expect.any(String),
        level: 'error',
        message: 'THE STORE WAS ROLLED BACK: all requests are refused',
        reason: expect.stringMatching(/^the store in \S+ was rolled back from generation 2, /),
        from: expect.stringMatching(/^generation 2, /),
        to: expect.stringMatching(/^generation 1, /),
        remedy: expect.stringContaining('"coffer store accept"'),
      },
    ]);
  });

  it('goes on where it was once the newer state is put back, and takes the older one up once its owner accepts it', async () => {
    const server = await startServer();
    const { revoked, since } = await bringBack(server);
    expect((await encrypt(server, since)).status).toBe(503);
    exchange(server.directory);
    expect([(await encrypt(server, since)).status, (await encrypt(server, revoked)).status]).toEqual([
      200, 403,
    ]);
    exchange(server.directory);
    expect((await encrypt(server, since)).status).toBe(503);
    await accept(server.directory);
    expect([(await encrypt(server, since)).status, (await encrypt(server, revoked)).status]).toEqual([
      403, 200,
    ]);
    expect((await send(server.address, 'GET', '/v1/sys/health')).status).toBe(200);
    // Another root key of the same number as the one that was lost.
    await withStore(server.directory, (store) => rekey(store));
    const { token } = server;
    const rotated = await send(server.address, 'POST', '/v1/transit/keys/orders/rotate', { token });
    expect([rotated.status, rotated.json?.data?.latest_version]).toEqual([200, 2]);
    const credentials = [
      { kind: 'raw', source: 'the test key', reveal: () => Uint8Array.from(KEY) },
    ] as const;
    expect((await examineStore({ location: server.directory, credentials })).findings).toEqual([]);
  });

  it('is not deceived by an older state that others have worked on until its numbers were higher', async () => {
    const server = await startServer();
    const { revoked } = await bringBack(server);
    await withStore(server.directory, (store) => rekey(store));
    for (let i = 0; i < 20; i++) await issueToken(server.directory, {});
    const reply = await encrypt(server, revoked);
    expect([reply.status, reply.json.errors[0]]).toEqual([
      503,
      expect.stringMatching(/^the store was replaced by another copy or rolled back: from generation 2, /),
    ]);
    // Nor by an acceptance that was given before: it was not of this.
    await accept(server.directory);
    expect((await encrypt(server, revoked)).status).toBe(200);
    const copy = `${server.directory}.copy`;
    onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
    cpSync(server.directory, copy, { recursive: true });
    await issueToken(server.directory, {});
    expect((await encrypt(server, revoked)).status).toBe(200);
    rmSync(server.directory, { recursive: true });
    renameSync(copy, server.directory);
    expect((await encrypt(server, revoked)).status).toBe(503);
    for (let i = 0; i < 5; i++) await issueToken(server.directory, {});
    expect((await encrypt(server, revoked)).status).toBe(503);
  });

  it('remembers what it saw when it is sealed and unsealed', async () => {
    const server = await startServer();
    await send(server.address, 'POST', '/v1/transit/keys/orders', { token: server.token });
    cpSync(server.directory, `${server.directory}.past`, { recursive: true });
    await issueToken(server.directory, {});
    expect((await encrypt(server, server.token)).status).toBe(200);
    await send(server.address, 'POST', '/v1/sys/seal', { token: server.token });
    renameSync(server.directory, `${server.directory}.future`);
    renameSync(`${server.directory}.past`, server.directory);
    const unseal = () => send(server.address, 'POST', '/v1/sys/unseal', { body: { key: MASTER_KEY } });
    expect([(await unseal()).status, (await encrypt(server, server.token)).status]).toEqual([503, 503]);
    await accept(server.directory);
    expect([(await unseal()).status, (await encrypt(server, server.token)).status]).toEqual([200, 200]);
  });

  it('refuses it with each of its workers, also with one that took the place of another', async () => {
    const server = await spawnServer({ workers: 2 });
    await send(server.address, 'POST', '/v1/transit/keys/orders', { token: server.token });
    cpSync(server.directory, `${server.directory}.past`, { recursive: true });
    const since = await issueToken(server.directory, {});
    for (let i = 0; i < 10; i++) expect((await encrypt(server, since)).status).toBe(200);
    renameSync(server.directory, `${server.directory}.future`);
    renameSync(`${server.directory}.past`, server.directory);
    const statuses = async () => {
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => encrypt(server, server.token).catch(() => undefined)),
      );
      return [...new Set(replies.map((reply) => reply?.status ?? 503))];
    };
    expect(await statuses()).toEqual([503]);
    const [worker] = childrenOf(server.child.pid ?? 0);
    process.kill(worker ?? 0, 'SIGKILL');
    await vi.waitUntil(() => server.log().includes('was restarted'), { timeout: 20_000 });
    await vi.waitUntil(
      async () => {
        expect(await statuses()).toEqual([503]);
        return server.log().includes('could not be started');
      },
      { timeout: 20_000, interval: 20 },
    );
    await accept(server.directory);
    await vi.waitUntil(async () => String(await statuses()) === '200', { timeout: 20_000 });
    expect(await locally(server.directory, async ({ core }) => core.store.revision())).toMatch(/^1-1\d{12}$/);
  });
});
