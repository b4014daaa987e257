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
const decrypt = (raw: Raw) => operations.ask('decrypt', { name: 'orders', ...raw });

beforeEach(async () => {
  operations = await freshOperations();
});

describe('decrypt', () => {
  it('gives the plaintext of a ciphertext of Vault, and of the same one under our prefix', async () => {
    await operations.restore('orders', [goEntry({ key: KEY })]);
    expect(await decrypt({ ciphertext: PLAIN })).toEqual({ plaintext: FOX });
    expect(await decrypt({ ciphertext: PLAIN.replace('vault', 'service') })).toEqual({ plaintext: FOX });
  });

  it.each([
    [{}, 'missing ciphertext to decrypt'],
    [{ ciphertext: '' }, 'missing ciphertext to decrypt'],
    [{ ciphertext: 'v1:AAAA' }, 'invalid ciphertext: no prefix'],
    [{ ciphertext: 'service:v1' }, 'invalid ciphertext: wrong number of fields'],
    [{ ciphertext: 'service:vx:AAAA' }, 'invalid ciphertext: version number could not be decoded'],
    [{ ciphertext: 'service:v2:AAAA' }, 'invalid ciphertext: version is too new'],
    [{ ciphertext: 'service:v1:n!t' }, 'invalid ciphertext: could not decode base64'],
    [{ ciphertext: 'service:v1:AAAA' }, 'invalid ciphertext length'],
  ])('refuses the request %j', async (raw, message) => {
    await operations.restore('orders', [goEntry({ key: KEY })]);
    const kind = message === 'invalid ciphertext length' ? 'inauthentic' : 'invalid';
    expect(await rejectionOf(decrypt(raw))).toMatchObject({ kind, message });
  });

  it('refuses a name that no key has, and makes none', async () => {
    expect(await rejectionOf(decrypt({ ciphertext: PLAIN }))).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
    expect(await operations.ask('keys list')).toEqual({ keys: [] });
  });

  it('derives the key from the context', async () => {
    await operations.restore('orders', [goEntry(CONVERGENT_ENTRY)], CONVERGENT_POLICY);
    expect(await decrypt({ ciphertext: CONVERGENT, context: CONTEXT })).toEqual({ plaintext: FOX });
    expect(await rejectionOf(decrypt({ ciphertext: CONVERGENT, context: 'b3RoZXI=' }))).toMatchObject({
      message: 'cipher: message authentication failed',
    });
    expect(await rejectionOf(decrypt({ ciphertext: CONVERGENT }))).toMatchObject({ field: 'context' });
  });

  it('takes the nonce of a ciphertext of release 0.6.1, and overlooks one elsewhere', async () => {
    await operations.restore('orders', [goEntry({ key: KEY })], POLICY_OF_0_6_1);
    const sealed = { ciphertext: CIPHERTEXT_OF_0_6_1, context: CONTEXT };
    expect(await decrypt({ ...sealed, nonce: NONCE })).toEqual({ plaintext: FOX });
    expect(await rejectionOf(decrypt(sealed))).toMatchObject({
      kind: 'invalid',
      field: 'nonce',
      message: 'invalid convergent nonce supplied',
    });
    await operations.ask('keys create', { name: 'rsa', type: 'rsa-2048' });
    const ciphertext = await operations.text('encrypt', { name: 'rsa', plaintext: FOX }, 'ciphertext');
    const nonce = NONCE;
    expect(await operations.ask('decrypt', { name: 'rsa', ciphertext, nonce })).toEqual({ plaintext: FOX });
  });

  it('needs the associated data that the ciphertext was made with', async () => {
    await operations.restore('orders', [goEntry({ key: KEY })]);
    expect(await decrypt({ ciphertext: WITH_AAD, associated_data: 'YWFk' })).toEqual({ plaintext: FOX });
    for (const associated_data of ['', 'YWFl']) {
      expect(await rejectionOf(decrypt({ ciphertext: WITH_AAD, associated_data }))).toMatchObject({
        kind: 'inauthentic',
        message: 'cipher: message authentication failed',
      });
    }
  });
});

describe('decrypt with batch_input', () => {
  const items = [
    { ciphertext: WITH_AAD, associated_data: 'YWFk', reference: 'one' },
    { reference: 'two' },
    { ciphertext: PLAIN.replace('oKGi', 'AAAA') },
  ];

  it('has for callers of the family a context for every item, or for none', async () => {
    const mixed = [{ ciphertext: PLAIN, context: CONTEXT }, { ciphertext: PLAIN }];
    for (const dialect of ['service', 'vault'] as const) {
      operations = await freshOperations(dialect);
      await operations.restore('orders', [goEntry({ key: KEY })]);
      for (const batch_input of [mixed, mixed.toReversed()]) {
        const decrypted = decrypt({ batch_input });
        if (dialect === 'service')
          expect(await decrypted).toMatchObject({ batch_results: [{ plaintext: FOX }, { plaintext: FOX }] });
        else
          expect(await rejectionOf(decrypted)).toMatchObject({
            kind: 'invalid',
            message: 'context should be set either in all the request blocks or in none',
          });
      }
    }
  });

  it('answers each item at its place, and lets one fail alone, with an empty plaintext', async () => {
    await operations.restore('orders', [goEntry({ key: KEY })]);
    const request = {
      name: 'orders',
      ciphertext: 'x',
      context: 'n!t',
      associated_data: 'n!t',
      batch_input: items,
    };
    expect(await operations.outcome('decrypt', request)).toEqual({
      data: {
        batch_results: [
          { plaintext: FOX, reference: 'one' },
          { plaintext: '', error: 'missing ciphertext to decrypt', reference: 'two' },
          { plaintext: '', error: 'cipher: message authentication failed', reference: '' },
        ],
      },
      failedItems: { statusCode: 400 },
    });
  });

  it('answers with the status that the caller wants when some items fail', async () => {
    await operations.restore('orders', [goEntry({ key: KEY })]);
    const request = { name: 'orders', batch_input: items, partial_failure_response_code: 200 };
    expect(await operations.outcome('decrypt', request)).toMatchObject({ failedItems: { statusCode: 200 } });
    const all = { ...request, batch_input: [{}] };
    expect(await operations.outcome('decrypt', all)).toMatchObject({ failedItems: { statusCode: 400 } });
  });
});
