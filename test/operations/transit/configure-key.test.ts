import { beforeEach, describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';

let operations: Operations;
const configure = (settings: Raw) => operations.ask('keys config', { name: 'orders', ...settings });

/** A key with three versions. */
beforeEach(async () => {
  operations = await freshOperations();
  await operations.ask('keys create', { name: 'orders' });
  await operations.ask('keys rotate', { name: 'orders' });
  await operations.ask('keys rotate', { name: 'orders' });
});

describe('keys config', () => {
  it('changes the key of the name, and nothing that is not mentioned', async () => {
    const before = (await operations.ask('keys read', { name: 'orders' })) as Raw;
    expect(await configure({})).toEqual(before);
    expect(await configure({ deletion_allowed: true })).toEqual({ ...before, deletion_allowed: true });
    expect(await rejectionOf(operations.ask('keys config', { name: 'nobody' }))).toMatchObject({
      kind: 'not-found',
      message: 'no existing key named nobody could be found',
    });
  });

  it('sets the oldest version that decrypts, and brings versions back', async () => {
    const old = await operations.text(
      'encrypt',
      { name: 'orders', plaintext: 'YQ==', key_version: 1 },
      'ciphertext',
    );
    const decrypt = () => operations.ask('decrypt', { name: 'orders', ciphertext: old });
    expect(await configure({ min_decryption_version: 2 })).toMatchObject({
      min_decryption_version: 2,
      keys: { 2: expect.any(Number), 3: expect.any(Number) },
    });
    expect(await rejectionOf(decrypt())).toMatchObject({
      kind: 'invalid',
      message: 'ciphertext or signature version is disallowed by policy (too old)',
    });
    await configure({ min_decryption_version: '1' });
    expect(await decrypt()).toEqual({ plaintext: 'YQ==' });
  });

  it.each([0, null])('takes %j as the oldest version for 1, with a warning', async (version) => {
    const outcome = await operations.outcome('keys config', {
      name: 'orders',
      min_decryption_version: version,
    });
    expect(outcome).toMatchObject({
      data: { min_decryption_version: 1 },
      warnings: [
        'since Vault 0.3 (prior to the OpenBao fork), transit key numbering starts at 1; forcing minimum to 1',
      ],
    });
  });

  it('sets the oldest version that encrypts', async () => {
    expect(await configure({ min_encryption_version: 3 })).toMatchObject({ min_encryption_version: 3 });
    const attempt = operations.ask('encrypt', { name: 'orders', plaintext: '', key_version: 2 });
    expect(await rejectionOf(attempt)).toMatchObject({
      message: 'requested version for encryption is less than the minimum encryption key version',
    });
  });

  it('lets a key be deleted, or not', async () => {
    await configure({ deletion_allowed: true });
    await configure({ deletion_allowed: false });
    const attempt = operations.ask('keys delete', { name: 'orders' });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'conflict' });
    await configure({ deletion_allowed: 'true' });
    await operations.ask('keys delete', { name: 'orders' });
  });

  it('lets a key be exported for good: false afterwards is overlooked', async () => {
    expect(await configure({ exportable: false })).toMatchObject({ exportable: false });
    expect(await configure({ exportable: true })).toMatchObject({ exportable: true });
    const { data, warnings } = await operations.outcome('keys config', { name: 'orders', exportable: false });
    expect({ data, warnings }).toMatchObject({ data: { exportable: true }, warnings: [] });
  });

  it('lets a key be backed up for good: false afterwards is overlooked', async () => {
    expect(await configure({ allow_plaintext_backup: true })).toMatchObject({ allow_plaintext_backup: true });
    expect(await configure({ allow_plaintext_backup: null })).toMatchObject({ allow_plaintext_backup: true });
  });

  it('sets the period of rotation, which the next use applies, and 0 turns it off', async () => {
    expect(await configure({ auto_rotate_period: '1h' })).toMatchObject({ auto_rotate_period: 3600 });
    operations.wait(3_600_000);
    const encrypt = () => operations.ask('encrypt', { name: 'orders', plaintext: '' });
    expect(await encrypt()).toMatchObject({ key_version: 4 });
    expect(await encrypt()).toMatchObject({ key_version: 4 });
    await configure({ auto_rotate_period: 0 });
    operations.wait(36_000_000);
    expect(await encrypt()).toMatchObject({ key_version: 4 });
  });

  it.each([
    [{ min_decryption_version: -1 }, 'min decryption version cannot be negative'],
    [{ min_decryption_version: 4 }, 'cannot set min decryption version of 4, latest key version is 3'],
    [{ min_encryption_version: -1 }, 'min encryption version cannot be negative'],
    [{ min_encryption_version: 4 }, 'cannot set min encryption version of 4, latest key version is 3'],
    [
      { min_decryption_version: 3, min_encryption_version: 2 },
      'cannot set min encryption/decryption values; min encryption version of 2 must be greater than or equal to min decryption version of 3',
    ],
    [{ auto_rotate_period: 60 }, 'auto rotate period must be 0 to disable or at least an hour'],
  ])('refuses %j, and changes nothing of what stands beside it', async (settings, message) => {
    const before = await operations.ask('keys read', { name: 'orders' });
    expect(await rejectionOf(configure({ deletion_allowed: true, ...settings }))).toMatchObject({
      kind: 'invalid',
      message,
    });
    expect(await operations.ask('keys read', { name: 'orders' })).toEqual(before);
  });

  it.each([
    ['keys config', { min_decryption_version: 4 }, 'use a lower version, or ROTATE'],
    ['keys config', { min_encryption_version: 4 }, 'use a lower version, or ROTATE'],
    ['keys revoke', { version: 3 }, 'ROTATE'],
  ])('%s with %j names the command that adds a version', async (operation, settings, hint) => {
    expect(await rejectionOf(operations.ask(operation, { name: 'orders', ...settings }))).toMatchObject({
      hint: hint.replace(
        'ROTATE',
        'run "coffer transit keys rotate orders" first; a key that does not encrypt needs --force',
      ),
    });
  });
});
