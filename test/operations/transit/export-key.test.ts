import { createHmac, createPrivateKey, createPublicKey } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations } from './operations.ts';
import { KEY } from './vectors.ts';

let operations: Operations;
beforeAll(async () => {
  operations = await freshOperations();
  const second = Buffer.alloc(32, 2).toString('base64');
  await operations.restore('orders', [goEntry({ key: KEY }), goEntry({ key: second })]);
  await operations.ask('keys create', { name: 'signing', type: 'ecdsa-p256', exportable: true });
  await operations.ask('keys create', { name: 'shut', type: 'ed25519' });
});

describe('keys export', () => {
  it('answers the versions of the key of the name, by number', async () => {
    expect(await operations.ask('keys export', { name: 'orders', key_type: 'encryption-key' })).toEqual({
      name: 'orders',
      type: 'aes256-gcm96',
      keys: { 1: KEY, 2: Buffer.alloc(32, 2).toString('base64') },
    });
  });

  it('takes out what key_type names', async () => {
    const { keys } = (await operations.ask('keys export', { name: 'orders', key_type: 'hmac-key' })) as {
      keys: Record<string, string>;
    };
    const expected = createHmac('sha256', Buffer.from(keys['2'] ?? '', 'base64'))
      .update('a')
      .digest('base64');
    expect(await operations.ask('hmac', { name: 'orders', input: 'YQ==' })).toEqual({
      hmac: `service:v2:${expected}`,
    });
    const privateKey = await operations.ask('keys export', { name: 'signing', key_type: 'signing-key' });
    const publicKey = await operations.ask('keys export', { name: 'signing', key_type: 'public-key' });
    const pem = (data: unknown) => (data as { keys: Record<string, string> }).keys['1'] ?? '';
    expect(createPublicKey(createPrivateKey(pem(privateKey))).equals(createPublicKey(pem(publicKey)))).toBe(
      true,
    );
  });

  it.each([
    ['latest', { 2: Buffer.alloc(32, 2).toString('base64') }],
    ['1', { 1: KEY }],
    [1, { 1: KEY }],
    ['v1', { 1: KEY }],
  ])('answers the one version %j', async (version, keys) => {
    const request = { name: 'orders', key_type: 'encryption-key', version };
    expect(await operations.ask('keys export', request)).toMatchObject({ keys });
  });

  it('prints raw, DER or PEM', async () => {
    const exported = async (format: string) =>
      (
        (await operations.ask('keys export', { name: 'signing', key_type: 'signing-key', format })) as {
          keys: Record<string, string>;
        }
      ).keys['1'] ?? '';
    expect(await exported('')).toMatch(
      /^-----BEGIN EC PRIVATE KEY-----\n[\s\S]+-----END EC PRIVATE KEY-----$/,
    );
    const pem = await exported('pem');
    expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n[\s\S]+-----END PRIVATE KEY-----$/);
    const der = { key: Buffer.from(await exported('der'), 'base64'), format: 'der', type: 'pkcs8' } as const;
    expect(createPrivateKey(der).equals(createPrivateKey(pem))).toBe(true);
    const raw = { name: 'orders', key_type: 'encryption-key', format: 'raw', version: '1' };
    expect(await operations.ask('keys export', raw)).toMatchObject({ keys: { 1: KEY } });
  });

  it.each([
    [{ key_type: 'secret-key' }, 'invalid', 'invalid export type: secret-key'],
    [{ format: 'jwk' }, 'invalid', 'invalid format: jwk'],
    [{ name: 'shut', key_type: 'signing-key' }, 'conflict', 'private key material is not exportable'],
    [{ key_type: 'signing-key' }, 'unsupported', 'signing not supported for the key'],
    [{ name: 'signing' }, 'unsupported', 'encryption not supported for the key'],
    [{ version: 'first' }, 'invalid', 'invalid key version'],
    [{ version: '3' }, 'invalid', 'version does not exist or cannot be found'],
    [{ version: '0' }, 'invalid', 'version for export is below minimum decryption version'],
    [{ name: 'nobody' }, 'not-found', 'key not found'],
  ])('refuses the request %j', async (request, kind, message) => {
    const attempt = operations.ask('keys export', { name: 'orders', key_type: 'encryption-key', ...request });
    expect(await rejectionOf(attempt)).toMatchObject({ kind, message });
  });

  it('gives the public key of a key that may not be exported, but never of a derived one', async () => {
    const exported = await operations.ask('keys export', { name: 'shut', key_type: 'public-key' });
    expect(exported).toMatchObject({ keys: { 1: expect.any(String) } });
    await operations.ask('keys create', {
      name: 'contexts',
      type: 'ed25519',
      derived: true,
      exportable: true,
    });
    const attempt = operations.ask('keys export', { name: 'contexts', key_type: 'public-key' });
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'unsupported',
      message: 'public key of a derived key cannot be exported',
    });
  });
});
