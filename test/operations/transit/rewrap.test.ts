import { beforeEach, describe, expect, it } from 'vitest';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';
import {
  CIPHERTEXT_OF_0_6_1,
  CONTEXT,
  CONVERGENT,
  CONVERGENT_ENTRY,
  CONVERGENT_POLICY,
  FOX,
  KEY,
  NONCE,
  PLAIN,
  POLICY_OF_0_6_1,
  WITH_AAD,
} from './vectors.ts';

let operations: Operations;
const rewrap = (raw: Raw) => operations.ask('rewrap', { name: 'orders', ...raw });

/** Rewraps, and decrypts what that gave. */
async function throughRewrap(sealed: Raw, beside: Raw = {}): Promise<unknown> {
  const ciphertext = await operations.text('rewrap', { name: 'orders', ...sealed, ...beside }, 'ciphertext');
  expect(ciphertext).toMatch(/^service:v2:/);
  return operations.ask('decrypt', { name: 'orders', ...beside, ciphertext });
}

const second = Buffer.alloc(32, 2).toString('base64');
const twoVersions = [goEntry({ key: KEY }), goEntry({ key: second })];

beforeEach(async () => {
  operations = await freshOperations();
});

describe('rewrap', () => {
  it('answers the ciphertext under the latest version, and no plaintext', async () => {
    await operations.restore('orders', twoVersions);
    expect(await rewrap({ ciphertext: PLAIN })).toEqual({
      ciphertext: expect.stringMatching(/^service:v2:/),
      key_version: 2,
    });
    expect(await throughRewrap({ ciphertext: PLAIN })).toEqual({ plaintext: FOX });
    expect(await rejectionOf(rewrap({}))).toMatchObject({ message: 'missing ciphertext to decrypt' });
    const nobody = operations.ask('rewrap', { name: 'nobody', ciphertext: PLAIN });
    expect(await rejectionOf(nobody)).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
  });

  it('uses the context for reading and for writing', async () => {
    const versions = [goEntry(CONVERGENT_ENTRY), goEntry({ ...CONVERGENT_ENTRY, key: second })];
    await operations.restore('orders', versions, CONVERGENT_POLICY);
    expect(await throughRewrap({ ciphertext: CONVERGENT }, { context: CONTEXT })).toEqual({ plaintext: FOX });
    expect(await rejectionOf(rewrap({ ciphertext: CONVERGENT }))).toMatchObject({ field: 'context' });
  });

  it('writes with the version that is asked for', async () => {
    await operations.restore('orders', twoVersions);
    expect(await rewrap({ ciphertext: PLAIN, key_version: 1 })).toMatchObject({ key_version: 1 });
    expect(await rejectionOf(rewrap({ ciphertext: PLAIN, key_version: 3 }))).toMatchObject({
      kind: 'invalid',
      field: 'key_version',
      message: 'requested version for encryption is higher than the latest key version',
    });
  });

  it('uses the nonce of release 0.6.1 for reading and for writing', async () => {
    await operations.restore('orders', twoVersions, POLICY_OF_0_6_1);
    const beside = { context: CONTEXT, nonce: NONCE };
    expect(await throughRewrap({ ciphertext: CIPHERTEXT_OF_0_6_1 }, beside)).toEqual({ plaintext: FOX });
    const attempt = rewrap({ ciphertext: CIPHERTEXT_OF_0_6_1, context: CONTEXT });
    expect(await rejectionOf(attempt)).toMatchObject({ message: 'invalid convergent nonce supplied' });
  });

  it('keeps associated data, which it must be given', async () => {
    await operations.restore('orders', twoVersions);
    const beside = { associated_data: 'YWFk' };
    expect(await throughRewrap({ ciphertext: WITH_AAD }, beside)).toEqual({ plaintext: FOX });
    expect(await rejectionOf(rewrap({ ciphertext: WITH_AAD }))).toMatchObject({
      message: 'cipher: message authentication failed',
    });
  });
});

describe('rewrap with batch_input', () => {
  it('answers each item at its place; a failed one does not change the status', async () => {
    await operations.restore('orders', twoVersions);
    const batch_input = [
      { ciphertext: PLAIN, reference: 'one' },
      { ciphertext: WITH_AAD, associated_data: 'YWFk', key_version: 1 },
      { ciphertext: '', reference: 'three' },
      { ciphertext: PLAIN, key_version: 7 },
    ];
    expect(
      await operations.outcome('rewrap', { name: 'orders', ciphertext: 'x', context: 'n!t', batch_input }),
    ).toEqual({
      data: {
        batch_results: [
          { ciphertext: expect.stringMatching(/^service:v2:/), key_version: 2, reference: 'one' },
          { ciphertext: expect.stringMatching(/^service:v1:/), key_version: 1, reference: '' },
          { error: 'missing ciphertext to decrypt', reference: 'three' },
          { error: 'requested version for encryption is higher than the latest key version', reference: '' },
        ],
      },
    });
  });

  it('uses the key_version beside it for items that say none', async () => {
    await operations.restore('orders', twoVersions);
    const batch_input = [{ ciphertext: PLAIN }, { ciphertext: PLAIN, key_version: 2 }];
    expect(await rewrap({ key_version: 1, batch_input })).toMatchObject({
      batch_results: [{ key_version: 1 }, { key_version: 2 }],
    });
  });

  it('answers each item, whatever contexts its items have', async () => {
    await operations.restore('orders', twoVersions);
    const batch_input = [{ ciphertext: PLAIN, context: CONTEXT }, { ciphertext: PLAIN }];
    expect(await rewrap({ batch_input })).toMatchObject({
      batch_results: [{ key_version: 2 }, { key_version: 2 }],
    });
    await operations.ask('keys create', { name: 'derived', derived: true });
    const sealed = { name: 'derived', plaintext: FOX, context: CONTEXT };
    const ciphertext = await operations.text('encrypt', sealed, 'ciphertext');
    const items = [{ ciphertext }, { ciphertext, context: CONTEXT }];
    expect(await operations.ask('rewrap', { name: 'derived', batch_input: items })).toMatchObject({
      batch_results: [{ error: expect.stringContaining("missing 'context'") }, { key_version: 1 }],
    });
  });

  it('has for callers of the family a context for every item, or for none', async () => {
    operations = await freshOperations('vault');
    await operations.restore('orders', twoVersions);
    const batch_input = [{ ciphertext: PLAIN, context: CONTEXT }, { ciphertext: PLAIN }];
    expect(await rejectionOf(rewrap({ batch_input }))).toMatchObject({
      kind: 'invalid',
      message: 'context should be set either in all the request blocks or in none',
    });
  });
});
