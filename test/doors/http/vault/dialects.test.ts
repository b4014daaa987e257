import { describe, expect, it } from 'vitest';
import { openCore } from '../../../../src/operations/core.ts';
import { openStore } from '../../../../src/store/open.ts';
import type { Dialect } from '../../../../src/transit/engine.ts';
import { KEY, type SendOptions, send, startServer, type TestServer } from '../../../servers/serving.ts';

const HELLO = 'aGVsbG8=';

/** As programs of the family call, whose token is in their own header. */
const asFamily = (server: TestServer, method: string, path: string, body?: object) =>
  send(server.address, method, path, {
    headers: { 'x-vault-token': server.token, 'x-vault-request': 'true' },
    body,
  });

const asOurs = (server: TestServer, method: string, path: string, options: SendOptions = {}) =>
  send(server.address, method, path, { token: server.token, ...options });

/** What a family's caller, and another one, get from the same mount. */
async function prefixes(server: TestServer, mount: string): Promise<string[]> {
  const path = `/v1/${mount}/encrypt/k`;
  const answers = [
    await asFamily(server, 'POST', path, { plaintext: HELLO }),
    await asOurs(server, 'POST', path, { body: { plaintext: HELLO } }),
  ];
  return answers.map(
    ({ json }) => (json as { data: { ciphertext: string } }).data.ciphertext.split(':')[0] ?? '',
  );
}

async function setForStore({ directory }: TestServer, dialect: Dialect): Promise<void> {
  const credentials = [{ kind: 'raw', source: 'the test key', reveal: () => Uint8Array.from(KEY) } as const];
  const store = await openStore({ location: directory, credentials });
  await openCore(store).mounts.setDefaults({ dialect });
  store.close();
}

describe('the dialect', () => {
  it('follows the caller where nobody set one, and each reads what the other wrote', async () => {
    const server = await startServer();
    expect(await prefixes(server, 'transit')).toEqual(['vault', 'service']);
    const { json } = await asFamily(server, 'POST', '/v1/transit/encrypt/k', { plaintext: HELLO });
    const { ciphertext } = (json as { data: { ciphertext: string } }).data;
    const back = await asOurs(server, 'POST', '/v1/transit/decrypt/k', { body: { ciphertext } });
    expect(back.json).toMatchObject({ data: { plaintext: HELLO } });
    const rewrapped = await asOurs(server, 'POST', '/v1/transit/rewrap/k', { body: { ciphertext } });
    expect(rewrapped.json).toMatchObject({ data: { ciphertext: expect.stringMatching(/^service:v1:/) } });
  });

  it('of signatures and HMACs is that of the caller, too; and so is what rotates without force', async () => {
    const server = await startServer();
    await asFamily(server, 'POST', '/v1/transit/keys/signer', { type: 'ed25519' });
    for (const [path, member] of [
      ['sign', 'signature'],
      ['hmac', 'hmac'],
    ]) {
      const { json } = await asFamily(server, 'POST', `/v1/transit/${path}/signer`, { input: HELLO });
      expect((json as { data: Record<string, string> }).data[member ?? '']).toMatch(/^vault:v1:/);
    }
    expect((await asOurs(server, 'POST', '/v1/transit/keys/signer/rotate')).status).toBe(400);
    expect((await asFamily(server, 'POST', '/v1/transit/keys/signer/rotate')).status).toBe(200);
  });

  it('is ours for a caller who brings both headers, as our own client does', async () => {
    const server = await startServer();
    const { json } = await asOurs(server, 'POST', '/v1/transit/encrypt/k', {
      headers: { 'x-vault-token': server.token },
      body: { plaintext: HELLO },
    });
    expect(json).toMatchObject({ data: { ciphertext: expect.stringMatching(/^service:/) } });
  });

  it('is set for all callers by the store, more strongly by the server, most strongly by the mount', async () => {
    const server = await startServer();
    await setForStore(server, 'vault');
    expect(await prefixes(server, 'transit')).toEqual(['vault', 'vault']);
    await server.close();

    const stronger = await startServer({ location: server.directory, dialect: 'service' });
    const calling = { ...stronger, token: server.token };
    expect(await prefixes(calling, 'transit')).toEqual(['service', 'service']);
    const options = { dialect: 'vault' };
    await asOurs(calling, 'POST', '/v1/sys/mounts/own', { body: { type: 'transit', options } });
    expect(await prefixes(calling, 'own')).toEqual(['vault', 'vault']);
  });

  it('is reported as it was set for the mount, and as nothing when it was not', async () => {
    const server = await startServer();
    await asFamily(server, 'POST', '/v1/sys/mounts/plain', { type: 'transit', description: 'd' });
    const read = async (path: string) =>
      ((await asFamily(server, 'GET', path)).json as { data: Record<string, unknown> }).data;
    expect(await read('/v1/sys/mounts/plain')).toMatchObject({ options: null });
    await asFamily(server, 'POST', '/v1/sys/mounts/plain/tune', {
      options: { dialect: 'vault', other: 'kept' },
    });
    expect(await read('/v1/sys/mounts/plain')).toMatchObject({
      options: { dialect: 'vault', other: 'kept' },
    });
    await asFamily(server, 'POST', '/v1/sys/mounts/plain/tune', { options: { dialect: '', other: '' } });
    expect(await read('/v1/sys/mounts/plain')).toMatchObject({ options: null });
    expect(await prefixes(server, 'plain')).toEqual(['vault', 'service']);
  });
});

describe('moving a mount', () => {
  it('takes its keys along at once, and tells how it went', async () => {
    const server = await startServer();
    const { json } = await asFamily(server, 'POST', '/v1/transit/encrypt/k', { plaintext: HELLO });
    const { ciphertext } = (json as { data: { ciphertext: string } }).data;
    const moved = await asFamily(server, 'POST', '/v1/sys/remount', { from: 'transit/', to: 'teams/new/' });
    const { migration_id: id } = (moved.json as { data: { migration_id: string } }).data;
    expect((await asFamily(server, 'GET', `/v1/sys/remount/status/${id}`)).json).toMatchObject({
      data: { migration_info: { source_mount: 'transit/', target_mount: 'teams/new/', status: 'success' } },
    });
    expect((await asFamily(server, 'POST', '/v1/transit/decrypt/k', { ciphertext })).status).toBe(404);
    expect((await asFamily(server, 'POST', '/v1/teams/new/decrypt/k', { ciphertext })).json).toMatchObject({
      data: { plaintext: HELLO },
    });
    // What needs no key does not care where mounts are.
    for (const tool of ['hash', 'random/8']) {
      const used = await asFamily(server, 'POST', `/v1/sys/tools/${tool}`, { input: HELLO });
      expect(used.status).toBe(200);
    }
    expect((await asFamily(server, 'POST', '/v1/transit/hash', { input: HELLO })).status).toBe(404);
  });

  it.each([
    ['a mount that is not there', { from: 'nowhere', to: 'a' }, 'no matching mount at "nowhere/"'],
    ['a path that is taken', { from: 'transit', to: 'other/below' }, 'path in use at "other/below/"'],
    ['a mount moved onto itself', { from: 'other', to: 'other/' }, 'path in use at "other/"'],
    ['a mount moved below itself', { from: 'other', to: 'other/below' }, 'path in use at "other/below/"'],
    ['what is built in', { from: 'auth/token', to: 'auth/other' }, 'cannot remount "auth/token/"'],
    ['an engine among the login methods', { from: 'transit', to: 'auth/transit' }, undefined],
  ])('refuses %s', async (_, body, text) => {
    const server = await startServer();
    await asFamily(server, 'POST', '/v1/sys/mounts/other', { type: 'transit' });
    const { status, json } = await asFamily(server, 'POST', '/v1/sys/remount', body);
    expect(status).toBe(400);
    if (text !== undefined) expect(json).toEqual({ errors: [text] });
    expect((await asFamily(server, 'LIST', '/v1/transit/keys')).status).toBe(404);
  });
});
