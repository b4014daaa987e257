import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations } from './operations.ts';

describe('keys rotate', () => {
  it('adds a version to the key of the name, which new messages are encrypted with', async () => {
    const { ask } = await freshOperations();
    await ask('keys create', { name: 'orders' });
    expect(await ask('keys rotate', { name: 'orders' })).toMatchObject({
      name: 'orders',
      latest_version: 2,
      keys: { 1: expect.any(Number), 2: expect.any(Number) },
    });
    expect(await ask('encrypt', { name: 'orders', plaintext: '' })).toEqual({
      ciphertext: expect.stringMatching(/^service:v2:/),
      key_version: 2,
    });
    expect(await rejectionOf(ask('keys rotate', { name: 'nobody' }))).toMatchObject({
      kind: 'not-found',
      message: 'key not found',
    });
  });

  it('adds one to a key that only signs when force says so', async () => {
    const { ask } = await freshOperations();
    await ask('keys create', { name: 'signing', type: 'ed25519' });
    const error = await rejectionOf(ask('keys rotate', { name: 'signing' }));
    expect(error).toMatchObject({
      kind: 'unsupported',
      message: 'rotation is only supported for keys that encrypt and decrypt; ed25519 does not',
      hint: 'use force (--force) to rotate it anyway',
    });
    expect(await ask('keys rotate', { name: 'signing', force: true })).toMatchObject({ latest_version: 2 });
  });

  it('needs no force for RSA, which encrypts as well, nor for any key of a mount that speaks as Vault', async () => {
    const { ask } = await freshOperations('vault');
    await ask('keys create', { name: 'signing', type: 'ed25519' });
    expect(await ask('keys rotate', { name: 'signing' })).toMatchObject({ latest_version: 2 });
    const own = await freshOperations();
    await own.ask('keys create', { name: 'rsa', type: 'rsa-2048' });
    expect(await own.ask('keys rotate', { name: 'rsa' })).toMatchObject({ latest_version: 2 });
  });
});
