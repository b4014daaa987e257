import { constants, createCipheriv, createPrivateKey, generateKeyPairSync, publicEncrypt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Runner } from '../../../src/operations/declaration/operation.ts';
import { encrypt } from '../../../src/transit/encrypt.ts';
import type { Engine } from '../../../src/transit/engine.ts';
import { exportKey } from '../../../src/transit/export.ts';
import { requireKey } from '../../../src/transit/named-key.ts';
import { goBackup, goDocument, goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { declarationOf, freshOperations, type Operations, type Raw } from './operations.ts';

let engine: Engine;
let ask: Operations['ask'];
let outcome: Operations['outcome'];
beforeAll(async () => {
  ({ engine, ask, outcome } = await freshOperations());
});

const key = Buffer.alloc(32, 1).toString('base64');
const backup = goBackup(goDocument([goEntry({ key })]));

describe('backup and restore', () => {
  it('answer a text for a backup, and nothing for a restore', async () => {
    expect(await ask('restore', { backup, name: 'restored' })).toBeUndefined();
    expect(await ask('backup', { name: 'restored' })).toEqual({
      backup: expect.stringMatching(/^eyJwb2xpY3kiOnsi/),
    });
  });

  it('warn of a version that the backup had lost', async () => {
    const entry = goEntry({ key });
    const { policy } = goDocument([entry, entry], { min_decryption_version: 2 });
    const lossy = goBackup({ policy, archived_keys: null });
    expect(await outcome('restore', { backup: lossy, name: 'lossy' })).toEqual({
      warnings: ['key "lossy" lacks version 1, which was not in its backup'],
    });
    expect(await outcome('restore', { backup, name: 'whole' })).toEqual({ warnings: [] });
  });

  it('take an empty name for none, as a path without its last part gives it', async () => {
    await ask('restore', { backup, name: '' });
    expect((await requireKey(engine, 'orders', 'key not found')).document.latestVersion).toBe(1);
  });

  it('replace a key only when force says so, in any spelling of true', async () => {
    expect(await rejectionOf(ask('restore', { backup, force: false }))).toMatchObject({ kind: 'exists' });
    await ask('restore', { backup, force: 'true' });
  });

  it.each([{}, { backup: '' }, { backup: null }])('refuse a request that has no backup: %j', async (raw) => {
    expect(await rejectionOf(ask('restore', raw))).toMatchObject({ message: "'backup' must be supplied" });
  });
});

/** Wraps as a client does. */
async function wrapped(target: Uint8Array): Promise<string> {
  const { public_key: publicKey } = (await ask('wrapping-key')) as { public_key: string };
  const ephemeral = Buffer.alloc(32, 3);
  const cipher = createCipheriv('id-aes256-wrap-pad', ephemeral, Buffer.from('a65959a6', 'hex'));
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  const block = publicEncrypt({ key: publicKey, padding, oaepHash: 'sha1' }, ephemeral);
  return Buffer.concat([block, cipher.update(target), cipher.final()]).toString('base64');
}

describe('import', () => {
  it('hands every setting on', async () => {
    const ciphertext = await wrapped(Buffer.alloc(32, 2));
    await ask('import', {
      name: 'configured',
      type: 'CHACHA20-POLY1305',
      ciphertext,
      hash_function: 'sha1',
      allow_rotation: true,
      derived: true,
      exportable: true,
      allow_plaintext_backup: true,
      auto_rotate_period: '90m',
    });
    expect((await requireKey(engine, 'configured', 'key not found')).document).toMatchObject({
      type: 'chacha20-poly1305',
      imported: true,
      allowImportedKeyRotation: true,
      derived: true,
      exportable: true,
      allowPlaintextBackup: true,
      autoRotatePeriodSeconds: 5400,
    });
  });

  it.each([true, false, null])(
    'refuses convergent_encryption when it is there at all (%j)',
    async (convergent) => {
      const attempt = ask('import', { name: 'convergent', convergent_encryption: convergent });
      expect(await rejectionOf(attempt)).toMatchObject({
        kind: 'invalid',
        message: 'import cannot be used on keys with convergent encryption enabled',
      });
    },
  );

  it('adds versions, and completes those that lack their private half', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    await ask('import', { name: 'grown', type: 'ed25519', public_key: pem });
    const ciphertext = await wrapped(privateKey.export({ format: 'der', type: 'pkcs8' }));
    await ask('import-version', { name: 'grown', public_key: pem });
    await ask('import-version', { name: 'grown', ciphertext, hash_function: 'SHA1', version: 1 });
    const grown = await requireKey(engine, 'grown', 'key not found');
    expect([grown.version(1)?.hasSecret, grown.version(2)?.hasSecret]).toEqual([true, false]);
  });

  it('adds no version to a convergent key, imported as it may say that it was', async () => {
    const entry = goEntry({ key, convergent_version: 3 });
    const convergent = { derived: true, kdf: 1, convergent_encryption: true, convergent_version: -1 };
    const restored = goBackup(goDocument([entry], { ...convergent, Imported: true }));
    await ask('restore', { backup: restored, name: 'convergent' });
    const ciphertext = await wrapped(Buffer.alloc(32, 3));
    const attempt = ask('import-version', { name: 'convergent', ciphertext, hash_function: 'SHA1' });
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'conflict',
      message: 'import_version cannot be used on keys with convergent encryption enabled',
    });
    expect((await requireKey(engine, 'convergent', 'key not found')).document.latestVersion).toBe(1);
  });

  it('of a public RSA key alone is enough to encrypt with, and nothing to decrypt with', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    await ask('import', { name: 'half', type: 'rsa-2048', public_key: pem });
    const { ciphertext } = (await ask('encrypt', { name: 'half', plaintext: '' })) as { ciphertext: string };
    expect(await rejectionOf(ask('decrypt', { name: 'half', ciphertext }))).toMatchObject({
      kind: 'unsupported',
      message: 'cannot decrypt ciphertext, key version does not have a private counterpart',
    });
  });

  it('gives on what byok-export wrapped', async () => {
    const { public_key: publicKey } = (await ask('wrapping-key')) as { public_key: string };
    await ask('import', { name: 'here', type: 'rsa-4096', public_key: publicKey });
    const request = { destination: 'here', source: 'configured', version: 'latest', hash: 'SHA512' };
    const data = await ask('byok-export', request);
    expect(data).toEqual({ name: 'configured', type: 'chacha20-poly1305', keys: { 1: expect.any(String) } });
    const { keys } = data as { keys: Record<string, string> };
    await ask('import', { name: 'copied', ciphertext: keys['1'], hash_function: 'SHA512', exportable: true });
    const { printed } = await exportKey(engine, 'copied', {
      kind: 'encryption-key',
      version: '',
      format: '',
    });
    expect(printed).toEqual({ 1: Buffer.alloc(32, 2).toString('base64') });
  });
});

describe('import on a command line', () => {
  const runner: Runner = {
    run: async (words) => ({ data: await ask(String(words).replace('transit ', '')) }),
    at: () => Promise.reject(new Error('not asked for')),
    close: () => undefined,
  };
  const resolved = async (raw: Raw): Promise<Raw> =>
    (await (await declarationOf('import')).cli?.resolve?.(raw, runner)) ?? raw;
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  it('wraps a private key in PEM, and nothing of it is sent as it is', async () => {
    const pem = pair.privateKey.export({ format: 'pem', type: 'sec1' }).toString();
    const raw = await resolved({ name: 'wrapped', type: 'ecdsa-p256', exportable: true, ciphertext: pem });
    expect(Object.keys(raw)).toEqual(['name', 'type', 'exportable', 'ciphertext']);
    expect(Buffer.from(String(raw['ciphertext']), 'base64').length).toBeGreaterThan(512);
    await ask('import', raw);
    const { printed } = await exportKey(engine, 'wrapped', {
      kind: 'signing-key',
      version: '',
      format: 'pem',
    });
    expect(createPrivateKey(printed['1'] ?? '').equals(pair.privateKey)).toBe(true);
  });

  it('wraps a private key in base64 of PKCS #8 that is longer than what wraps keys', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const der = privateKey.export({ format: 'der', type: 'pkcs8' });
    expect(der.length).toBeGreaterThan(512);
    const raw = await resolved({ name: 'long', type: 'rsa-2048', ciphertext: der.toString('base64') });
    await ask('import', { ...raw, exportable: true });
    const asked = { kind: 'signing-key', version: '', format: 'pem' } as const;
    const { printed } = await exportKey(engine, 'long', asked);
    expect(createPrivateKey(printed['1'] ?? '').equals(privateKey)).toBe(true);
  });

  it('wraps a symmetric key in base64 with the hash that was asked for', async () => {
    const raw = await resolved({ name: 'symmetric', ciphertext: `${key}\n`, hash_function: 'sha384' });
    await ask('import', raw);
    expect((await requireKey(engine, 'symmetric', 'key not found')).document.versions['1']?.secret).toBe(key);
  });

  it('puts a public key where it belongs', async () => {
    const pem = pair.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect(await resolved({ name: 'public', ciphertext: pem })).toEqual({ name: 'public', public_key: pem });
  });

  const publicPem = pair.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const secretPem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

  it.each([
    ['behind', `${publicPem}${secretPem}`],
    ['before', `${secretPem}${publicPem}`],
  ])('wraps a private key %s its public key, which is not sent beside it', async (place, ciphertext) => {
    const raw = await resolved({ name: `pair-${place}`, type: 'ecdsa-p256', ciphertext });
    expect(Object.keys(raw)).toEqual(['name', 'type', 'ciphertext']);
    await ask('import', raw);
    expect((await requireKey(engine, `pair-${place}`, 'key not found')).version(1)?.hasSecret).toBe(true);
  });

  it('refuses a private key with the public key of another, without a guess which of them is meant', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const other = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect(await rejectionOf(resolved({ ciphertext: `${other}${secretPem}` }))).toMatchObject({
      kind: 'invalid',
      message: 'the input has a private key, and the public key of another',
    });
  });

  it.each([
    ['a recipient of age before its identity', 'age1qqqq\nAGE-SECRET-KEY-1QQQ'],
    ['a line of OpenSSH before a private key', `ssh-ed25519 AAAA ada\n${secretPem}`],
    ['a public key before one of OpenPGP', `${publicPem}-----BEGIN PGP PRIVATE KEY BLOCK-----\nAAAA\n`],
    ['a public key before one of PuTTY', `${publicPem}PuTTY-User-Key-File-3: ssh-ed25519\n`],
  ])('never sends what contains a private key as a public one: %s', async (_, text) => {
    const sent = await resolved({ ciphertext: text }).catch(() => ({}));
    expect(sent).not.toHaveProperty('public_key');
    expect(JSON.stringify(sent)).not.toMatch(/PRIVATE|SECRET|PuTTY/);
  });

  it.each([
    ['PEM', `${publicPem}${secretPem}`],
    ['an identity of age', 'age1qqqq\nage-secret-key-1qqq'],
    ['a JSON Web Key', '{"kty": "OKP", "d": "c2VjcmV0"}'],
  ])('refuses a private key that is given as the public one, without an echo of it: %s', async (_, text) => {
    const error = await rejectionOf(resolved({ public_key: text }));
    expect(error).toMatchObject({
      kind: 'invalid',
      field: 'public_key',
      message: 'public_key contains a private key',
      hint: 'use only the public key',
    });
    expect(JSON.stringify(error)).not.toMatch(/BEGIN|1qqq|c2VjcmV0/);
  });

  it.each([
    ['no key', {}],
    ['an empty text', { ciphertext: '' }],
    ['what is wrapped already', { ciphertext: Buffer.alloc(552).toString('base64') }],
  ])('sends %s as it was given', async (_, raw) => {
    expect(await resolved(raw)).toBe(raw);
  });

  it('puts the recipient of age where a public key belongs', async () => {
    for (const ciphertext of ['age1qqqq', ' AGE1QQQQ\n']) {
      expect(await resolved({ name: 'public', ciphertext })).toEqual({
        name: 'public',
        public_key: ciphertext,
      });
    }
  });

  it('takes bytes up to the length of a wrapped key for a key, and for nothing if there are none', async () => {
    const sent = async (bytes: number) => {
      const ciphertext = Buffer.alloc(bytes, 1).toString('base64');
      return (await resolved({ ciphertext }))['ciphertext'] === ciphertext;
    };
    expect([await sent(512), await sent(513)]).toEqual([false, true]);
    const blank = { ciphertext: ' \n' };
    expect(await resolved(blank)).toBe(blank);
  });

  it.each(['AGE-SECRET-KEY-1QQQ\nAGE-SECRET-KEY-1QQQ', 'a\nAGE-SECRET-KEY-1QQQ'])(
    'refuses an identity of age that is not alone: %j',
    async (ciphertext) => {
      const error = await rejectionOf(resolved({ ciphertext }));
      expect(error).toMatchObject({ kind: 'invalid', message: 'not an importable age identity' });
      expect(String(error)).not.toContain('1QQQ');
    },
  );

  it.each([undefined, {}, { public_key: 7 }, 'a key'])(
    'wraps nothing with an answer that has no key: %j',
    async (data) => {
      const foreign = { ...runner, run: async () => ({ data }) };
      const { cli } = await declarationOf('import');
      const asked = Promise.resolve(cli?.resolve?.({ name: 'x', ciphertext: key }, foreign));
      expect(await rejectionOf(asked)).toMatchObject({
        kind: 'unavailable',
        message: 'unexpected response of the server: it has no wrapping key',
      });
    },
  );

  it('refuses several private keys instead of taking the first', async () => {
    const pem = pair.privateKey.export({ format: 'pem', type: 'sec1' }).toString();
    const other = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
    expect(await rejectionOf(resolved({ ciphertext: `${pem}${other}` }))).toMatchObject({
      kind: 'invalid',
      message: 'the input has several private keys',
    });
  });

  it('refuses a private key that it cannot read, without an echo of it', async () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n';
    const error = await rejectionOf(resolved({ ciphertext: pem }));
    expect(error).toMatchObject({
      kind: 'invalid',
      message: 'the private key cannot be read',
      // The user gave a key, and no "ciphertext".
      field: undefined,
    });
    expect(JSON.stringify(error)).not.toContain('c2VjcmV0');
  });
});

describe('the defaults for keys', () => {
  it('let encryption create keys until told otherwise; leaving the word out says so again', async () => {
    expect(await ask('read-key-defaults')).toEqual({ disable_upsert: false });
    expect(await ask('key-defaults', { disable_upsert: true })).toEqual({ disable_upsert: true });
    expect(await ask('read-key-defaults')).toEqual({ disable_upsert: true });
    const options = { type: 'aes256-gcm96', convergentEncryption: false, mayCreate: true, mayUpdate: true };
    expect(await rejectionOf(encrypt(engine, 'unheard-of', [{ plaintext: '' }], options))).toMatchObject({
      message: 'encryption key not found',
    });
    expect(await ask('key-defaults')).toEqual({ disable_upsert: false });
    await encrypt(engine, 'unheard-of', [{ plaintext: '' }], options);
  });
});
