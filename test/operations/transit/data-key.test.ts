import { beforeEach, describe, expect, it } from 'vitest';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';
import { CONTEXT, KEY, NONCE, POLICY_OF_0_6_1 } from './vectors.ts';

let operations: Operations;
const dataKey = (raw: Raw = {}) =>
  operations.ask('datakey', { name: 'orders', type: 'plaintext', ...raw }) as Promise<Record<string, string>>;
const twoVersions = [goEntry({ key: KEY }), goEntry({ key: KEY })];

beforeEach(async () => {
  operations = await freshOperations();
});

describe('datakey', () => {
  it('gives the key in the clear and encrypted, or encrypted only', async () => {
    await operations.restore('orders', twoVersions);
    const { plaintext, ...sealed } = await dataKey();
    expect(sealed).toEqual({ ciphertext: expect.stringMatching(/^service:v2:/), key_version: 2 });
    const opened = await operations.ask('decrypt', { name: 'orders', ciphertext: sealed['ciphertext'] });
    expect(opened).toEqual({ plaintext });
    expect(Object.keys(await dataKey({ type: 'wrapped' }))).toEqual(['ciphertext', 'key_version']);
    expect(await rejectionOf(dataKey({ type: 'secret' }))).toMatchObject({
      kind: 'invalid',
      message: "Invalid path, must be 'plaintext' or 'wrapped'",
    });
  });

  it('never makes the named key', async () => {
    expect(await rejectionOf(dataKey())).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
  });

  it.each([
    ['none', 32],
    [128, 16],
    ['256', 32],
    [512, 64],
  ])('is, for bits %j, %i bytes long', async (bits, bytes) => {
    await operations.restore('orders', twoVersions);
    const { plaintext = '' } = await dataKey(bits === 'none' ? {} : { bits });
    expect(Buffer.from(plaintext, 'base64')).toHaveLength(bytes);
  });

  it.each([0, null, 192, 1024])('is never %j bits long', async (bits) => {
    await operations.restore('orders', twoVersions);
    expect(await rejectionOf(dataKey({ bits }))).toMatchObject({
      kind: 'invalid',
      field: 'bits',
      message: 'invalid bit length',
    });
  });

  it('is encrypted under the key of the context', async () => {
    await operations.ask('keys create', { name: 'orders', derived: true });
    const { plaintext, ciphertext } = await dataKey({ context: CONTEXT });
    expect(await operations.ask('decrypt', { name: 'orders', ciphertext, context: CONTEXT })).toEqual({
      plaintext,
    });
    expect(await rejectionOf(dataKey())).toMatchObject({ kind: 'invalid', field: 'context' });
    expect(await rejectionOf(dataKey({ context: 'n!t' }))).toMatchObject({
      message: 'failed to base64-decode context',
    });
  });

  it('is encrypted under the version that is asked for', async () => {
    await operations.restore('orders', twoVersions);
    expect(await dataKey({ key_version: 1 })).toMatchObject({ key_version: 1 });
    expect(await rejectionOf(dataKey({ key_version: 3 }))).toMatchObject({ field: 'key_version' });
  });

  it('takes a nonce for convergent keys of release 0.6.1, and for no other', async () => {
    await operations.restore('orders', [goEntry({ key: KEY })], POLICY_OF_0_6_1);
    const beside = { context: CONTEXT, nonce: NONCE };
    const { plaintext, ciphertext } = await dataKey(beside);
    expect(await operations.ask('decrypt', { name: 'orders', ciphertext, ...beside })).toEqual({ plaintext });
    expect(await rejectionOf(dataKey({ context: CONTEXT }))).toMatchObject({ field: 'nonce' });
    await operations.restore('other', twoVersions);
    expect(await rejectionOf(dataKey({ name: 'other', nonce: beside.nonce }))).toMatchObject({
      message: 'provided nonce not allowed for this key',
    });
  });

  it('is bound to associated data, where the type can do that', async () => {
    await operations.restore('orders', twoVersions);
    const { plaintext, ciphertext } = await dataKey({ associated_data: 'YWFk' });
    const opened = { name: 'orders', ciphertext, associated_data: 'YWFk' };
    expect(await operations.ask('decrypt', opened)).toEqual({ plaintext });
    await operations.ask('keys create', { name: 'rsa', type: 'rsa-2048' });
    expect(await rejectionOf(dataKey({ name: 'rsa', associated_data: 'YWFk' }))).toMatchObject({
      kind: 'unsupported',
      message: "'associated_data' provided for non-AEAD cipher suite rsa-2048",
    });
  });
});
