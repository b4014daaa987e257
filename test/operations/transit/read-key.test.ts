import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { keyData } from '../../../src/operations/transit/key-data.ts';
import { ed25519 } from '../../../src/transit/key-types/ed25519.ts';
import { NamedKey } from '../../../src/transit/named-key.ts';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf, thrownBy } from '../../reference/thrown.ts';
import { KEY_32, knownKey, knownVersion } from '../../transit/known-key.ts';
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
    const read = (context?: string) => ask('keys read', { name: 'derived', context });
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

describe('the public keys that keys read shows', () => {
  it('are those of each version; those of a derived key belong to a context', async () => {
    const stored = await ed25519.generate(systemRandom, 0);
    const document = knownKey('ed25519', [{ ...knownVersion(KEY_32), ...stored }]);
    const shown = (derived: boolean, context?: string) =>
      publicKeyIn(
        keyData({ keepsFamilyRules: false }, NamedKey.open({ ...document, derived, kdf: 1 }), context),
      );
    expect(shown(false)).toBe(ed25519.publicKey?.print(ed25519.open(stored)));
    expect(shown(true)).toBe('');
    expect(shown(true, 'AAAA')).toMatch(/^[\w+/]{43}=$/);
    expect(shown(true, 'AAAA')).not.toBe(shown(true, 'AAAB'));
    expect(shown(true, 'AAAA')).not.toBe(shown(false));
    expect(thrownBy(() => shown(true, '?'))).toMatchObject({
      kind: 'invalid',
      field: 'context',
      message: 'failed to base64-decode context',
    });
  });

  it('are nothing for a derived key whose private part is not there, whatever the context', async () => {
    const { publicKey = '' } = await ed25519.generate(systemRandom, 0);
    const { secret: _, ...version } = knownVersion(KEY_32);
    const key = NamedKey.open(knownKey('ed25519', [{ ...version, publicKey }], { derived: true, kdf: 1 }));
    expect(publicKeyIn(keyData({ keepsFamilyRules: false }, key))).toBe('');
    expect(publicKeyIn(keyData({ keepsFamilyRules: false }, key, 'AAAA'))).toBe('');
  });

  it('are nothing for a symmetric key', () => {
    const key = NamedKey.open(knownKey('aes256-gcm96', [knownVersion(KEY_32)]));
    expect(keyData({ keepsFamilyRules: false }, key).keys).toEqual({ 1: expect.any(Number) });
  });
});

function publicKeyIn({ keys }: ReturnType<typeof keyData>): string {
  const version = keys?.['1'];
  return typeof version === 'object' ? version.public_key : expect.fail('no version 1 with a public key');
}
