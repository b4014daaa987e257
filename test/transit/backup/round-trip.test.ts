import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { writeBackup } from '../../../src/transit/backup/backup-key.ts';
import { readBackup } from '../../../src/transit/backup/restore-key.ts';
import fixtures from '../../vectors/go-backups/backups.json' with { type: 'json' };

const inVaultLayout = (name: string): boolean => name.startsWith('vault-');
const documentOf = (backup: string): string => Buffer.from(backup, 'base64').toString();

describe('a backup that Go wrote', () => {
  it.each(fixtures.filter(({ name }) => !inVaultLayout(name)))(
    '$name is written again to the last byte',
    async ({ backup }) => {
      const key = await readBackup(backup, undefined, systemRandom);
      expect(documentOf(await writeBackup(key))).toBe(documentOf(backup));
    },
  );

  it.each(fixtures.filter(({ name }) => inVaultLayout(name)))(
    '$name is written again in the layout of OpenBao',
    async ({ name, type, backup }) => {
      const key = await readBackup(backup, undefined, systemRandom);
      expect(key).toMatchObject({ name, type });
      const again = await readBackup(await writeBackup(key), undefined, systemRandom);
      expect(again).toEqual(key);
    },
  );
});
