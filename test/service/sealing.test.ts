import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { initStore } from '../../src/store/administration/init.ts';
import { MASTER_KEY, send, startServer, temporaryDirectory } from '../servers/serving.ts';

const SEALED = { status: 503, json: { errors: ['Vault is sealed'] } };

describe('a server that was given no key', () => {
  it('is sealed, says so, and answers nothing else', async () => {
    const { address, sealed } = await startSealed();
    expect(sealed).toBe(true);
    expect(await send(address, 'GET', '/v1/sys/health')).toMatchObject({
      status: 503,
      json: { initialized: true, sealed: true, standby: false },
    });
    expect(await send(address, 'GET', '/v1/sys/seal-status')).toMatchObject({
      status: 200,
      json: { sealed: true, t: 1, n: 1, progress: 0 },
    });
    for (const [method, path] of [
      ['GET', '/v1/transit/keys/x'],
      ['POST', '/v1/transit/encrypt/x'],
      ['LIST', '/v1/transit/keys'],
      ['GET', '/v1/sys/mounts'],
      ['GET', '/v1/auth/token/lookup-self'],
      ['GET', '/v1/nothing'],
    ] as const) {
      expect(await send(address, method, path, { token: 'any' })).toMatchObject(SEALED);
    }
    expect(await send(address, 'GET', '/api/v2/organizations', { token: 'any' })).toMatchObject({
      status: 503,
      json: { errors: [{ status: '503', detail: 'The store is sealed.' }] },
    });
    expect(await send(address, 'GET', '/api/v2/ping')).toMatchObject({ status: 204 });
    expect(await send(address, 'GET', '/v1/sys/init')).toMatchObject({ json: { initialized: true } });
    expect(await send(address, 'GET', '/v1/sys/leader')).toMatchObject({ json: { ha_enabled: false } });
  });

  it('is unsealed by the master key, and by nothing else', async () => {
    const { address } = await startSealed();
    const refusal = { status: 400, json: { errors: ['unseal failed, invalid key'] } };
    expect(await unseal(address, Buffer.alloc(32, 9).toString('base64'))).toMatchObject(refusal);
    expect(await unseal(address, 'no passphrase opens it')).toMatchObject(refusal);
    expect(await send(address, 'GET', '/v1/sys/health')).toMatchObject({ status: 503 });
    expect(await unseal(address, MASTER_KEY)).toMatchObject({ status: 200, json: { sealed: false } });
    expect(await send(address, 'GET', '/v1/sys/health')).toMatchObject({ status: 200 });
    expect(await unseal(address, 'whatever')).toMatchObject({ status: 200, json: { sealed: false } });
  });

  it('logs who tries keys, and when it was unsealed and sealed again, without any key', async () => {
    const { address, log } = await startSealed();
    await unseal(address, 'no passphrase opens it');
    await unseal(address, MASTER_KEY);
    const lines = log.map((line) => JSON.parse(line)).map(({ level, message }) => `${level}: ${message}`);
    expect(lines).toEqual(['info: listening', 'warn: an attempt to unseal failed', 'info: unsealed']);
    expect(log.join('\n')).not.toContain('no passphrase opens it');
    expect(log.join('\n')).not.toContain(MASTER_KEY);
  });

  it.each([{ reset: true }, { key: MASTER_KEY }])('takes nothing from web pages: %j', async (body) => {
    const { address } = await startSealed();
    const headers = { origin: 'http://attacker.example', 'content-type': 'text/plain' };
    expect(await send(address, 'POST', '/v1/sys/unseal', { body, headers })).toMatchObject({
      status: 403,
      json: { errors: ['requests from web pages of other origins are refused'] },
    });
    expect(await send(address, 'GET', '/v1/sys/seal-status')).toMatchObject({ json: { sealed: true } });
  });

  it.each([{}, { key: '' }, { key: null }])('refuses to be unsealed with %j', async (body) => {
    const { address } = await startSealed();
    expect(await send(address, 'POST', '/v1/sys/unseal', { body })).toMatchObject({
      status: 400,
      json: { errors: ["'key' must be specified in request body as JSON, or 'reset' set to true"] },
    });
  });

  it('is unsealed by a passphrase', async () => {
    const directory = join(temporaryDirectory(), 'store');
    await initStore({ location: directory, slots: [{ kind: 'passphrase', passphrase: 'correct horse' }] });
    const { address } = await startServer({ location: directory, credentials: [] });
    expect(await unseal(address, 'correct horse')).toMatchObject({ json: { sealed: false } });
  });

  it('is unsealed by enough recovery shares, one at a time, in any order', async () => {
    const directory = join(temporaryDirectory(), 'store');
    const { slots } = await initStore({
      location: directory,
      slots: [{ kind: 'shares', count: 3, threshold: 2 }],
    });
    const [first = '', , third = ''] = slots[0]?.shareTexts ?? [];
    const { address } = await startServer({ location: directory, credentials: [] });
    expect(await send(address, 'GET', '/v1/sys/seal-status')).toMatchObject({
      json: { t: 2, n: 3, progress: 0 },
    });
    expect(await unseal(address, third)).toMatchObject({ json: { sealed: true, progress: 1 } });
    expect(await unseal(address, third)).toMatchObject({ json: { sealed: true, progress: 1 } });
    const reset = await send(address, 'POST', '/v1/sys/unseal', { body: { reset: true } });
    expect(reset.json).toMatchObject({ sealed: true, progress: 0 });
    await unseal(address, third);
    expect(await unseal(address, first)).toMatchObject({ json: { sealed: false, progress: 0 } });
  });

  it('refuses a mistyped recovery share by its own number, and keeps those it has', async () => {
    const directory = join(temporaryDirectory(), 'store');
    const { slots } = await initStore({
      location: directory,
      slots: [{ kind: 'shares', count: 5, threshold: 3 }],
    });
    const [first = '', second = '', third = ''] = slots[0]?.shareTexts ?? [];
    const { address, log } = await startServer({ location: directory, credentials: [] });
    await unseal(address, first);
    const mistyped = `${third.slice(0, -1)}${third.endsWith('0') ? '1' : '0'}`;
    for (const wrong of [
      mistyped,
      mistyped.toUpperCase(),
      third.slice(0, -1),
      `${third}0`,
      third.replace('.need', 'need'),
    ])
      expect(await unseal(address, wrong)).toMatchObject({
        status: 400,
        json: { errors: [expect.stringMatching(/^recovery share (?:3of5 )?is mistyped/)] },
      });
    expect(await unseal(address, mistyped)).toMatchObject({
      json: { errors: [expect.stringMatching(/^recovery share 3of5 is mistyped/)] },
    });
    expect(await unseal(address, ` ${first.toUpperCase()}\n`)).toMatchObject({ json: { progress: 1 } });
    await unseal(address, second);
    expect(await unseal(address, third)).toMatchObject({ json: { sealed: false } });
    expect(log.join('\n')).toContain('a recovery share is mistyped');
    expect(log.join('\n')).not.toContain(mistyped);
  });
});

describe('sealing a running server', () => {
  it('needs sudo, forgets the key, and is undone by unsealing', async () => {
    const server = await startServer();
    const { address, token } = server;
    await send(address, 'POST', '/v1/transit/keys/x', { token });
    expect(await send(address, 'PUT', '/v1/sys/seal', { token })).toMatchObject({ status: 204 });
    expect(await send(address, 'GET', '/v1/transit/keys/x', { token })).toMatchObject(SEALED);
    expect(await unseal(address, MASTER_KEY)).toMatchObject({ json: { sealed: false } });
    expect(await send(address, 'GET', '/v1/transit/keys/x', { token })).toMatchObject({ status: 200 });
  });

  it('fails the requests that it overtakes with 503, and none with a crash', async () => {
    const { address, token } = await startServer();
    await send(address, 'POST', '/v1/transit/keys/x', { token });
    const encrypting = Array.from({ length: 200 }, () =>
      send(address, 'POST', '/v1/transit/encrypt/x', { token, body: { plaintext: '' } }),
    );
    const sealing = send(address, 'POST', '/v1/sys/seal', { token });
    const statuses = new Set((await Promise.all(encrypting)).map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect((await sealing).status).toBe(204);
  });
});

describe('health', () => {
  it.each([
    ['?sealedcode=299', 299],
    ['?standbyok=true&activecode=204', 503],
    ['?uninitcode=200&drsecondarycode=1&perfstandbyok', 503],
  ])('of a sealed server answers to %s with %i', async (query, status) => {
    const { address } = await startSealed();
    expect(await send(address, 'GET', `/v1/sys/health${query}`)).toMatchObject({ status });
    expect(await send(address, 'HEAD', `/v1/sys/health${query}`)).toMatchObject({ status, text: '' });
  });

  it("of an unsealed server has a status of the caller's choice, and all that clients read", async () => {
    const { address } = await startServer();
    const { status, json } = await send(address, 'GET', '/v1/sys/health?activecode=299');
    expect(status).toBe(299);
    expect(json).toMatchObject({
      sealed: false,
      replication_performance_mode: 'disabled',
      replication_dr_mode: 'disabled',
      // https://semver.org, because clients parse it; some take what follows another dot for a number.
      version: expect.stringMatching(/^\d+\.\d+\.\d+\+coffer-\d[0-9A-Za-z-]*$/),
      cluster_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(Math.abs(json.server_time_utc - Date.now() / 1000)).toBeLessThan(60);
    expect(await send(address, 'POST', '/v1/sys/health')).toMatchObject({ status: 405 });
  });
});

const startSealed = () => startServer({ credentials: [] });

const unseal = (address: string, key: string) => send(address, 'PUT', '/v1/sys/unseal', { body: { key } });
