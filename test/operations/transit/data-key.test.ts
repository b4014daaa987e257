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

describe('datakeys', () => {
  const many = (raw: Raw = {}) =>
    operations.ask('datakeys', { name: 'orders', type: 'plaintext', ...raw }) as Promise<{
      readonly key_pairs: readonly { readonly plaintext?: string; readonly ciphertext: string }[];
      readonly key_version: number;
    }>;

  it('gives as many keys as count says, each another, in the clear and encrypted, or encrypted only', async () => {
    await operations.restore('orders', twoVersions);
    const { key_pairs, key_version } = await many({ count: 5, bits: 128, key_version: 1 });
    expect(key_version).toBe(1);
    expect(new Set(key_pairs.map(({ plaintext }) => plaintext)).size).toBe(5);
    for (const { plaintext = '', ciphertext } of key_pairs) {
      expect(Buffer.from(plaintext, 'base64')).toHaveLength(16);
      expect(ciphertext).toMatch(/^service:v1:/);
      expect(await operations.ask('decrypt', { name: 'orders', ciphertext })).toEqual({ plaintext });
    }
    const wrapped = await many({ type: 'wrapped', count: 1000 });
    expect(wrapped.key_pairs).toHaveLength(1000);
    expect(Object.keys(wrapped.key_pairs[999] ?? {})).toEqual(['ciphertext']);
    expect((await many()).key_pairs).toHaveLength(1);
  });

  it.each([0, -1, 1001, 2 ** 31 - 1, null])('makes never %j keys', async (count) => {
    await operations.restore('orders', twoVersions);
    expect(await rejectionOf(many({ count }))).toMatchObject({
      kind: 'invalid',
      field: 'count',
      message: 'count must be from 1 to 1000',
    });
  });

  it('takes what datakey takes, for all of them', async () => {
    await operations.ask('keys create', { name: 'orders', derived: true });
    const { key_pairs } = await many({ context: CONTEXT, associated_data: KEY, count: 2 });
    for (const { plaintext, ciphertext } of key_pairs) {
      const raw = { name: 'orders', ciphertext, context: CONTEXT, associated_data: KEY };
      expect(await operations.ask('decrypt', raw)).toEqual({ plaintext });
    }
    expect(await rejectionOf(many())).toMatchObject({ field: 'context' });
    expect(await rejectionOf(many({ nonce: NONCE, context: CONTEXT }))).toMatchObject({ field: 'nonce' });
    expect(await rejectionOf(many({ bits: 7, context: CONTEXT }))).toMatchObject({ field: 'bits' });
    expect(await rejectionOf(many({ type: 'secret' }))).toMatchObject({ kind: 'invalid' });
    expect(await rejectionOf(many({ name: 'nobody' }))).toMatchObject({ kind: 'not-found' });
    await operations.ask('keys create', { name: 'rsa', type: 'rsa-2048' });
    const padded = await many({ name: 'rsa', padding_scheme: 'oaep', hash_algorithm: 'sha2-384' });
    const [{ plaintext, ciphertext } = { ciphertext: '' }] = padded.key_pairs;
    const opened = await operations.ask('decrypt', { name: 'rsa', ciphertext, hash_algorithm: 'sha2-384' });
    expect(opened).toEqual({ plaintext });
  });
});
