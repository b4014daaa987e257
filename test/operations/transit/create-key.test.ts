import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, NOW_MS } from './operations.ts';

describe('keys create', () => {
  it('answers the key that the name now has, with every setting at its default', async () => {
    const { ask } = await freshOperations();
    expect(await ask('keys create', { name: 'orders' })).toEqual({
      name: 'orders',
      type: 'aes256-gcm96',
      derived: false,
      deletion_allowed: false,
      min_available_version: 0,
      min_decryption_version: 1,
      min_encryption_version: 0,
      latest_version: 1,
      exportable: false,
      allow_plaintext_backup: false,
      supports_encryption: true,
      supports_decryption: true,
      supports_signing: false,
      supports_derivation: true,
      auto_rotate_period: 0,
      imported_key: false,
      soft_deleted: false,
      keys: { 1: NOW_MS / 1000 },
    });
  });

  it.each([
    ['aes128-gcm96', [true, true, false, true]],
    ['aes256-gcm96', [true, true, false, true]],
    ['chacha20-poly1305', [true, true, false, true]],
    ['xchacha20-poly1305', [true, true, false, true]],
    ['ed25519', [false, false, true, true]],
    ['ecdsa-p256', [false, false, true, false]],
    ['ecdsa-p384', [false, false, true, false]],
    ['ecdsa-p521', [false, false, true, false]],
    ['ecdsa-secp256k1', [false, false, true, false]],
    ['rsa-2048', [true, true, true, false]],
    ['ml-dsa-44', [false, false, true, false]],
    ['slh-dsa-sha2-128s', [false, false, true, false]],
  ])('makes a key of the type %s, and says what it can do', async (type, abilities) => {
    const { ask } = await freshOperations();
    const [supports_encryption, supports_decryption, supports_signing, supports_derivation] = abilities;
    expect(await ask('keys create', { name: 'typed', type })).toMatchObject({
      type,
      supports_encryption,
      supports_decryption,
      supports_signing,
      supports_derivation,
    });
  });

  it.each([
    ['ed25519', 'ed25519', /^[A-Za-z0-9+/]{43}=$/],
    ['ecdsa-p256', 'P-256', /^-----BEGIN PUBLIC KEY-----\n[\s\S]+\n-----END PUBLIC KEY-----\n$/],
    ['rsa-2048', 'rsa-2048', /^-----BEGIN PUBLIC KEY-----\n[\s\S]+\n-----END PUBLIC KEY-----\n$/],
  ])('shows the public key of each version of %s', async (type, label, form) => {
    const { ask } = await freshOperations();
    expect(await ask('keys create', { name: 'signing', type })).toMatchObject({
      keys: {
        1: {
          name: label,
          public_key: expect.stringMatching(form),
          certificate_chain: '',
          creation_time: '2026-03-01T08:00:00Z',
        },
      },
    });
  });

  it('makes a key that derives one for each context', async () => {
    const { ask } = await freshOperations();
    const data = await ask('keys create', { name: 'contexts', derived: true });
    expect(data).toMatchObject({ derived: true, kdf: 'hkdf_sha256', convergent_encryption: false });
    expect(data).not.toHaveProperty('convergent_encryption_version');
    expect(await rejectionOf(ask('encrypt', { name: 'contexts', plaintext: '' }))).toMatchObject({
      kind: 'invalid',
      field: 'context',
    });
  });

  it('makes a convergent key, which encrypts the same plaintext to the same ciphertext', async () => {
    const { ask } = await freshOperations();
    const settings = { name: 'equal', derived: true, convergent_encryption: 'true' };
    expect(await ask('keys create', settings)).toMatchObject({
      convergent_encryption: true,
      convergent_encryption_version: -1,
    });
    const message = { name: 'equal', plaintext: 'YQ==', context: 'Yg==' };
    expect(await ask('encrypt', message)).toEqual(await ask('encrypt', message));
  });

  it('makes a key that may be exported, and one that may be backed up', async () => {
    const { ask } = await freshOperations();
    const name = 'open';
    expect(await ask('keys create', { name, exportable: true, allow_plaintext_backup: true })).toMatchObject({
      exportable: true,
      allow_plaintext_backup: true,
    });
    await ask('keys export', { name, key_type: 'encryption-key' });
    await ask('backup', { name });
  });

  it.each([
    [7200, 7200],
    ['7200', 7200],
    ['1h30m', 5400],
    ['7d', 604_800],
  ])('takes the period %j of rotation, and shows it in seconds', async (period, seconds) => {
    const { ask } = await freshOperations();
    expect(await ask('keys create', { name: 'periodic', auto_rotate_period: period })).toMatchObject({
      auto_rotate_period: seconds,
    });
  });

  it('makes an HMAC key of the length that is asked for, and tells when its versions were made', async () => {
    const { ask } = await freshOperations();
    const data = await ask('keys create', { name: 'mac', type: 'hmac', key_size: 48, exportable: true });
    expect(data).toMatchObject({ type: 'hmac', key_size: 48, keys: { 1: NOW_MS / 1000 } });
    const { keys } = (await ask('keys export', { name: 'mac', key_type: 'hmac-key' })) as {
      keys: Record<string, string>;
    };
    expect(Buffer.from(keys['1'] ?? '', 'base64')).toHaveLength(48);
  });

  it('takes a context, and makes the same key as without one', async () => {
    const { ask } = await freshOperations();
    const data = await ask('keys create', { name: 'k', derived: true, context: 'YQ==' });
    expect(data).toMatchObject({ derived: true, latest_version: 1 });
    expect(data).not.toHaveProperty('context');
  });

  it('leaves a key that exists as it is, but checks what is asked for', async () => {
    const { ask } = await freshOperations();
    const made = await ask('keys create', { name: 'orders' });
    expect(await ask('keys create', { name: 'orders', type: 'ed25519', exportable: true })).toEqual(made);
    expect(await rejectionOf(ask('keys create', { name: 'orders', type: 'rot13' }))).toMatchObject({
      kind: 'invalid',
      message: 'unknown key type rot13',
    });
  });

  it.each([
    [{ auto_rotate_period: '59m' }, 'auto rotate period must be 0 to disable or at least an hour'],
    [{ auto_rotate_period: -1 }, "cannot provide negative value '-1'"],
    [{ convergent_encryption: true }, 'convergent encryption requires derivation to be enabled'],
    [{ type: 'AES256-GCM96' }, 'unknown key type AES256-GCM96'],
    [{ type: null }, 'unknown key type '],
    [{ key_size: 32 }, 'key_size is not valid for algorithm aes256-gcm96'],
    [{ type: 'hmac' }, 'invalid key size for HMAC key, must be between 32 and 512 bytes'],
    [{ type: 'hmac', key_size: 31 }, 'invalid key_size 31'],
    [{ type: 'hmac', key_size: 513 }, 'invalid key_size 513'],
    [
      { type: 'rsa-2048', derived: true },
      'key derivation and convergent encryption not supported for keys of type rsa-2048',
    ],
    [
      { type: 'ed25519', derived: true, convergent_encryption: true },
      'convergent encryption not supported for keys of type ed25519',
    ],
    [{ name: '-orders' }, 'key name "-orders" is not allowed'],
  ])('refuses the settings %j', async (settings, message) => {
    const { ask } = await freshOperations();
    const error = await rejectionOf(ask('keys create', { name: 'refused', ...settings }));
    expect(error).toMatchObject({ kind: expect.stringMatching(/^(?:invalid|unsupported)$/), message });
    expect(await ask('keys list')).toEqual({ keys: [] });
  });
});
