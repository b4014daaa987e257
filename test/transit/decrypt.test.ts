import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { onlyValue } from '../../src/transit/batch.ts';
import { type DecryptItem, decrypt } from '../../src/transit/decrypt.ts';
import type { Engine } from '../../src/transit/engine.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { storedKey } from '../../src/transit/key-types/key-pair.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, MY_CONTEXT, storeKey } from './known-key.ts';

const FOX = 'vault:v1:oKGio6SlpqeoqaqrknAZDTS+a9wJReWhaA2u/hbDIelh227cvtxj0qcEAMk/H8M=';
const plain = knownKey('aes256-gcm96', [knownVersion(KEY_32)]);

async function engineWith(document: NamedKeyDocument): Promise<Engine> {
  const engine = await freshEngine();
  await storeKey(engine, document);
  return engine;
}

const decryptOne = async (document: NamedKeyDocument, item: DecryptItem): Promise<Buffer> =>
  onlyValue(await decrypt(await engineWith(document), 'known', [item]));

describe('decryption', () => {
  it.each([
    [undefined, 'missing ciphertext to decrypt'],
    ['', 'missing ciphertext to decrypt'],
    ['AAAA', 'invalid ciphertext: no prefix'],
    ['vault:v1', 'invalid ciphertext: wrong number of fields'],
    ['vault:vv:AAAA', 'invalid ciphertext: version number could not be decoded'],
    ['vault:v2:AAAA', 'invalid ciphertext: version is too new'],
    ['vault:v-1:AAAA', 'ciphertext or signature version is disallowed by policy (too old)'],
    ['vault:v1:AAA', 'invalid ciphertext: could not decode base64'],
    ['vault:v1:AA-_', 'invalid ciphertext: could not decode base64'],
    ['vault:v1:AAAAAAAAAAAAAA==', 'invalid ciphertext length'],
    ['vault:v1:AAAAAAAAAAAAAAAA', 'cipher: message authentication failed'],
    [FOX.replace('H8M=', 'H8I='), 'cipher: message authentication failed'],
  ])('refuses the ciphertext %j', async (ciphertext, message) => {
    const item = ciphertext === undefined ? {} : { ciphertext };
    const isAltered = /authentication failed$|ciphertext length$/.test(message);
    expect(await rejectionOf(decryptOne(plain, item))).toMatchObject({
      kind: isAltered ? 'inauthentic' : 'invalid',
      field: 'ciphertext',
      message,
    });
  });

  it('refuses a payload that lost its end, down to a single byte of the tag', async () => {
    const payload = Buffer.from(FOX.slice(9), 'base64');
    for (let length = 12; length < payload.length; length++) {
      const ciphertext = `vault:v1:${payload.subarray(0, length).toString('base64')}`;
      expect(await rejectionOf(decryptOne(plain, { ciphertext }))).toMatchObject({
        message: 'cipher: message authentication failed',
      });
    }
  });

  it('says for ChaCha20 what its library says', async () => {
    const key = knownKey('chacha20-poly1305', [knownVersion(KEY_32)]);
    expect(await rejectionOf(decryptOne(key, { ciphertext: FOX }))).toMatchObject({
      kind: 'inauthentic',
      message: 'chacha20poly1305: message authentication failed',
    });
  });

  it('refuses versions below the minimum and above the latest', async () => {
    const versions = [knownVersion(KEY_32), knownVersion(KEY_32)];
    const key = knownKey('aes256-gcm96', versions, { minDecryptionVersion: 2 });
    expect(await rejectionOf(decryptOne(key, { ciphertext: FOX }))).toMatchObject({
      kind: 'invalid',
      message: 'ciphertext or signature version is disallowed by policy (too old)',
    });
    const tooNew = { ciphertext: FOX.replace('v1', 'v3') };
    expect(await rejectionOf(decryptOne(key, tooNew))).toMatchObject({
      kind: 'invalid',
      message: 'invalid ciphertext: version is too new',
    });
  });

  it('refuses a context that is missing or not base64', async () => {
    const derived = knownKey('aes256-gcm96', [knownVersion(KEY_32)], { derived: true, kdf: 1 });
    expect(await rejectionOf(decryptOne(derived, { ciphertext: FOX }))).toMatchObject({
      kind: 'invalid',
      field: 'context',
      message: expect.stringMatching(/^missing 'context' for key derivation; /),
    });
    expect(await rejectionOf(decryptOne(derived, { ciphertext: FOX, context: 'A' }))).toMatchObject({
      kind: 'invalid',
      field: 'context',
      message: 'illegal base64 data at input byte 0',
    });
  });

  it('refuses associated data other than those it was made with, and what is not base64', async () => {
    expect(await rejectionOf(decryptOne(plain, { ciphertext: FOX, associatedData: 'YWFk' }))).toMatchObject({
      message: 'cipher: message authentication failed',
    });
    expect(await rejectionOf(decryptOne(plain, { ciphertext: FOX, associatedData: '?' }))).toMatchObject({
      kind: 'invalid',
      field: 'associated_data',
      message:
        'unable to get associated_data/additional_data from factory[0]: illegal base64 data at input byte 0',
    });
  });

  it('ignores the nonce that old clients send for every key', async () => {
    const item = { ciphertext: FOX, nonce: 'AAECAwQFBgcICQoL' };
    expect((await decryptOne(plain, item)).toString()).toBe('the quick brown fox');
  });

  it.each([undefined, 'AAAA'])('refuses the nonce %j for a convergent key of version 1', async (nonce) => {
    const key = knownKey('aes256-gcm96', [knownVersion(KEY_32)], {
      derived: true,
      convergentEncryption: true,
      convergentVersion: 1,
    });
    const item = { ciphertext: FOX, context: MY_CONTEXT, nonce };
    expect(await rejectionOf(decryptOne(key, item))).toMatchObject({
      kind: 'invalid',
      field: 'nonce',
      message: 'invalid convergent nonce supplied',
    });
  });

  it('refuses keys that do not decrypt, and those that are soft-deleted', async () => {
    const signing = knownKey('ed25519', [knownVersion(KEY_32)]);
    expect(await rejectionOf(decryptOne(signing, { ciphertext: FOX }))).toMatchObject({
      kind: 'unsupported',
      message: 'message decryption not supported for key type ed25519',
    });
    expect(await rejectionOf(decryptOne({ ...plain, softDeleted: true }, { ciphertext: FOX }))).toMatchObject(
      { kind: 'conflict', message: 'refusing to use soft-deleted key' },
    );
  });

  it('refuses a name that no key has', async () => {
    const attempt = decrypt(await freshEngine(), 'nobody', [{ ciphertext: FOX }]);
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'not-found',
      field: 'name',
      message: 'encryption key not found',
    });
  });

  it('fails an item alone', async () => {
    const results = await decrypt(await engineWith(plain), 'known', [{}, { ciphertext: FOX }]);
    expect(results).toMatchObject([
      { error: { message: 'missing ciphertext to decrypt' } },
      { value: Buffer.from('the quick brown fox') },
    ]);
  });

  it('refuses associated data for a key that does not authenticate any', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const rsa = knownKey('rsa-2048', [{ ...knownVersion(KEY_32), ...storedKey(privateKey) }]);
    const item = { ciphertext: 'service:v1:AAAA', associatedData: 'YWFk' };
    expect(await rejectionOf(decryptOne(rsa, item))).toMatchObject({
      kind: 'unsupported',
      field: 'associated_data',
      message: "'[0].associated_data' provided for non-AEAD cipher suite rsa-2048",
    });
  });
});
