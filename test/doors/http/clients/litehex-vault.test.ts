import { Client } from '@litehex/node-vault';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanUpAfterAll, startServer, type TestServer } from '../../../servers/serving.ts';

/** The client of the npm package @litehex/node-vault, as it is: it checks every answer against its own schemas. */

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const mountPath = 'transit';

let server: TestServer;
let vault: Client;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  vault = new Client({ endpoint: server.address, token: server.token });
});

/** Its calls answer data or an error. */
async function done(call: Promise<{ data?: unknown; error?: Error | undefined }>): Promise<Answer> {
  const { data, error } = await call;
  if (error !== undefined) throw error;
  return data as Answer;
}

/** What it makes of an answer; it has checked the members that it knows. */
interface Answer {
  readonly data: Readonly<Record<string, never>>;
}

describe('@litehex/node-vault', () => {
  it('creates, reads, lists, configures, rotates and deletes keys', async () => {
    const { transit } = vault;
    await done(transit.createKey({ mountPath, name: 'orders', type: 'aes256-gcm96' }));
    expect(await done(transit.readKey({ mountPath, name: 'orders' }))).toMatchObject({
      data: { name: 'orders', latest_version: 1 },
    });
    await done(transit.rotateKey({ mountPath, name: 'orders' }));
    await done(transit.createKey({ mountPath, name: 'gone' }));
    await done(transit.updateKey({ mountPath, name: 'gone', deletion_allowed: true }));
    expect((await done(transit.listKeys({ mountPath }))).data).toEqual({ keys: ['gone', 'orders'] });
    await done(transit.deleteKey({ mountPath, name: 'gone' }));
    expect((await done(transit.listKeys({ mountPath }))).data).toEqual({ keys: ['orders'] });
  });

  it('encrypts, decrypts and rewraps', async () => {
    const { transit } = vault;
    const { data: first } = await done(
      transit.encrypt({ mountPath, name: 'orders', plaintext: base64('dawn') }),
    );
    const { data: second } = await done(
      transit.rewrap({ mountPath, name: 'orders', ciphertext: String(first['ciphertext']) }),
    );
    const { data: third } = await done(
      transit.decrypt({ mountPath, name: 'orders', ciphertext: String(second['ciphertext']) }),
    );
    expect(third).toEqual({ plaintext: base64('dawn') });
  });

  it('signs and verifies, by signature and by HMAC', async () => {
    const { transit } = vault;
    // Its own schema takes every key for a symmetric one.
    const asymmetric = { strictSchema: false };
    await done(transit.createKey({ mountPath, name: 'signer', type: 'ed25519' }, asymmetric));
    const input = base64('message');
    const signed = await done(transit.sign({ mountPath, name: 'signer', input }));
    const verified = await done(
      transit.verify({
        mountPath,
        name: 'signer',
        algorithm: 'sha2-256',
        input,
        signature: String(signed.data['signature']),
      }),
    );
    expect(verified.data).toEqual({ valid: true });
    const mac = await done(transit.hmac({ mountPath, name: 'orders', input }));
    const matched = await done(
      transit.verifyHmac({
        mountPath,
        name: 'orders',
        algorithm: 'sha2-256',
        input,
        hmac: String(mac.data['hmac']),
      }),
    );
    expect(matched.data).toEqual({ valid: true });
  });

  it('gets data keys, random bytes and hashes', async () => {
    const { transit } = vault;
    const dataKey = await done(transit.generateDataKey({ mountPath, type: 'plaintext', name: 'orders' }));
    expect(Buffer.from(String(dataKey.data['plaintext']), 'base64')).toHaveLength(32);
    const random = await done(
      transit.generateRandom({ mountPath, source: 'platform', bytes: 8, format: 'hex' }),
    );
    expect(random.data['random_bytes']).toMatch(/^[0-9a-f]{16}$/);
    const hashed = await done(transit.hash({ mountPath, algorithm: 'sha2-256', input: base64('abc') }));
    // FIPS 180-4, example of SHA-256
    expect(hashed.data).toEqual({ sum: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' });
  });

  it('backs a key up and restores it', async () => {
    const { transit } = vault;
    const flags = { exportable: true, allow_plaintext_backup: true };
    await done(transit.createKey({ mountPath, name: 'kept', ...flags }));
    const { data } = await done(transit.backupKey({ mountPath, name: 'kept' }));
    await done(transit.restoreKey({ mountPath, name: 'returned', backup: String(data['backup']) }));
    expect((await done(transit.listKeys({ mountPath }))).data['keys']).toContain('returned');
  });

  it('asks for health, seal and mounts, and adds a mount', async () => {
    expect(await done(vault.health())).toMatchObject({ initialized: true, sealed: false });
    expect(await done(vault.sealStatus())).toMatchObject({ sealed: false, t: 1, n: 1 });
    await done(vault.mount({ mountPath: 'second', type: 'transit' }));
    expect(Object.keys((await done(vault.mounts())).data)).toContain('second/');
    await done(vault.transit.createKey({ mountPath: 'second', name: 'own' }));
    await done(vault.unmount({ mountPath: 'second' }));
  });

  it('reads errors as it reads those of its own server', async () => {
    const { error } = await vault.transit.readKey({ mountPath, name: 'none' });
    expect(error).toBeDefined();
    const denied = await new Client({ endpoint: server.address, token: 'cfr.bad' }).transit.listKeys({
      mountPath,
    });
    expect(denied.error?.message).toContain('permission denied');
  });
});
