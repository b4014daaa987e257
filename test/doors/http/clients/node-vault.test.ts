import vaultClient from 'node-vault';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  cleanUpAfterAll,
  selfSigned,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';

/** The client of the npm package node-vault, as it is: it knows nothing of this server. */

const base64 = (text: string): string => Buffer.from(text).toString('base64');

let server: TestServer;
let vault: vaultClient.client;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({}, afterwards);
  vault = vaultClient({ endpoint: server.address, token: server.token });
});

describe('node-vault with transit', () => {
  it('creates, reads, lists and deletes keys', async () => {
    await vault.transitCreateKey({ name: 'orders', type: 'aes256-gcm96' });
    const read = await vault.transitReadKey({ name: 'orders' });
    expect(read.data).toMatchObject({ name: 'orders', type: 'aes256-gcm96', latest_version: 1 });
    await vault.transitCreateKey({ name: 'gone' });
    expect((await vault.transitListKeys()).data.keys).toEqual(['gone', 'orders']);
    expect((await vault.list('transit/keys')).data.keys).toEqual(['gone', 'orders']);
    await vault.write('transit/keys/gone/config', { deletion_allowed: true });
    await vault.transitDeleteKey({ name: 'gone' });
    expect((await vault.list('transit/keys')).data.keys).toEqual(['orders']);
  });

  it('encrypts, decrypts and rewraps, in batches too', async () => {
    const { data } = await vault.encryptData({ name: 'orders', plaintext: base64('attack at dawn') });
    expect(data.ciphertext).toMatch(/^vault:v1:/);
    await vault.write('transit/keys/orders/rotate', {});
    const rewrapped = await vault.rewrapData({ name: 'orders', ciphertext: data.ciphertext });
    expect(rewrapped.data.ciphertext).toMatch(/^vault:v2:/);
    const decrypted = await vault.decryptData({ name: 'orders', ciphertext: rewrapped.data.ciphertext });
    expect(decrypted.data.plaintext).toBe(base64('attack at dawn'));
    const batch = await vault.encryptData({
      name: 'orders',
      batch_input: ['a', 'b'].map((text) => ({ plaintext: base64(text) })),
    });
    expect(batch.data.batch_results).toHaveLength(2);
  });

  it('signs and verifies, by signature and by HMAC', async () => {
    await vault.transitCreateKey({ name: 'signer', type: 'ecdsa-p256' });
    const input = base64('message');
    const signed = await vault.write('transit/sign/signer', { input });
    const verified = await vault.write('transit/verify/signer', { input, signature: signed.data.signature });
    expect(verified.data.valid).toBe(true);
    const forged = await vault.write('transit/verify/signer', {
      input: base64('another'),
      signature: signed.data.signature,
    });
    expect(forged.data.valid).toBe(false);
    const { data } = await vault.write('transit/hmac/orders/sha2-512', { input });
    const matched = await vault.write('transit/verify/orders/sha2-512', { input, hmac: data.hmac });
    expect(matched.data.valid).toBe(true);
  });

  it('gets data keys, random bytes and hashes', async () => {
    const plain = await vault.write('transit/datakey/plaintext/orders', { bits: 128 });
    expect(Buffer.from(plain.data.plaintext, 'base64')).toHaveLength(16);
    const wrapped = await vault.write('transit/datakey/wrapped/orders', {});
    expect(Object.keys(wrapped.data).sort()).toEqual(['ciphertext', 'key_version']);
    const random = await vault.write('transit/random/8', { format: 'hex' });
    expect(random.data.random_bytes).toMatch(/^[0-9a-f]{16}$/);
    const hashed = await vault.write('transit/hash', { input: base64('abc') });
    // FIPS 180-4, example of SHA-256
    expect(hashed.data.sum).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('backs a key up and restores it under another name', async () => {
    await vault.transitCreateKey({ name: 'kept', exportable: true, allow_plaintext_backup: true });
    const { data } = await vault.encryptData({ name: 'kept', plaintext: base64('safe') });
    const backup = await vault.read('transit/backup/kept');
    await vault.write('transit/restore/returned', { backup: backup.data.backup });
    const decrypted = await vault.decryptData({ name: 'returned', ciphertext: data.ciphertext });
    expect(decrypted.data.plaintext).toBe(base64('safe'));
  });

  it('reads errors as it reads those of its own server', async () => {
    await expect(vault.transitReadKey({ name: 'none' })).rejects.toMatchObject({
      message: 'Status 404',
      response: { statusCode: 404, body: { errors: [] } },
    });
    await expect(vault.decryptData({ name: 'orders', ciphertext: 'nonsense' })).rejects.toMatchObject({
      message: 'invalid ciphertext: no prefix',
      response: { statusCode: 400 },
    });
    const stranger = vaultClient({ endpoint: server.address, token: 'cfr.stranger' });
    await expect(stranger.transitReadKey({ name: 'orders' })).rejects.toThrow('permission denied');
  });
});

describe('node-vault with the calls around transit', () => {
  it('asks for health, seal and mounts', async () => {
    expect(await vault.health()).toMatchObject({ initialized: true, sealed: false });
    expect(await vault.status()).toMatchObject({ sealed: false, t: 1, n: 1 });
    expect(await vault.initialized()).toMatchObject({ initialized: true });
    expect(Object.keys((await vault.mounts()).data)).toContain('transit/');
    await vault.mount({ mount_point: 'second', type: 'transit', description: 'another' });
    expect((await vault.mounts()).data['second/'].description).toBe('another');
    await vault.unmount({ mount_point: 'second' });
    expect(Object.keys((await vault.mounts()).data)).not.toContain('second/');
  });

  it('writes policies and issues, looks up, renews and revokes tokens', async () => {
    const policy = 'path "transit/encrypt/orders" { capabilities = ["update"] }';
    await vault.addPolicy({ name: 'encrypter', policy, rules: policy });
    expect((await vault.policies()).data.policies).toContain('encrypter');
    expect((await vault.getPolicy({ name: 'encrypter' })).data.rules).toBe(policy);
    const created = await vault.tokenCreate({ policies: ['encrypter'], ttl: '1h', renewable: true });
    const token = created.auth.client_token;
    // It goes on with the token that it was issued.
    vault.token = server.token;
    const limited = vaultClient({ endpoint: server.address, token });
    expect((await limited.tokenLookupSelf()).data.policies).toEqual(['default', 'encrypter']);
    expect((await limited.encryptData({ name: 'orders', plaintext: '' })).data.key_version).toBeGreaterThan(
      0,
    );
    await expect(limited.transitReadKey({ name: 'orders' })).rejects.toThrow('permission denied');
    expect((await limited.tokenRenewSelf({ increment: '2h' })).auth.lease_duration).toBe(7200);
    expect((await vault.tokenLookup({ token })).data.ttl).toBeGreaterThan(7000);
    await vault.tokenRevoke({ token });
    await expect(limited.tokenLookupSelf()).rejects.toThrow('permission denied');
    await vault.removePolicy({ name: 'encrypter' });
    expect((await vault.policies()).data.policies).not.toContain('encrypter');
  });

  it('seals and unseals a server', async () => {
    const own = await startServer();
    const client = vaultClient({ endpoint: own.address, token: own.token });
    await client.seal();
    await expect(client.transitListKeys()).rejects.toThrow('Vault is sealed');
    const key = Buffer.from(Uint8Array.from({ length: 32 }, (_, index) => index)).toString('base64');
    expect(await client.unseal({ key })).toMatchObject({ sealed: false });
    expect((await client.mounts()).data['transit/'].type).toBe('transit');
  });

  it('talks to a server over TLS', async () => {
    const { pem, ...tls } = selfSigned(temporaryDirectory());
    const secure = await startServer({ tls });
    const client = vaultClient({
      endpoint: secure.address,
      token: secure.token,
      requestOptions: { agentOptions: { ca: pem } },
    });
    await client.transitCreateKey({ name: 'k' });
    expect((await client.transitListKeys()).data.keys).toEqual(['k']);
  });
});
