import { describe, expect, it } from 'vitest';
import { configureKey } from '../../src/transit/configuration.ts';
import { createKey, deleteKey, listKeys, type NewKey, setSoftDeleted } from '../../src/transit/lifecycle.ts';
import { findKey } from '../../src/transit/named-key.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { FIXED_TIME_MS, freshEngine } from './fresh-engine.ts';

const PLAIN: NewKey = {
  type: 'aes256-gcm96',
  derived: false,
  convergentEncryption: false,
  exportable: false,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
  keyBytes: 0,
};

describe('creating a key', () => {
  it('starts at version 1, with the settings given', async () => {
    const engine = await freshEngine();
    const { key } = await createKey(engine, 'orders', {
      ...PLAIN,
      exportable: true,
      autoRotatePeriodSeconds: 7200,
    });
    expect(key.document).toEqual({
      name: 'orders',
      type: 'aes256-gcm96',
      keyBytes: 0,
      derived: false,
      kdf: 0,
      convergentEncryption: false,
      convergentVersion: 0,
      exportable: true,
      allowPlaintextBackup: false,
      deletionAllowed: false,
      softDeleted: false,
      minDecryptionVersion: 1,
      minEncryptionVersion: 0,
      minAvailableVersion: 0,
      latestVersion: 1,
      autoRotatePeriodSeconds: 7200,
      imported: false,
      allowImportedKeyRotation: false,
      versionTemplate: '',
      versions: {
        1: {
          secret: expect.stringMatching(/^[\w+/]{43}=$/),
          hmacKey: expect.stringMatching(/^[\w+/]{43}=$/),
          createdAt: '2026-03-01T08:00:00.5Z',
          createdAtSeconds: Math.floor(FIXED_TIME_MS / 1000),
          convergentVersion: 0,
        },
      },
    });
    expect((await findKey(engine, 'orders'))?.document).toEqual(key.document);
  });

  it('gives every version an HMAC key that is not the key itself', async () => {
    const { document } = (await createKey(await freshEngine(), 'orders', PLAIN)).key;
    expect(document.versions['1']?.hmacKey).not.toBe(document.versions['1']?.secret);
  });

  it('lets a key that only makes HMACs use itself', async () => {
    const settings = { ...PLAIN, type: 'hmac', keyBytes: 64 };
    const { document } = (await createKey(await freshEngine(), 'orders', settings)).key;
    expect(document.versions['1']?.hmacKey).toBe(document.versions['1']?.secret);
    expect(Buffer.from(document.versions['1']?.secret ?? '', 'base64')).toHaveLength(64);
  });

  it('records how a derived, and how a convergent key derives', async () => {
    const engine = await freshEngine();
    const derived = await createKey(engine, 'a', { ...PLAIN, derived: true });
    expect(derived.key.document).toMatchObject({ kdf: 1, convergentVersion: 0 });
    const convergent = await createKey(engine, 'b', { ...PLAIN, derived: true, convergentEncryption: true });
    expect(convergent.key.document).toMatchObject({
      kdf: 1,
      convergentVersion: -1,
      versions: { 1: { convergentVersion: 3 } },
    });
  });

  it('leaves a key that exists as it is', async () => {
    const engine = await freshEngine();
    const first = await createKey(engine, 'orders', PLAIN);
    const again = await createKey(engine, 'orders', { ...PLAIN, exportable: true });
    expect(again.key.document).toEqual(first.key.document);
    expect([first.existed, again.existed]).toEqual([false, true]);
  });

  it('makes one key when many ask at once', async () => {
    const engine = await freshEngine();
    const keys = await Promise.all(Array.from({ length: 8 }, () => createKey(engine, 'orders', PLAIN)));
    expect(new Set(keys.map(({ key }) => key.document.versions['1']?.secret)).size).toBe(1);
    expect(keys.filter(({ existed }) => !existed)).toHaveLength(1);
  });

  it.each([
    [
      { autoRotatePeriodSeconds: 60, convergentEncryption: true },
      'invalid',
      'auto_rotate_period',
      'auto rotate period must be 0 to disable or at least an hour',
    ],
    [
      { convergentEncryption: true, type: 'x' },
      'invalid',
      'convergent_encryption',
      'convergent encryption requires derivation to be enabled',
    ],
    [{ type: 'x', keyBytes: 1 }, 'invalid', 'type', 'unknown key type x'],
    [{ type: 'AES256-GCM96' }, 'invalid', 'type', 'unknown key type AES256-GCM96'],
    [{ keyBytes: 32 }, 'invalid', 'key_size', 'key_size is not valid for algorithm aes256-gcm96'],
    [{ type: 'hmac', keyBytes: 31 }, 'invalid', 'key_size', 'invalid key_size 31'],
    [{ type: 'hmac', keyBytes: 513 }, 'invalid', 'key_size', 'invalid key_size 513'],
    [
      { type: 'hmac' },
      'invalid',
      'key_size',
      'invalid key size for HMAC key, must be between 32 and 512 bytes',
    ],
    [
      { type: 'ecdsa-p256', derived: true },
      'unsupported',
      'derived',
      'key derivation and convergent encryption not supported for keys of type ecdsa-p256',
    ],
    [
      { type: 'rsa-2048', derived: true, convergentEncryption: true },
      'unsupported',
      'derived',
      'key derivation and convergent encryption not supported for keys of type rsa-2048',
    ],
    [
      { type: 'ed25519', derived: true, convergentEncryption: true },
      'unsupported',
      'convergent_encryption',
      'convergent encryption not supported for keys of type ed25519',
    ],
  ])('refuses the settings %j', async (change, kind, field, message) => {
    const engine = await freshEngine();
    expect(await rejectionOf(createKey(engine, 'orders', { ...PLAIN, ...change }))).toMatchObject({
      kind,
      field,
      message,
      hint: expect.any(String),
    });
    expect(await listKeys(engine, {})).toEqual([]);
  });
});

it.each([32, 512])('a key that only makes HMACs may have %i bytes', async (keyBytes) => {
  const engine = await freshEngine();
  const { key } = await createKey(engine, 'mac', { ...PLAIN, type: 'hmac', keyBytes });
  expect(Buffer.from(key.document.versions['1']?.secret ?? '', 'base64')).toHaveLength(keyBytes);
});

describe('the name of a key', () => {
  it('has at most 512 characters', async () => {
    const engine = await freshEngine();
    await createKey(engine, 'k'.repeat(512), PLAIN);
    expect(await rejectionOf(createKey(engine, 'k'.repeat(513), PLAIN))).toMatchObject({
      kind: 'invalid',
      field: 'name',
      message: 'key names must have at most 512 characters, not 513',
    });
  });
});

describe('listing keys', () => {
  it('gives names in order, page by page', async () => {
    const engine = await freshEngine();
    for (const name of ['b', 'a', 'B', 'c']) await createKey(engine, name, PLAIN);
    expect(await listKeys(engine, {})).toEqual(['B', 'a', 'b', 'c']);
    expect(await listKeys(engine, { after: 'a', limit: 1 })).toEqual(['b']);
    expect(await listKeys(engine, { after: 'aa' })).toEqual(['b', 'c']);
  });
});

describe('deleting a key', () => {
  it('is refused until it was allowed', async () => {
    const engine = await freshEngine();
    await createKey(engine, 'orders', PLAIN);
    expect(await rejectionOf(deleteKey(engine, 'orders'))).toMatchObject({
      kind: 'conflict',
      message: 'error deleting policy orders: deletion is not allowed for this key',
    });
    await configureKey(engine, 'orders', { deletionAllowed: true });
    await deleteKey(engine, 'orders');
    expect(await listKeys(engine, {})).toEqual([]);
  });

  it('is refused for a name that no key has', async () => {
    expect(await rejectionOf(deleteKey(await freshEngine(), 'orders'))).toMatchObject({
      kind: 'not-found',
      message: 'error deleting policy orders: could not delete key; not found',
    });
  });
});

describe('soft-deleting a key', () => {
  it('can be undone, and says whether it changed anything', async () => {
    const engine = await freshEngine();
    const { document } = (await createKey(engine, 'orders', PLAIN)).key;
    const steps = [];
    for (const softDeleted of [true, true, false, false]) {
      steps.push((await setSoftDeleted(engine, 'orders', softDeleted))?.changed);
    }
    expect(steps).toEqual([true, false, true, false]);
    const before = await engine.store.revision();
    await setSoftDeleted(engine, 'orders', false);
    expect(await engine.store.revision()).toBe(before);
    expect(await setSoftDeleted(engine, 'missing', true)).toBeUndefined();
    expect((await findKey(engine, 'orders'))?.document).toEqual(document);
  });
});
