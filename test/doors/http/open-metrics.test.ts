import { cpSync, renameSync, rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { childrenOf } from '../../hygiene/processes.ts';
import { issueToken, MASTER_KEY, send, spawnServer, startServer } from '../../servers/serving.ts';

const OPEN = '127.0.0.1:0?unauthenticated-metrics-access=true';

/** The value of a metric that has no labels, or with these. */
const valueIn = (text: string, name: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
};

const metricsAt = async (address: string, query = ''): Promise<string> => {
  const { status, text, headers } = await send(address, 'GET', `/v1/sys/metrics${query}`);
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  return text;
};

describe('a listener with unauthenticated metrics access', () => {
  it('gives the numbers without a token, and nothing else, nor at another listener', async () => {
    const server = await startServer({ listen: ['127.0.0.1:0', OPEN] });
    const [closed = '', open = ''] = server.addresses;
    for (const query of ['', '?format=prometheus']) {
      expect(valueIn(await metricsAt(open, query), 'coffer_sealed')).toBe(0);
      expect(await send(closed, 'GET', `/v1/sys/metrics${query}`)).toMatchObject({ status: 403 });
    }
    for (const [method, path] of [
      ['LIST', '/v1/transit/keys'],
      ['GET', '/v1/sys/mounts'],
      ['POST', '/v1/sys/metrics'],
      ['GET', '/v1/sys/metrics/'],
    ] as const) {
      expect([path, (await send(open, method, path)).status >= 400]).toEqual([path, true]);
    }
  });

  it('says that the server is sealed, and that it is not any more', async () => {
    const server = await startServer({ listen: ['127.0.0.1:0', OPEN] });
    const { address, token, addresses } = server;
    const open = addresses[1] ?? '';
    expect(await send(address, 'POST', '/v1/sys/seal', { token })).toMatchObject({ status: 204 });
    const sealed = await metricsAt(open);
    expect(valueIn(sealed, 'coffer_sealed')).toBe(1);
    expect(valueIn(sealed, 'coffer_store_available')).toBe(0);
    await send(address, 'POST', '/v1/sys/unseal', { body: { key: MASTER_KEY } });
    const unsealed = await metricsAt(open);
    expect(valueIn(unsealed, 'coffer_sealed')).toBe(0);
    expect(valueIn(unsealed, 'coffer_store_available')).toBe(1);
  });

  it('says that the store can not be reached, while nothing else is answered', async () => {
    const server = await startServer({ listen: ['127.0.0.1:0', OPEN] });
    const { address, token, addresses, directory } = server;
    const open = addresses[1] ?? '';
    const away = `${directory}.away`;
    renameSync(directory, away);
    expect((await send(address, 'LIST', '/v1/transit/keys', { token })).status).toBe(503);
    const gone = await metricsAt(open);
    expect(valueIn(gone, 'coffer_store_available')).toBe(0);
    expect(valueIn(gone, 'coffer_store_went_back')).toBe(0);
    expect(gone).toMatch(/^coffer_store_failures_total\{kind="unavailable"\} [1-9]/m);
    renameSync(away, directory);
    expect(valueIn(await metricsAt(open), 'coffer_store_available')).toBe(1);
  });

  it('says that the store went back', async () => {
    const { address, token, addresses, directory } = await startServer({ listen: ['127.0.0.1:0', OPEN] });
    for (const name of ['past', 'future']) {
      onTestFinished(() => rmSync(`${directory}.${name}`, { recursive: true, force: true }));
    }
    cpSync(directory, `${directory}.past`, { recursive: true });
    expect((await send(address, 'POST', '/v1/transit/keys/orders', { token })).status).toBe(200);
    renameSync(directory, `${directory}.future`);
    renameSync(`${directory}.past`, directory);
    const text = await metricsAt(addresses[1] ?? '');
    expect([valueIn(text, 'coffer_store_available'), valueIn(text, 'coffer_store_went_back')]).toEqual([
      0, 1,
    ]);
  });

  it('counts failed logins, and none that is good', async () => {
    const server = await startServer({ listen: ['127.0.0.1:0', OPEN] });
    const { address, token, addresses } = server;
    await send(address, 'POST', '/v1/sys/auth/userpass', { token, body: { type: 'userpass' } });
    await send(address, 'POST', '/v1/auth/userpass/users/ada', { token, body: { password: 'right' } });
    const login = (password: string) =>
      send(address, 'POST', '/v1/auth/userpass/login/ada', { body: { password } });
    expect((await login('right')).status).toBe(200);
    expect(valueIn(await metricsAt(addresses[1] ?? ''), 'coffer_login_failures_total')).toBe(0);
    expect((await login('wrong')).status).toBe(400);
    expect((await login('wrong')).status).toBe(400);
    expect(valueIn(await metricsAt(addresses[1] ?? ''), 'coffer_login_failures_total')).toBe(2);
  });

  it('counts the processes that ended unasked', async () => {
    const server = await spawnServer({ workers: 2, listen: [OPEN] });
    const before = await metricsAt(server.address);
    expect([valueIn(before, 'coffer_processes'), valueIn(before, 'coffer_worker_restarts_total')]).toEqual([
      2, 0,
    ]);
    const [worker] = childrenOf(server.child.pid ?? 0);
    process.kill(worker ?? 0, 'SIGKILL');
    await vi.waitUntil(
      async () => {
        const text = await metricsAt(server.address).catch(() => '');
        return valueIn(text, 'coffer_worker_restarts_total') === 1 && valueIn(text, 'coffer_processes') === 2;
      },
      { timeout: 20_000, interval: 50 },
    );
  });
});

describe('metrics that a token asks for', () => {
  it('say when that token ends, if it ever does', async () => {
    const { address, token, directory } = await startServer();
    expect((await send(address, 'GET', '/v1/sys/metrics', { token })).text).not.toContain(
      'coffer_scrape_token',
    );
    const short = await issueToken(directory, { ttl: '1h' });
    const { text } = await send(address, 'GET', '/v1/sys/metrics', { token: short });
    const { json } = await send(address, 'GET', '/v1/auth/token/lookup-self', { token: short });
    expect(valueIn(text, 'coffer_scrape_token_end_seconds')).toBeCloseTo(
      Date.parse(json.data.expire_time) / 1000,
      0,
    );
  });
});
