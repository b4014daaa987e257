import { describe, expect, it, onTestFinished } from 'vitest';
import { onlyValue, valueOrThrow } from '../../src/transit/batch.ts';
import { decrypt } from '../../src/transit/decrypt.ts';
import { encrypt } from '../../src/transit/encrypt.ts';
import { changeSettings } from '../../src/transit/mount-settings.ts';
import { findKey } from '../../src/transit/named-key.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { BY_THE_WAY, encryptOne, engineWith } from './known-engine.ts';
import {
  KEY_16,
  KEY_32,
  knownKey,
  knownVersion,
  MY_CONTEXT,
  QUICK_FOX,
  QUICK_FOX_BASE64,
} from './known-key.ts';

describe('decrypting ciphertexts of another implementation', () => {
  it.each([
    ['with nothing beside', undefined, 'oKGio6SlpqeoqaqrknAZDTS+a9wJReWhaA2u/hbDIelh227cvtxj0qcEAMk/H8M='],
    ['with associated data', 'YWFk', 'oKGio6SlpqeoqaqrknAZDTS+a9wJReWhaA2u/hbDIY0cK471515mxZWNAsZTQ08='],
  ])('works %s', async (_, associatedData, payload) => {
    const engine = await engineWith(knownKey('aes256-gcm96', [knownVersion(KEY_32)]));
    for (const prefix of ['vault', 'service']) {
      const item = { ciphertext: `${prefix}:v1:${payload}`, associatedData };
      expect(onlyValue(await decrypt(engine, 'known', [item])).toString()).toBe(QUICK_FOX.toString());
    }
  });

  it('takes version 0, of data from before there were versions, for version 1', async () => {
    const engine = await engineWith(knownKey('aes256-gcm96', [knownVersion(KEY_32)]));
    const ciphertext = 'vault:v0:oKGio6SlpqeoqaqrknAZDTS+a9wJReWhaA2u/hbDIelh227cvtxj0qcEAMk/H8M=';
    expect(onlyValue(await decrypt(engine, 'known', [{ ciphertext }])).toString()).toBe(QUICK_FOX.toString());
  });
});

describe('encryption', () => {
  it('never gives the same ciphertext twice', async () => {
    const engine = await engineWith(knownKey('aes256-gcm96', [knownVersion(KEY_32)]));
    const item = { plaintext: QUICK_FOX_BASE64 };
    expect(await encryptOne(engine, item)).not.toBe(await encryptOne(engine, item));
  });

  it('uses the latest version, or the one that is asked for', async () => {
    const engine = await engineWith(
      knownKey('aes256-gcm96', [knownVersion(KEY_32), knownVersion(KEY_32), knownVersion(KEY_32)], {
        minEncryptionVersion: 2,
      }),
    );
    const versions = [0, 2, 3].map((keyVersion) => ({ plaintext: '', keyVersion }));
    const results = await encrypt(engine, 'known', versions, BY_THE_WAY);
    expect(results.map((result) => valueOrThrow(result).keyVersion)).toEqual([3, 2, 3]);
    expect(results.map((result) => valueOrThrow(result).ciphertext.slice(0, 9))).toEqual([
      'vault:v3:',
      'vault:v2:',
      'vault:v3:',
    ]);
  });

  it('works through a batch in order, and fails an item alone', async () => {
    const engine = await engineWith(knownKey('aes256-gcm96', [knownVersion(KEY_32)]));
    const results = await encrypt(
      engine,
      'known',
      [
        { plaintext: 'AAAA' },
        { plaintext: '!' },
        {},
        { plaintext: '', keyVersion: 9 },
        { plaintext: 'AAAB' },
      ],
      BY_THE_WAY,
    );
    expect(results.map((result) => ('error' in result ? result.error.message : 'encrypted'))).toEqual([
      'encrypted',
      'illegal base64 data at input byte 0',
      'missing plaintext to encrypt',
      'requested version for encryption is higher than the latest key version',
      'encrypted',
    ]);
  });

  it.each([
    ['an empty batch', [], 'missing batch input to process'],
    [
      'contexts for some items alone',
      [{ plaintext: '', context: 'AAAA' }, { plaintext: '' }],
      'context should be set either in all the request blocks or in none',
    ],
  ])('refuses %s as a whole', async (_, items, message) => {
    const engine = await engineWith(knownKey('aes256-gcm96', [knownVersion(KEY_32)]));
    expect(await rejectionOf(encrypt(engine, 'known', items, BY_THE_WAY))).toMatchObject({
      kind: 'invalid',
      field: 'batch_input',
      message,
    });
  });

  it.each([
    [{ keyVersion: -1 }, 'key_version', 'requested version for encryption is negative'],
    [
      { keyVersion: 4 },
      'key_version',
      'requested version for encryption is higher than the latest key version',
    ],
    [
      { keyVersion: 2 },
      'key_version',
      'requested version for encryption is less than the minimum encryption key version',
    ],
    [{ context: '?' }, 'context', 'illegal base64 data at input byte 0'],
    [{ nonce: 'AAECAwQFBgcICQoL' }, 'nonce', 'provided nonce not allowed for this key'],
    [
      { associatedData: 'foobar' },
      'associated_data',
      'unable to get associated_data/additional_data from factory[0]: illegal base64 data at input byte 4',
    ],
  ])('refuses an item with %j', async (item, field, message) => {
    const engine = await engineWith(
      knownKey('aes256-gcm96', [knownVersion(KEY_32), knownVersion(KEY_32), knownVersion(KEY_32)], {
        minEncryptionVersion: 3,
      }),
    );
    expect(await rejectionOf(encryptOne(engine, { plaintext: 'AAAA', ...item }))).toMatchObject({
      kind: 'invalid',
      field,
      message,
    });
  });

  it('refuses a version below min_decryption_version as one that is not there', async () => {
    const versions = [knownVersion(KEY_32), knownVersion(KEY_32)];
    const engine = await engineWith(knownKey('aes256-gcm96', versions, { minDecryptionVersion: 2 }));
    expect(await rejectionOf(encryptOne(engine, { plaintext: '', keyVersion: 1 }))).toMatchObject({
      kind: 'invalid',
      message: 'no such key version',
    });
  });

  it.each([undefined, '', '\n'])('refuses the context %j for a derived key', async (context) => {
    const engine = await engineWith(
      knownKey('aes256-gcm96', [knownVersion(KEY_32)], { derived: true, kdf: 1 }),
    );
    const item = { plaintext: '', context };
    expect(await rejectionOf(encryptOne(engine, item))).toMatchObject({
      kind: 'invalid',
      field: 'context',
      message:
        "missing 'context' for key derivation; the key was created using a derived key, which means additional, per-request information must be included in order to perform operations with the key",
    });
  });

  it.each([undefined, '', 'AAAA', 'AAECAwQFBgcICQoLDA=='])(
    'refuses the nonce %j for a convergent key of version 1',
    async (nonce) => {
      const document = knownKey('aes256-gcm96', [knownVersion(KEY_32)], {
        derived: true,
        convergentEncryption: true,
        convergentVersion: 1,
      });
      const engine = await engineWith(document);
      const item = { plaintext: '', context: MY_CONTEXT, nonce };
      expect(await rejectionOf(encryptOne(engine, item))).toMatchObject({
        kind: 'invalid',
        field: 'nonce',
        message: 'base64-decoded nonce must be 12 bytes long when using convergent encryption with this key',
      });
    },
  );

  it('refuses a soft-deleted key', async () => {
    const engine = await engineWith(knownKey('aes256-gcm96', [knownVersion(KEY_32)], { softDeleted: true }));
    expect(await rejectionOf(encryptOne(engine, { plaintext: '' }))).toMatchObject({
      kind: 'conflict',
      message: 'refusing to use soft-deleted key',
    });
  });

  it('refuses a derivation function that does not fit the type', async () => {
    const document = knownKey('aes128-gcm96', [knownVersion(KEY_16)], { derived: true, kdf: 0 });
    const engine = await engineWith(document);
    expect(await rejectionOf(encryptOne(engine, { plaintext: '', context: 'AAAA' }))).toMatchObject({
      kind: 'corrupt',
      message: 'could not derive enc key, length not correct',
    });
  });

  it('lets other work have its turn during a large batch', async () => {
    const engine = await engineWith(knownKey('aes256-gcm96', [knownVersion(KEY_32)]));
    const items = Array.from({ length: 3_000 }, () => ({ plaintext: QUICK_FOX_BASE64 }));
    // Each look at the clock finds it a millisecond later, however quick the machine is.
    const { uptime } = process;
    let looks = 0;
    process.uptime = () => looks++ / 1000;
    onTestFinished(() => {
      process.uptime = uptime;
    });
    let turns = 0;
    let isDone = false;
    const other = (): void => {
      turns++;
      if (!isDone) setImmediate(other);
    };
    setImmediate(other);
    await encrypt(engine, 'known', items, BY_THE_WAY);
    isDone = true;
    expect(turns).toBeGreaterThan(2);
  });
});

describe('encryption with a key that does not exist', () => {
  it('creates it, derived exactly when a context is given', async () => {
    const engine = await freshEngine();
    await encrypt(engine, 'plain', [{ plaintext: '' }], BY_THE_WAY);
    await encrypt(engine, 'derived', [{ plaintext: '', context: 'AAAA' }], {
      ...BY_THE_WAY,
      type: 'chacha20-poly1305',
    });
    const convergentToo = { ...BY_THE_WAY, convergentEncryption: true };
    await encrypt(engine, 'convergent', [{ plaintext: '', context: 'AAAA' }], convergentToo);
    const made = async (name: string) => (await findKey(engine, name))?.document;
    expect(await made('plain')).toMatchObject({ type: 'aes256-gcm96', derived: false, exportable: false });
    expect(await made('derived')).toMatchObject({ type: 'chacha20-poly1305', derived: true, kdf: 1 });
    expect(await made('convergent')).toMatchObject({
      derived: true,
      convergentEncryption: true,
      convergentVersion: -1,
      versions: { 1: { convergentVersion: 3 } },
    });
  });

  it('gives a ciphertext that the created key decrypts', async () => {
    const engine = await freshEngine();
    const ciphertext = await encryptOne(engine, { plaintext: QUICK_FOX_BASE64 });
    expect(ciphertext).toMatch(/^service:v1:/);
    expect(onlyValue(await decrypt(engine, 'known', [{ ciphertext }])).toString()).toBe(
      'the quick brown fox',
    );
  });

  it('creates one key when many callers do so at once', async () => {
    const engine = await freshEngine();
    const ciphertexts = await Promise.all(
      Array.from({ length: 8 }, () => encryptOne(engine, { plaintext: QUICK_FOX_BASE64 })),
    );
    const results = await decrypt(
      engine,
      'known',
      ciphertexts.map((ciphertext) => ({ ciphertext })),
    );
    expect(results.map((result) => valueOrThrow(result).toString())).toEqual(
      Array(8).fill(QUICK_FOX.toString()),
    );
  });

  it('creates nothing when no item could be encrypted', async () => {
    const engine = await freshEngine();
    const results = await encrypt(engine, 'known', [{ plaintext: '?' }, {}], BY_THE_WAY);
    expect(results.every((result) => 'error' in result)).toBe(true);
    expect(await findKey(engine, 'known')).toBeUndefined();
  });

  it.each([
    [
      'a caller who may not create',
      { mayCreate: false },
      { kind: 'not-found', message: 'encryption key not found' },
    ],
    ['an unknown type', { type: 'aes512' }, { kind: 'invalid', message: 'unknown key type aes512' }],
    [
      'a type that does not encrypt',
      { type: 'ecdsa-p256' },
      {
        kind: 'unsupported',
        message: 'key type ecdsa-p256 not supported for this operation',
        hint: expect.stringMatching(/; this type cannot encrypt$/),
      },
    ],
    [
      'a type that takes a decision',
      { type: 'rsa-2048' },
      {
        kind: 'unsupported',
        message: 'key type rsa-2048 not supported for this operation',
        hint: expect.stringMatching(/; run "coffer transit keys create NAME --type rsa-2048" first$/),
      },
    ],
  ])('is refused for %s, before the items are looked at', async (_, options, refusal) => {
    const engine = await freshEngine();
    const attempt = encrypt(engine, 'known', [{ plaintext: '?' }], { ...BY_THE_WAY, ...options });
    expect(await rejectionOf(attempt)).toMatchObject(refusal);
    expect(await findKey(engine, 'known')).toBeUndefined();
  });

  it('is refused for convergent encryption without a context, whatever else the item has', async () => {
    const refusal = {
      kind: 'invalid',
      message: 'convergent encryption requires derivation to be enabled, so context is required',
    };
    const options = { ...BY_THE_WAY, convergentEncryption: true };
    const engine = await freshEngine();
    expect(await encrypt(engine, 'known', [{ plaintext: '?' }], options)).toMatchObject([{ error: refusal }]);
    expect(await findKey(engine, 'known')).toBeUndefined();
    const ofFamily = encrypt(await freshEngine('vault'), 'known', [{ plaintext: '?' }], options);
    expect(await rejectionOf(ofFamily)).toMatchObject(refusal);
    const withContext = [{ plaintext: '', context: 'AAAA' }];
    expect(await encrypt(await freshEngine('vault'), 'known', withContext, options)).toMatchObject([
      { value: { keyVersion: 1 } },
    ]);
  });

  it('is refused where that was turned off', async () => {
    const engine = await freshEngine();
    await changeSettings(engine, { disableUpsert: true });
    expect(await rejectionOf(encryptOne(engine, { plaintext: '' }))).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
  });

  it('does not let a caller use a key that appeared, when all it may do is create', async () => {
    const engine = await engineWith(knownKey('aes256-gcm96', [knownVersion(KEY_32)]));
    const attempt = encrypt(engine, 'known', [{ plaintext: '' }], { ...BY_THE_WAY, mayUpdate: false });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'denied', message: 'permission denied' });
  });
});
