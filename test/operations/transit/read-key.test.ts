import { describe, expect, it } from 'vitest';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations } from './operations.ts';
import { CONTEXT, DERIVED_PUBLIC_KEY, ED25519_KEY } from './vectors.ts';

const ED25519 = { type: 2, derived: true, kdf: 1 };

describe('keys read', () => {
  it('shows the key of the name, with the versions that may be used', async () => {
    const { ask } = await freshOperations();
    await ask('keys create', { name: 'orders' });
    await ask('keys rotate', { name: 'orders' });
    await ask('keys config', { name: 'orders', min_decryption_version: 2 });
    expect(await ask('keys read', { name: 'orders' })).toMatchObject({
      name: 'orders',
      latest_version: 2,
      keys: { 2: expect.any(Number) },
    });
    expect(Object.keys(((await ask('keys read', { name: 'orders' })) as { keys: object }).keys)).toEqual([
      '2',
    ]);
  });

  it('never shows key material', async () => {
    const { ask, restore } = await freshOperations();
    await restore('derived', [goEntry({ key: ED25519_KEY })], ED25519);
    const shown = JSON.stringify(await ask('keys read', { name: 'derived' }));
    expect(shown).not.toContain(ED25519_KEY.slice(0, 40));
  });

  it('shows when the key was backed up and restored', async () => {
    const { ask } = await freshOperations();
    await ask('keys create', { name: 'moved', exportable: true, allow_plaintext_backup: true });
    await ask('backup', { name: 'moved' });
    expect(await ask('keys read', { name: 'moved' })).toMatchObject({
      backup_info: { time: '2026-03-01T08:00:00Z', version: 1 },
    });
  });

  it('shows the public key of a context, and that of a derived key only so', async () => {
    const { ask, restore } = await freshOperations();
    await restore('derived', [goEntry({ key: ED25519_KEY })], ED25519);
    const read = (context?: string) =>
      ask('keys read', { name: 'derived', ...(context === undefined ? {} : { context }) });
    expect(await read()).toMatchObject({ keys: { 1: { public_key: '' } } });
    expect(await read(CONTEXT)).toMatchObject({ keys: { 1: { public_key: DERIVED_PUBLIC_KEY } } });
    expect(await rejectionOf(read('n!t base64'))).toMatchObject({
      kind: 'invalid',
      field: 'context',
      message: 'failed to base64-decode context',
    });
  });

  it('refuses a name that no key has', async () => {
    const { ask } = await freshOperations();
    expect(await rejectionOf(ask('keys read', { name: 'nobody' }))).toMatchObject({
      kind: 'not-found',
      field: 'name',
    });
  });
});
