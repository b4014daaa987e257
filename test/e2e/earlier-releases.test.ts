import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Credential } from '../../src/store/slots/unlock.ts';
import { type Reply, send, startServer } from '../servers/serving.ts';
import { type EarlierStore, earlierStore } from '../upgrade/earlier-store.ts';
import { EARLIER_RELEASES } from '../upgrade/releases.ts';
import { emptyPlace, type Place, removePlace } from './harness.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const bytesOf = (text: string): Buffer => Buffer.from(text, 'hex');

const places: Place[] = [];
afterAll(() => places.forEach(removePlace));

function write(place: Place, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = place.file(`store/${path}`);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, bytesOf(content), { mode: 0o600 });
  }
}

/** A place with the store as that release left it. */
function placeOf(store: EarlierStore): Place {
  const place = emptyPlace({ COFFER_MASTER_KEY: store.masterKey, COFFER_ORG: 'acme' });
  places.push(place);
  write(place, store.files);
  return place;
}

describe.each(EARLIER_RELEASES)('a store of $commit, $about', ({ commit }) => {
  const store = earlierStore(commit);
  const lines = async (place: Place, command: string): Promise<string[]> =>
    (await place.ok(command)).split('\n').sort();

  it('opens by each kind of secret that it has a slot for', async () => {
    const location = placeOf(store).file('store');
    const credentials: Credential[] = [
      { source: 'it', kind: 'raw', reveal: () => Buffer.from(store.masterKey, 'base64') },
      { source: 'it', kind: 'passphrase', reveal: () => store.passphrase },
      { source: 'it', kind: 'key-file', reveal: () => bytesOf(store.keyFile) },
      { source: 'it', kind: 'shares', reveal: () => store.shares.slice(0, 2) },
    ];
    for (const credential of credentials) (await openStore({ location, credentials: [credential] })).close();
  });

  it('decrypts, rewraps, verifies and authenticates with every key and version, for the tokens that it issued', async () => {
    const server = await startServer({
      location: placeOf(store).file('store'),
      credentials: [{ source: 'it', kind: 'raw', reveal: () => Buffer.from(store.masterKey, 'base64') }],
    });
    const ask = (path: string, body: object, token = store.token): Promise<Reply> =>
      send(server.address, 'POST', `/v1/${path}`, { token, body });
    const answer = async (path: string, body: object, token?: string) =>
      (await ask(path, body, token)).json?.data;

    for (const { key, plaintext, ciphertext, context, mount = 'transit' } of store.encrypted) {
      const about = { context: context === undefined ? undefined : base64(context) };
      const token = mount === 'transit' ? store.token : store.rootToken;
      const rewrapped = (await answer(`${mount}/rewrap/${key}`, { ciphertext, ...about }, token))?.ciphertext;
      for (const text of [ciphertext, rewrapped]) {
        const decrypted = await answer(`${mount}/decrypt/${key}`, { ciphertext: text, ...about }, token);
        expect([key, decrypted]).toEqual([key, { plaintext: base64(plaintext) }]);
      }
    }
    for (const { key, input, signature } of store.signed) {
      const verified = await answer(`transit/verify/${key}`, { input: base64(input), signature });
      expect([key, verified]).toEqual([key, { valid: true }]);
    }
    for (const { key, input, hmac } of store.hmacs) {
      const verified = await answer(`transit/verify/${key}`, { input: base64(input), hmac });
      expect([key, verified]).toEqual([key, { valid: true }]);
    }
    const keysOf = async (name: string) =>
      (await send(server.address, 'GET', `/v1/transit/keys/${name}`, { token: store.token })).json?.data.keys;
    for (const [name, publicKey] of Object.entries(store.publicKeys)) {
      expect((await keysOf(name))['2'].public_key).toBe(publicKey);
    }
    const exported = '/v1/transit/export/signing-key/ed25519';
    expect((await send(server.address, 'GET', exported, { token: store.token })).status).toBe(403);
    expect((await send(server.address, 'GET', exported, { token: store.rootToken })).status).toBe(200);
    const policy = await send(server.address, 'GET', '/v1/sys/policies/acl/orders', {
      token: store.rootToken,
    });
    expect(policy.json?.data.policy).toBe(store.policy.trimEnd());
  });

  it('lists what it had, opens an envelope, is whole, and stays so when it is written and re-keyed', async () => {
    const place = placeOf(store);
    expect(await lines(place, 'transit keys list')).toEqual([...store.keys].sort());
    expect(await lines(place, 'workspaces list')).toEqual(['billing', 'plain', 'web']);
    expect(await lines(place, 'tags of billing')).toEqual(['env:prod', 'team:core']);
    const opened = await place.ok('transit envelope decrypt', { input: bytesOf(store.envelope) });
    expect(opened).toBe('a file of some length');
    await place.ok('doctor');
    await place.ok('transit keys rotate aes256-gcm96');
    await place.ok('rekey --yes');
    const [first] = store.encrypted.filter(({ key }) => key === 'aes256-gcm96');
    expect(await place.ok(['transit', 'decrypt', 'aes256-gcm96', first?.ciphertext ?? ''])).toBe(
      first?.plaintext,
    );
    await place.ok('doctor');
  });

  it('has what its last writer decided before it was killed', async () => {
    const place = placeOf(store);
    write(place, store.interrupted.added);
    for (const path of store.interrupted.removed) rmSync(place.file(`store/${path}`));
    expect(await lines(place, 'workspaces list')).toEqual(['billing', 'late', 'plain', 'web']);
    await place.ok('workspaces tag late after');
    expect(await lines(place, 'tags of late')).toEqual(['after', 'env:prod', 'new']);
    await place.ok('doctor');
  });

  it('comes back from a backup of its own time and from one of today', async () => {
    const place = placeOf(store);
    writeFileSync(place.file('earlier'), bytesOf(store.backup));
    await place.ok('store backup today');
    for (const backup of ['earlier', 'today']) {
      const restored = place.with({ COFFER_STORE: place.file(`from-${backup}`) });
      await restored.ok(`store restore ${backup}`);
      expect(await lines(restored, 'transit keys list')).toEqual([...store.keys].sort());
      await restored.ok('doctor');
    }
  });
});
