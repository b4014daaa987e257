import { describe, expect, it } from 'vitest';
import { onlyValue } from '../../src/transit/batch.ts';
import { decrypt } from '../../src/transit/decrypt.ts';
import { encrypt } from '../../src/transit/encrypt.ts';
import type { Engine } from '../../src/transit/engine.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { rewrap } from '../../src/transit/rewrap.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, MY_CONTEXT, QUICK_FOX_BASE64, storeKey } from './known-key.ts';

const FOX = 'vault:v1:oKGio6SlpqeoqaqrknAZDTS+a9wJReWhaA2u/hbDIelh227cvtxj0qcEAMk/H8M=';
const OTHER_KEY = Buffer.alloc(32, 7);
const rotated = knownKey('aes256-gcm96', [knownVersion(KEY_32), knownVersion(OTHER_KEY)]);
const UPDATE = { type: 'aes256-gcm96', convergentEncryption: false, mayCreate: false, mayUpdate: true };

async function engineWith(document: NamedKeyDocument): Promise<Engine> {
  const engine = await freshEngine();
  await storeKey(engine, document);
  return engine;
}

describe('rewrapping', () => {
  it('gives the same message under the latest version, and never the plaintext', async () => {
    const engine = await engineWith(rotated);
    const { ciphertext, keyVersion } = onlyValue(await rewrap(engine, 'known', [{ ciphertext: FOX }]));
    expect(keyVersion).toBe(2);
    expect(ciphertext).toMatch(/^service:v2:/);
    expect(onlyValue(await decrypt(engine, 'known', [{ ciphertext }])).toString()).toBe(
      'the quick brown fox',
    );
  });

  it('encrypts afresh though the version is the latest already', async () => {
    const engine = await engineWith(rotated);
    const item = { ciphertext: FOX, keyVersion: 1 };
    const { ciphertext } = onlyValue(await rewrap(engine, 'known', [item]));
    expect(ciphertext).toMatch(/^service:v1:/);
    expect(ciphertext.slice(11)).not.toBe(FOX.slice(9));
  });

  it('keeps associated data', async () => {
    const engine = await engineWith(rotated);
    const item = { plaintext: QUICK_FOX_BASE64, associatedData: 'YWFk' };
    const old = onlyValue(await encrypt(engine, 'known', [item], UPDATE)).ciphertext;
    const wrapped = onlyValue(
      await rewrap(engine, 'known', [{ ciphertext: old, associatedData: 'YWFk' }]),
    ).ciphertext;
    const opened = await decrypt(engine, 'known', [{ ciphertext: wrapped, associatedData: 'YWFk' }]);
    expect(onlyValue(opened).toString()).toBe('the quick brown fox');
    expect(await decrypt(engine, 'known', [{ ciphertext: wrapped }])).toMatchObject([
      { error: { message: 'cipher: message authentication failed' } },
    ]);
  });

  it('carries the nonce of convergent keys of version 1 over', async () => {
    const key = knownKey('aes256-gcm96', [knownVersion(KEY_32), knownVersion(OTHER_KEY)], {
      derived: true,
      convergentEncryption: true,
      convergentVersion: 1,
    });
    const engine = await engineWith(key);
    const beside = { context: MY_CONTEXT, nonce: 'AAECAwQFBgcICQoL' };
    const ciphertext = 'vault:v1:IlMiVYR4YC2hPTufhbgUjaFsUCHuMnej2o/w5oMwwF2LWxM=';
    const again = onlyValue(await rewrap(engine, 'known', [{ ciphertext, ...beside }])).ciphertext;
    const opened = await decrypt(engine, 'known', [{ ciphertext: again, ...beside }]);
    expect(onlyValue(opened).toString()).toBe('the quick brown fox');
  });

  it('needs no nonce for what a newer convergent key wrote, and overlooks one', async () => {
    const versions = [knownVersion(KEY_32, { convergentVersion: 3 })];
    const key = knownKey('aes256-gcm96', versions, {
      derived: true,
      kdf: 1,
      convergentEncryption: true,
      convergentVersion: -1,
    });
    const engine = await engineWith(key);
    const ciphertext = 'vault:v1:Fe9pARQ9J9e6i2jrGaJTydaXAJt0vwHdtUw9TzJ/vzYX8+0tfmR33z9fVXcJLl0=';
    const item = { ciphertext, context: MY_CONTEXT, nonce: 'AAECAwQFBgcICQoL' };
    expect(onlyValue(await rewrap(engine, 'known', [item])).ciphertext).toBe(
      ciphertext.replace('vault', 'service'),
    );
  });

  it('fails an item alone, for reading and for writing', async () => {
    const engine = await engineWith({ ...rotated, minEncryptionVersion: 2 });
    const results = await rewrap(engine, 'known', [
      {},
      { ciphertext: FOX, keyVersion: 1 },
      { ciphertext: 'vault:v9:AAAA' },
      { ciphertext: FOX },
    ]);
    expect(results).toMatchObject([
      { error: { kind: 'invalid', message: 'missing ciphertext to decrypt' } },
      {
        error: {
          kind: 'invalid',
          message: 'requested version for encryption is less than the minimum encryption key version',
        },
      },
      { error: { kind: 'invalid', message: 'invalid ciphertext: version is too new' } },
      { value: { keyVersion: 2 } },
    ]);
  });

  it('refuses a name that no key has', async () => {
    const attempt = rewrap(await freshEngine(), 'nobody', [{ ciphertext: FOX }]);
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
  });
});
