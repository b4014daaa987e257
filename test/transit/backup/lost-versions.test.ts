import { describe, expect, it } from 'vitest';
import { backupKey } from '../../../src/transit/backup/backup-key.ts';
import { restoreKey } from '../../../src/transit/backup/restore-key.ts';
import { onlyValue } from '../../../src/transit/batch.ts';
import { configureKey } from '../../../src/transit/configuration.ts';
import { decrypt } from '../../../src/transit/decrypt.ts';
import { encrypt } from '../../../src/transit/encrypt.ts';
import type { Engine } from '../../../src/transit/engine.ts';
import { exportKey } from '../../../src/transit/export.ts';
import { hmac } from '../../../src/transit/hmac.ts';
import { rotateKey } from '../../../src/transit/rotation.ts';
import { lostVersionsWarning } from '../../../src/transit/version-choice.ts';
import { goBackup, goDocument, goEntry, type Members, zeroEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshEngine } from '../fresh-engine.ts';
import { BY_THE_WAY } from '../known-engine.ts';
import { KEY_32, knownKey, knownVersion } from '../known-key.ts';

/** A version whose key is 32 times the number. */
const version = (number: number): Members => goEntry({ key: Buffer.alloc(32, number).toString('base64') });

/** Three versions, of which the archive has lost the second, or the ring and the archive have. */
const lossy: readonly [string, Members][] = [
  [
    'its archive',
    {
      ...goDocument([version(1), version(2), version(3)], { min_decryption_version: 3 }),
      archived_keys: { keys: [zeroEntry, version(1), zeroEntry, version(3)] },
    },
  ],
  [
    'an archive that is too short',
    {
      ...goDocument([version(1), version(2), version(3)], { min_decryption_version: 3 }),
      archived_keys: { keys: [zeroEntry, version(1)] },
    },
  ],
  [
    'ring and archive',
    {
      ...goDocument([version(1), version(2), version(3)], {
        keys: { 1: version(1), 2: zeroEntry, 3: version(3) },
      }),
      archived_keys: { keys: [zeroEntry, version(1), zeroEntry, version(3)] },
    },
  ],
];

const LOST = 'version 2 was not in the backup that this key was restored from';

async function restored(document: Members): Promise<Engine> {
  const engine = await freshEngine('vault');
  await restoreKey(engine, { backup: goBackup(document), force: false });
  return engine;
}

/** Encrypts with a version of a key that has them all. */
async function encryptedWith(keyVersion: number): Promise<string> {
  const whole = await restored(goDocument([version(1), version(2), version(3)]));
  return onlyValue(await encrypt(whole, 'orders', [{ plaintext: 'aGVsbG8=', keyVersion }], BY_THE_WAY))
    .ciphertext;
}

describe.each(lossy)('a backup that has lost a version from %s', (_, document) => {
  it('is restored, and the versions that are left work', async () => {
    const engine = await restored(document);
    await configureKey(engine, 'orders', { minDecryptionVersion: 1 });
    for (const number of [1, 3]) {
      const [result] = await decrypt(engine, 'orders', [{ ciphertext: await encryptedWith(number) }]);
      expect(result).toEqual({ value: Buffer.from('hello') });
    }
    await rotateKey(engine, 'orders', false);
    const sealed = await encrypt(engine, 'orders', [{ plaintext: '' }], BY_THE_WAY);
    expect(onlyValue(sealed)).toMatchObject({ keyVersion: 4 });
  });

  it('says what is lost when that version is asked for', async () => {
    const engine = await restored(document);
    await configureKey(engine, 'orders', { minDecryptionVersion: 1 });
    const [read] = await decrypt(engine, 'orders', [{ ciphertext: await encryptedWith(2) }]);
    expect(read).toMatchObject({ error: { kind: 'invalid', message: `no such key version: ${LOST}` } });
    const [written] = await encrypt(engine, 'orders', [{ plaintext: '', keyVersion: 2 }], BY_THE_WAY);
    expect(written).toMatchObject({ error: { message: `no such key version: ${LOST}` } });
    const made = hmac(engine, 'orders', [{ input: '' }], { algorithm: 'sha2-256', keyVersion: 2 });
    expect(await rejectionOf(made)).toMatchObject({ message: `no such key version: ${LOST}` });
    const request = { kind: 'encryption-key', version: '2', format: '' };
    expect(await rejectionOf(exportKey(engine, 'orders', request))).toMatchObject({
      message: `version does not exist or cannot be found: ${LOST}`,
    });
    const all = await exportKey(engine, 'orders', { ...request, version: '' });
    expect(Object.keys(all.printed)).toEqual(['1', '3']);
  });

  it('can be backed up and restored again, here, with all that is left', async () => {
    const engine = await restored(document);
    await configureKey(engine, 'orders', { minDecryptionVersion: 1 });
    const backup = await backupKey(engine, 'orders');
    const again = await restoreKey(engine, { backup, name: 'again', force: false });
    expect(Object.keys(again.document.versions)).toEqual(['1', '3']);
  });
});

describe('what is said of lost versions', () => {
  const holey = (latest: number, there: readonly number[]) => {
    const versions = Object.fromEntries(there.map((number) => [String(number), knownVersion(KEY_32)]));
    return { ...knownKey('aes256-gcm96', []), latestVersion: latest, versions };
  };

  it.each([
    [3, [1, 2, 3], 1, []],
    [3, [1, 3], 1, ['key "known" lacks version 2, which was not in its backup']],
    [3, [3], 1, ['key "known" lacks versions 1, 2, which were not in its backup']],
    [3, [3], 2, ['key "known" lacks version 2, which was not in its backup']],
    [
      14,
      [14],
      1,
      ['key "known" lacks versions 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more, which were not in its backup'],
    ],
  ])('of %i versions, where %j are there, asked from %i on, is %j', (latest, there, from, warnings) => {
    expect(lostVersionsWarning(holey(latest, there), from)).toEqual(warnings);
  });

  it('does not count those that were trimmed', () => {
    expect(lostVersionsWarning({ ...holey(3, [3]), minAvailableVersion: 3 })).toEqual([]);
  });

  it('comes as a warning when they are wanted back', async () => {
    const engine = await restored(lossy[0]?.[1] ?? {});
    const wanted = await configureKey(engine, 'orders', { minDecryptionVersion: 2 });
    expect(wanted.warnings).toEqual(['key "orders" lacks version 2, which was not in its backup']);
    const others = await configureKey(engine, 'orders', { minDecryptionVersion: 3 });
    expect(others.warnings).toEqual([]);
  });
});
