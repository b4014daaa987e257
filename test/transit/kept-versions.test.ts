import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { onlyValue } from '../../src/transit/batch.ts';
import { configureKey, type KeyConfiguration } from '../../src/transit/configuration.ts';
import { decrypt } from '../../src/transit/decrypt.ts';
import { encrypt } from '../../src/transit/encrypt.ts';
import type { Engine } from '../../src/transit/engine.ts';
import { createKey } from '../../src/transit/lifecycle.ts';
import { type NamedKey, requireKey } from '../../src/transit/named-key.ts';
import { revokeVersion } from '../../src/transit/revocation.ts';
import { rotateDueKeys, rotateKey } from '../../src/transit/rotation.ts';
import { refused } from '../refusal.ts';
import { freshEngine } from './fresh-engine.ts';
import { BY_THE_WAY } from './known-engine.ts';

const NEW = {
  type: 'aes256-gcm96',
  derived: false,
  convergentEncryption: false,
  exportable: false,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
  keyBytes: 0,
};

async function engineWithKey(versions = 1): Promise<Engine> {
  const engine = await freshEngine();
  await createKey(engine, 'orders', NEW);
  for (let made = 1; made < versions; made++) await rotateKey(engine, 'orders', false);
  return engine;
}

const configured = (engine: Engine, change: KeyConfiguration) => configureKey(engine, 'orders', change);
const rotated = async (engine: Engine) => (await rotateKey(engine, 'orders', false)).document;
const numbers = (key: NamedKey) => [...key.usableVersions()].map(({ number }) => number);

describe('a key that keeps its last versions', () => {
  it('lets only so many be used, from the moment that this is said, and after each rotation', async () => {
    const engine = await engineWithKey(5);
    const { key, warnings } = await configured(engine, { keepVersions: 2 });
    expect([numbers(key), warnings]).toEqual([[4, 5], []]);
    expect(await rotated(engine)).toMatchObject({ minDecryptionVersion: 5, minAvailableVersion: 0 });
    expect(Object.keys((await requireKey(engine, 'orders', '')).document.versions)).toHaveLength(6);
  });

  it('decrypts what its last versions encrypted, and nothing older', async () => {
    const engine = await engineWithKey();
    await configured(engine, { keepVersions: 2 });
    const { ciphertext } = onlyValue(
      await encrypt(engine, 'orders', [{ plaintext: 'aGVsbG8=' }], BY_THE_WAY),
    );
    await rotated(engine);
    expect(onlyValue(await decrypt(engine, 'orders', [{ ciphertext }])).toString()).toBe('hello');
    await rotated(engine);
    const [result] = await decrypt(engine, 'orders', [{ ciphertext }]);
    expect(result).toMatchObject({ error: { message: expect.stringContaining('too old') } });
  });

  it('trims one version with each rotation when it trims by itself', async () => {
    const engine = await engineWithKey(2);
    await configured(engine, { keepVersions: 2, autoTrim: true });
    for (const oldest of [2, 3, 4]) {
      const { minAvailableVersion, versions } = await rotated(engine);
      expect([minAvailableVersion, Object.keys(versions)]).toEqual([oldest, [`${oldest}`, `${oldest + 1}`]]);
    }
  });

  it('follows rotations that come by themselves, too', async () => {
    let now = 1_772_352_000_000;
    const engine = { ...(await freshEngine()), clock: { now: () => now } };
    await createKey(engine, 'orders', { ...NEW, autoRotatePeriodSeconds: 3600 });
    await configured(engine, { keepVersions: 1, autoTrim: true });
    now += 3_600_000;
    expect(await rotateDueKeys(engine)).toEqual(['orders']);
    const key = await requireKey(engine, 'orders', '');
    expect([numbers(key), Object.keys(key.document.versions)]).toEqual([[2], ['2']]);
  });

  it('never goes back when it may keep more, until somebody asks for older versions', async () => {
    const engine = await engineWithKey(5);
    await configured(engine, { keepVersions: 1 });
    expect(numbers((await configured(engine, { keepVersions: 3 })).key)).toEqual([5]);
    expect(numbers((await configured(engine, { minDecryptionVersion: 3 })).key)).toEqual([3, 4, 5]);
    expect(await refused(configured(engine, { minDecryptionVersion: 2 }))).toMatchObject({
      kind: 'invalid',
      field: 'min_decryption_version',
      message: 'cannot set min decryption version of 2, the key keeps versions from 3',
    });
    const all = await configured(engine, { keepVersions: 0, minDecryptionVersion: 1 });
    expect(numbers(all.key)).toEqual([1, 2, 3, 4, 5]);
    expect(all.key.document.keepVersions).toBeUndefined();
  });

  it('keeps what min_encryption_version still lets encrypt, and says so', async () => {
    const engine = await engineWithKey(5);
    await configured(engine, { minEncryptionVersion: 2 });
    const { key, warnings } = await configured(engine, { keepVersions: 1, autoTrim: true });
    expect(numbers(key)).toEqual([2, 3, 4, 5]);
    expect(warnings).toEqual([expect.stringContaining('version 2 and later stay usable')]);
    expect(await rotated(engine)).toMatchObject({ minDecryptionVersion: 2, minAvailableVersion: 2 });
    // What was said there can be done.
    await configured(engine, { minEncryptionVersion: 0 });
    expect(await rotated(engine)).toMatchObject({ minDecryptionVersion: 7, minAvailableVersion: 7 });
  });

  it('deletes versions only when it was asked to, with a rotation, and revoked ones as well', async () => {
    const engine = await engineWithKey(3);
    await revokeVersion(engine, 'orders', 1);
    const { key } = await configured(engine, { keepVersions: 2, autoTrim: true });
    expect(Object.keys(key.document.versions)).toEqual(['2', '3']);
    expect(key.document.revokedVersions).toHaveProperty('1');
    const after = await rotated(engine);
    expect(Object.keys(after.versions)).toEqual(['3', '4']);
    expect(after).toMatchObject({ minAvailableVersion: 3, revokedVersions: {} });
    expect((await configured(engine, { autoTrim: false })).key.document.autoTrim).toBeUndefined();
    expect(Object.keys((await rotated(engine)).versions)).toEqual(['3', '4', '5']);
    // It can be turned off after it has trimmed, whatever the other minimum is.
    expect((await configured(engine, { keepVersions: 0 })).key.document.keepVersions).toBeUndefined();
  });

  it.each([
    [{ keepVersions: -1 }, 'keep versions cannot be negative'],
    [{ autoTrim: true }, 'auto trim needs keep versions'],
    [{ keepVersions: 0, autoTrim: true }, 'auto trim needs keep versions'],
  ])('refuses %j, and changes nothing', async (change, message) => {
    const engine = await engineWithKey(2);
    expect(await refused(configured(engine, { ...change, deletionAllowed: true }))).toMatchObject({
      kind: 'invalid',
      message,
    });
    expect((await requireKey(engine, 'orders', '')).document.deletionAllowed).toBe(false);
  });

  it('keeps the rules of a key, whatever is asked of it in whatever order', async () => {
    const number = fc.integer({ min: 0, max: 6 });
    const change = fc.record(
      {
        keepVersions: number,
        autoTrim: fc.boolean(),
        minDecryptionVersion: number,
        minEncryptionVersion: number,
      },
      { requiredKeys: [] },
    );
    const steps = fc.array(fc.oneof(change, fc.constant('rotate' as const)), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (asked) => {
        const engine = await engineWithKey();
        for (const step of asked) {
          if (step === 'rotate') await rotated(engine);
          else
            await configured(engine, step).catch((error) => expect(error).toMatchObject({ kind: 'invalid' }));
          const { document } = await requireKey(engine, 'orders', '');
          const { minDecryptionVersion: oldest, minEncryptionVersion, minAvailableVersion } = document;
          const { latestVersion, keepVersions, versions } = document;
          expect(oldest).toBeGreaterThanOrEqual(Math.max(1, minAvailableVersion));
          expect(oldest).toBeLessThanOrEqual(latestVersion);
          if (minEncryptionVersion > 0) expect(minEncryptionVersion).toBeGreaterThanOrEqual(oldest);
          if (keepVersions !== undefined && minEncryptionVersion === 0) {
            expect(latestVersion - oldest).toBeLessThan(keepVersions);
          }
          for (let one = Math.max(1, minAvailableVersion); one <= latestVersion; one++) {
            expect(versions).toHaveProperty(String(one));
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
