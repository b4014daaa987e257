import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { backupKey } from '../../../src/transit/backup/backup-key.ts';
import { readBackup } from '../../../src/transit/backup/restore-key.ts';
import { goBackup, goDocument, goEntry, type Members, zeroEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshEngine } from '../fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, storeKey } from '../known-key.ts';

const aes = () => goEntry({ key: Buffer.alloc(32, 1).toString('base64') });
const read = (document: unknown) => readBackup(goBackup(document), undefined, systemRandom);
const inconsistent = (text: string): string => `failed to restore the policy "orders": ${text}`;

it.each([true, false])(
  'a key whose backup has soft_deleted of %s is restored with it',
  async (soft_deleted) => {
    expect(await read(goDocument([aes()], { soft_deleted }))).toMatchObject({ softDeleted: soft_deleted });
  },
);

describe('members that only Coffer writes', () => {
  const own = (members: Members) => ({ ...goDocument([aes(), aes()]), coffer: members });
  const revoked = (version: string, entry: Members | null = null): Members => ({
    revoked_versions: { [version]: entry },
  });

  it.each<[string, Members]>([
    ['keep_versions of -1 is out of range', { keep_versions: -1 }],
    ['keep_versions of 0 is out of range', { keep_versions: 0, auto_trim: true }],
    ['version "0" cannot be revoked', revoked('0')],
    ['version "2" cannot be revoked', revoked('2')],
    ['version "3" cannot be revoked', revoked('3')],
    ['version "01" cannot be revoked', revoked('01')],
  ])('are refused: %s', async (text, members) => {
    expect(await rejectionOf(read(own(members)))).toMatchObject({
      kind: 'invalid',
      message: inconsistent(text),
      field: 'backup',
    });
  });

  it('revoke no version that is there', async () => {
    for (const members of [revoked('1'), revoked('1', zeroEntry)])
      expect(await rejectionOf(read(own(members)))).toMatchObject({
        message: inconsistent('version "1" cannot be revoked'),
      });
  });

  it('revoke no version that the archive was trimmed of, and none that is there without content', async () => {
    const trimmed = (members: Members) => ({ ...goDocument([aes(), aes()], {}, 3), coffer: members });
    for (const version of ['1', '2', '3', '4', '5'])
      expect(await rejectionOf(read(trimmed(revoked(version))))).toMatchObject({
        message: inconsistent(`version "${version}" cannot be revoked`),
      });
    const archived_keys = { keys: [zeroEntry, zeroEntry, aes()] };
    const lost = (entry: Members | null) =>
      read({
        ...goDocument([aes(), aes()], { keys: { 2: aes() } }),
        archived_keys,
        coffer: revoked('1', entry),
      });
    expect((await lost(null)).revokedVersions).toEqual({ 1: null });
    expect((await lost(aes())).revokedVersions).toMatchObject({ 1: { secret: expect.any(String) } });
    expect(await rejectionOf(lost(zeroEntry))).toMatchObject({
      message: inconsistent('version "1" cannot be revoked'),
    });
  });

  it('keep any number of versions where none is trimmed', async () => {
    await expect(read(own({ keep_versions: 0, auto_trim: false }))).resolves.toBeDefined();
    await expect(read(own({ keep_versions: 1, auto_trim: true }))).resolves.toBeDefined();
  });
});

describe('a key for HMACs alone', () => {
  const restored = (hmacKey: number) =>
    read(
      goDocument(
        [
          goEntry({
            key: Buffer.alloc(32, 5).toString('base64'),
            hmac_key: Buffer.alloc(32, hmacKey).toString('base64'),
          }),
        ],
        { type: 11, key_size: 32, min_available_version: 0, soft_deleted: false },
      ),
    );

  it('has the one that it is as its key for HMACs, and no other', async () => {
    await expect(restored(5)).resolves.toBeDefined();
    expect(await rejectionOf(restored(6))).toMatchObject({
      kind: 'invalid',
      message: 'backup cannot be restored: version 1: two different HMAC keys',
    });
  });
});

describe('members that only Coffer writes, in a backup that it makes', () => {
  const version = knownVersion(KEY_32);
  const three = knownKey('aes256-gcm96', [version, version, version], { allowPlaintextBackup: true });
  async function written(change: Partial<typeof three>): Promise<unknown> {
    const engine = await freshEngine();
    await storeKey(engine, { ...three, ...change });
    return JSON.parse(Buffer.from(await backupKey(engine, 'known'), 'base64').toString()).coffer;
  }

  it('are absent from a key that has none of them', async () => {
    expect(await written({})).toBeUndefined();
    expect(await written({ revokedVersions: {} })).toBeUndefined();
  });

  it('are there for a number of versions to keep alone', async () => {
    expect(await written({ keepVersions: 2, autoTrim: true })).toEqual({
      revoked_versions: {},
      keep_versions: 2,
      auto_trim: true,
    });
  });

  it('are there for revoked versions from the oldest one that is left', async () => {
    const { 3: latest } = three.versions;
    const versions = { 3: latest ?? version };
    const found = await written({ versions, minAvailableVersion: 2, revokedVersions: { 1: null, 2: null } });
    expect(found).toEqual({ revoked_versions: { 2: null }, keep_versions: 0, auto_trim: false });
  });
});
