import { constants, createPrivateKey, privateDecrypt, publicEncrypt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { hashNamed, hashNames } from '../../../src/transit/hashing.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';

let ask: Operations['ask'];
let text: Operations['text'];
let key: ReturnType<typeof createPrivateKey>;
beforeAll(async () => {
  ({ ask, text } = await freshOperations());
  await ask('keys create', { name: 'rsa', type: 'rsa-2048', exportable: true });
  await ask('keys create', { name: 'aes' });
  const { keys } = (await ask('keys export', { key_type: 'encryption-key', name: 'rsa' })) as {
    keys: Record<string, string>;
  };
  key = createPrivateKey(keys['1'] ?? '');
});

const HELLO = 'aGVsbG8=';
/** As another implementation has it: label and mask by the same hash. */
const padding = (name: string) => ({
  key,
  padding: constants.RSA_PKCS1_OAEP_PADDING,
  oaepHash: hashNamed(name)?.nodeName ?? '',
});
const opened = (ciphertext: string, name: string): string =>
  privateDecrypt(padding(name), Buffer.from(ciphertext.split(':')[2] ?? '', 'base64')).toString('base64');
const rsa = (operation: string, raw: Raw, member: string) => text(operation, { name: 'rsa', ...raw }, member);

describe('the hash of the padding of RSA', () => {
  it.each(hashNames())('may be %s', async (hash_algorithm) => {
    const ciphertext = await rsa('encrypt', { plaintext: HELLO, hash_algorithm }, 'ciphertext');
    expect(opened(ciphertext, hash_algorithm)).toBe(HELLO);
    const theirs = publicEncrypt(padding(hash_algorithm), Buffer.from('hello')).toString('base64');
    const item = { ciphertext: `service:v1:${theirs}`, hash_algorithm };
    expect(await ask('decrypt', { name: 'rsa', ...item })).toEqual({ plaintext: HELLO });
    expect(await ask('decrypt', { name: 'rsa', batch_input: [item, { ciphertext }] })).toMatchObject({
      batch_results: [
        { plaintext: HELLO },
        hash_algorithm === 'sha2-256' ? { plaintext: HELLO } : { error: expect.any(String) },
      ],
    });
    const batch_input = [{ plaintext: HELLO, hash_algorithm }];
    const { batch_results } = (await ask('encrypt', { name: 'rsa', batch_input })) as {
      batch_results: [{ ciphertext: string }];
    };
    expect(opened(batch_results[0].ciphertext, hash_algorithm)).toBe(HELLO);
  });

  it.each(['', null, undefined])('is SHA-256 where it is %j', async (hash_algorithm) => {
    const ciphertext = await rsa('encrypt', { plaintext: HELLO, hash_algorithm }, 'ciphertext');
    expect(opened(ciphertext, 'sha2-256')).toBe(HELLO);
  });

  it('is that of a data key, too', async () => {
    const raw = { type: 'plaintext', hash_algorithm: 'sha2-512' };
    const { plaintext, ciphertext } = (await ask('datakey', { name: 'rsa', ...raw })) as Record<
      string,
      string
    >;
    expect(opened(ciphertext ?? '', 'sha2-512')).toBe(plaintext);
  });

  it('may be another one after rewrap', async () => {
    const old = await rsa('encrypt', { plaintext: HELLO, hash_algorithm: 'sha1' }, 'ciphertext');
    const to = async (raw: Raw) => rsa('rewrap', { ciphertext: old, ...raw }, 'ciphertext');
    expect(opened(await to({ decrypt_hash_algorithm: 'sha1' }), 'sha2-256')).toBe(HELLO);
    const both = { decrypt_hash_algorithm: 'sha1', encrypt_hash_algorithm: 'sha3-256' };
    expect(opened(await to(both), 'sha3-256')).toBe(HELLO);
    expect(opened(await to({ hash_algorithm: 'sha1' }), 'sha1')).toBe(HELLO);
    expect(await rejectionOf(to({}))).toMatchObject({ kind: 'inauthentic' });
  });

  it.each([
    ['rsa', 'encrypt', { plaintext: HELLO }, 'hash_algorithm', 'md5', 'invalid'],
    ['rsa', 'decrypt', { ciphertext: 'service:v1:AAAA' }, 'hash_algorithm', 'none', 'invalid'],
    ['rsa', 'rewrap', { ciphertext: 'service:v1:AAAA' }, 'encrypt_hash_algorithm', 'x', 'invalid'],
    ['rsa', 'datakey', { type: 'wrapped' }, 'hash_algorithm', 'SHA1', 'invalid'],
    ['aes', 'encrypt', { plaintext: HELLO }, 'hash_algorithm', 'sha2-512', 'unsupported'],
    ['aes', 'decrypt', { ciphertext: 'service:v1:AAAA' }, 'hash_algorithm', 'sha2-512', 'unsupported'],
    ['aes', 'datakey', { type: 'wrapped' }, 'hash_algorithm', 'sha2-512', 'unsupported'],
  ])('is for %s refused by %s of %j where %s is %s', async (name, operation, raw, member, hash, kind) => {
    const attempt = ask(operation, { name, ...raw, [member]: hash });
    expect(await rejectionOf(attempt)).toMatchObject({ kind, field: member });
  });
});
