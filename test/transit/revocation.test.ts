import { describe, expect, it } from 'vitest';
import { destroyVersion, revokeVersion } from '../../src/transit/revocation.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, storeKey } from './known-key.ts';

describe('a version that a key has lost', () => {
  const version = knownVersion(KEY_32);
  const whole = knownKey('aes256-gcm96', [version, version, version]);
  const { 1: _, ...versions } = whole.versions;

  it.each([
    ['revoked', revokeVersion],
    ['destroyed', destroyVersion],
  ])('cannot be %s, and the others can', async (_, change) => {
    const engine = await freshEngine();
    await storeKey(engine, { ...whole, versions });
    expect(await rejectionOf(change(engine, 'known', 1))).toMatchObject({
      kind: 'invalid',
      field: 'version',
    });
    const { document } = await change(engine, 'known', 2);
    expect([Object.keys(document.versions), Object.keys(document.revokedVersions ?? {})]).toEqual([
      ['3'],
      ['2'],
    ]);
  });

  it('that was destroyed is destroyed again without a change of the store', async () => {
    const engine = await freshEngine();
    await storeKey(engine, whole);
    await destroyVersion(engine, 'known', 1);
    const before = await engine.store.revision();
    const { document } = await destroyVersion(engine, 'known', 1);
    expect(document.revokedVersions).toEqual({ 1: null });
    expect(await engine.store.revision()).toBe(before);
  });
});
