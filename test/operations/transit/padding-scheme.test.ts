import { beforeAll, describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';

let ask: Operations['ask'];
let text: Operations['text'];
beforeAll(async () => {
  ({ ask, text } = await freshOperations());
  await ask('keys create', { name: 'rsa', type: 'rsa-2048' });
  await ask('keys create', { name: 'aes' });
});

const HELLO = 'aGVsbG8=';
const OAEP = { padding_scheme: 'oaep' };
const BOTH = { decrypt_padding_scheme: 'oaep', encrypt_padding_scheme: 'oaep' };
/** What says the same as leaving it out. */
const KNOWN: readonly (string | null)[] = ['oaep', '', null];

const encrypted = (name: string, raw: Raw = {}) =>
  text('encrypt', { name, plaintext: HELLO, ...raw }, 'ciphertext');

describe('the padding of an RSA key', () => {
  it.each(KNOWN)('may be called %j to encrypt and to decrypt', async (padding_scheme) => {
    const ciphertext = await encrypted('rsa', { padding_scheme });
    expect(await ask('decrypt', { name: 'rsa', ciphertext })).toEqual({ plaintext: HELLO });
    const item = { ciphertext, padding_scheme };
    expect(await ask('decrypt', { name: 'rsa', ...item })).toEqual({ plaintext: HELLO });
    expect(await ask('decrypt', { name: 'rsa', batch_input: [item] })).toEqual({
      batch_results: [{ plaintext: HELLO, reference: '' }],
    });
    const batch_input = [{ plaintext: HELLO, padding_scheme }];
    expect(await ask('encrypt', { name: 'rsa', batch_input })).toMatchObject({
      batch_results: [{ ciphertext: expect.any(String), key_version: 1 }],
    });
  });

  it.each(KNOWN)('may be called %j for a data key', async (padding_scheme) => {
    const raw = { name: 'rsa', type: 'plaintext', padding_scheme };
    const { plaintext, ciphertext } = (await ask('datakey', raw)) as Raw;
    expect(await ask('decrypt', { name: 'rsa', ciphertext, ...OAEP })).toEqual({ plaintext });
  });

  it.each(KNOWN)('may be called %j to decrypt and to encrypt in rewrap', async (scheme) => {
    const named = { decrypt_padding_scheme: scheme, encrypt_padding_scheme: scheme };
    const old = await encrypted('rsa');
    const ciphertext = await text('rewrap', { name: 'rsa', ciphertext: old, ...named }, 'ciphertext');
    expect(await ask('decrypt', { name: 'rsa', ciphertext })).toEqual({ plaintext: HELLO });
    const batch_input = [{ ciphertext: old, ...named }];
    expect(await ask('rewrap', { name: 'rsa', batch_input })).toMatchObject({
      batch_results: [{ ciphertext: expect.any(String) }],
    });
  });

  it.each([
    ['encrypt', { plaintext: HELLO }, 'padding_scheme'],
    ['decrypt', { ciphertext: 'service:v1:AAAA' }, 'padding_scheme'],
    ['rewrap', { ciphertext: 'service:v1:AAAA' }, 'decrypt_padding_scheme'],
    ['rewrap', { ciphertext: 'service:v1:AAAA' }, 'encrypt_padding_scheme'],
  ])('is refused when %s of %j names another one in %s', async (operation, raw, member) => {
    const refused = `'[0].${member}' invalid: unsupported padding scheme pkcs1v15`;
    expect(await rejectionOf(ask(operation, { name: 'rsa', ...raw, [member]: 'pkcs1v15' }))).toMatchObject({
      kind: 'unsupported',
      field: member,
      message: refused,
    });
    const batch_input = [{ ...raw, [member]: 'pkcs1v15' }];
    expect(await ask(operation, { name: 'rsa', batch_input })).toMatchObject({
      batch_results: [{ error: refused }],
    });
  });

  it('is refused when a data key is to have another one', async () => {
    const attempt = ask('datakey', { name: 'rsa', type: 'wrapped', padding_scheme: 'pkcs1v15' });
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'unsupported',
      message: 'padding_scheme argument invalid: unsupported padding scheme pkcs1v15',
      hint: 'use oaep, or omit the padding scheme',
    });
  });
});

describe('the padding of a key that does not pad', () => {
  it('is refused, whatever it is called', async () => {
    const unsupported = 'unsupported key type aes256-gcm96 for padding scheme';
    const ciphertext = await encrypted('aes');
    for (const [operation, raw, refused] of [
      ['encrypt', { plaintext: HELLO, ...OAEP }, `'[0].padding_scheme' invalid: ${unsupported}`],
      ['decrypt', { ciphertext, ...OAEP }, `'[0].padding_scheme' invalid: ${unsupported}`],
      ['rewrap', { ciphertext, ...BOTH }, `'[0].decrypt_padding_scheme' invalid: ${unsupported}`],
      ['datakey', { type: 'wrapped', ...OAEP }, `padding_scheme argument invalid: ${unsupported}`],
    ] as const) {
      expect(await rejectionOf(ask(operation, { name: 'aes', ...raw }))).toMatchObject({
        kind: 'unsupported',
        message: refused,
      });
    }
  });

  it('is none, and may be called so', async () => {
    const ciphertext = await encrypted('aes', { padding_scheme: '' });
    expect(await ask('decrypt', { name: 'aes', ciphertext, padding_scheme: null })).toEqual({
      plaintext: HELLO,
    });
  });

  it('does not come into being with a refused item', async () => {
    await rejectionOf(ask('encrypt', { name: 'new', plaintext: HELLO, ...OAEP }));
    expect(await rejectionOf(ask('keys read', { name: 'new' }))).toMatchObject({ kind: 'not-found' });
  });
});
