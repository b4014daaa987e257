import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { writeBackup } from '../../../src/transit/backup/backup-key.ts';
import { checkWork } from '../../../src/transit/backup/consistency.ts';
import { readBackup } from '../../../src/transit/backup/restore-key.ts';
import type { NamedKeyDocument } from '../../../src/transit/key-document.ts';
import { keyTypeNamed } from '../../../src/transit/key-types/index.ts';
import { emptyDocument } from '../../../src/transit/lifecycle.ts';
import { processMsUntil } from '../../processor-time.ts';
import { rejectionOf, thrownBy } from '../../reference/thrown.ts';

/** A key whose versions are all the same one: what a stranger to its owner makes a great many of for nothing. */
async function keyOf(typeName: string, count: number): Promise<NamedKeyDocument> {
  const type = keyTypeNamed(typeName) ?? expect.fail(`no key type ${typeName}`);
  const version = {
    ...(await type.generate(systemRandom, 0)),
    createdAt: '2026-01-02T03:04:05Z',
    createdAtSeconds: 1_767_323_045,
    convergentVersion: 0,
  };
  const settings = {
    type: typeName,
    derived: false,
    convergentEncryption: false,
    exportable: true,
    allowPlaintextBackup: true,
    autoRotatePeriodSeconds: 0,
    keyBytes: 0,
  };
  return {
    ...emptyDocument('k', settings),
    minAvailableVersion: 1,
    latestVersion: count,
    versions: Object.fromEntries(Array.from({ length: count }, (_, index) => [index + 1, version])),
  };
}

const compressed = (backup: string): string =>
  Buffer.concat([Buffer.from('G'), gzipSync(Buffer.from(backup, 'base64'))]).toString('base64');

const restored = (backup: string) => readBackup(backup, undefined, systemRandom);

describe('what a restore costs', () => {
  it('does not grow by a slow signature with every version', async () => {
    const backup = compressed(await writeBackup(await keyOf('slh-dsa-sha2-256s', 60)));
    expect(backup.length).toBeLessThan(10_000);
    expect(await processMsUntil(async () => restored(backup))).toBeLessThan(6000);
  });

  it.each(['rsa-4096', 'ml-dsa-44', 'ecdsa-p521'])('is justified by its bytes, for %s', async (type) => {
    const count = { 'rsa-4096': 400, 'ml-dsa-44': 2000, 'ecdsa-p521': 2000 }[type] ?? 0;
    const backup = await writeBackup(await keyOf(type, count));
    let refusal: unknown;
    const ms = await processMsUntil(async () => {
      refusal = await rejectionOf(restored(compressed(backup)));
    });
    expect(refusal).toMatchObject({
      kind: 'too-large',
      message: `backup has too many versions for its length: ${count} of type ${type}`,
      field: 'backup',
    });
    expect(ms).toBeLessThan(6000);
  });

  it('is at most five seconds, and a millisecond for each 256 characters', () => {
    // Reading a version of this type takes four milliseconds.
    const type = keyTypeNamed('ml-dsa-44') ?? expect.fail('no such type');
    const { name, backup } = type;
    expect(backup.readMs).toBe(4);
    for (const [most, characters] of [
      [1250, 0],
      [1251, 1024],
    ] as const) {
      checkWork(most, type, characters);
      expect(thrownBy(() => checkWork(most + 1, type, characters + 1023))).toMatchObject({
        kind: 'too-large',
        message: `backup has too many versions for its length: ${most + 1} of type ${name}`,
      });
    }
  });

  it('is no hindrance to a backup as it was made, nor to many versions that need no computing', async () => {
    expect((await restored(await writeBackup(await keyOf('rsa-2048', 100)))).latestVersion).toBe(100);
    expect((await restored(await writeBackup(await keyOf('ed25519', 1000)))).latestVersion).toBe(1000);
    const symmetric = compressed(await writeBackup(await keyOf('aes256-gcm96', 10_000)));
    expect((await restored(symmetric)).latestVersion).toBe(10_000);
  });
});
