import { beforeEach, describe, expect, it } from 'vitest';
import { backupKey } from '../../../src/transit/backup/backup-key.ts';
import { restoreKey } from '../../../src/transit/backup/restore-key.ts';
import type { Engine } from '../../../src/transit/engine.ts';
import { findKey, keyRef } from '../../../src/transit/named-key.ts';
import { goBackup, goDocument, goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshEngine } from '../fresh-engine.ts';

const aesEntry = (fill: number) => goEntry({ key: Buffer.alloc(32, fill).toString('base64') });
const backup = goBackup(goDocument([aesEntry(1), aesEntry(2)]));

const stampedNow = { time: '2026-03-01T08:00:00.5Z', version: 2 };

let engine: Engine;
beforeEach(async () => {
  engine = await freshEngine();
});

describe('restoring a key', () => {
  it('stores it under its own name, and records when', async () => {
    const restored = await restoreKey(engine, { backup, force: false });
    expect(restored.document).toMatchObject({ name: 'orders', latestVersion: 2, restoreInfo: stampedNow });
    expect((await findKey(engine, 'orders'))?.document).toEqual(restored.document);
  });

  it('restores under another name; two names give two keys', async () => {
    await restoreKey(engine, { backup, name: 'first', force: false });
    await restoreKey(engine, { backup, name: 'second', force: false });
    expect(await findKey(engine, 'orders')).toBeUndefined();
    expect((await findKey(engine, 'first'))?.document.name).toBe('first');
    expect((await findKey(engine, 'second'))?.document.versions).toEqual(
      (await findKey(engine, 'first'))?.document.versions,
    );
  });

  it('does not touch a key that has the name', async () => {
    const before = await restoreKey(engine, { backup, force: false });
    const other = goBackup(goDocument([aesEntry(9)]));
    expect(await rejectionOf(restoreKey(engine, { backup: other, force: false }))).toMatchObject({
      kind: 'exists',
      message: 'key "orders" already exists',
    });
    expect((await findKey(engine, 'orders'))?.document).toEqual(before.document);
  });

  it('replaces it whole when forced, older versions included', async () => {
    await restoreKey(engine, { backup, force: false });
    const other = goBackup(goDocument([aesEntry(9)]));
    const replaced = await restoreKey(engine, { backup: other, force: true });
    expect(Object.keys(replaced.document.versions)).toEqual(['1']);
    expect((await findKey(engine, 'orders'))?.document).toEqual(replaced.document);
  });

  it('changes nothing when a forced backup is no good', async () => {
    const before = await restoreKey(engine, { backup, force: false });
    const broken = goBackup(goDocument([aesEntry(9)], { latest_version: 7 }));
    await rejectionOf(restoreKey(engine, { backup: broken, force: true }));
    expect((await findKey(engine, 'orders'))?.document).toEqual(before.document);
  });

  it.each([
    ['', "'backup' must be supplied"],
    ['{"policy":{}}', 'illegal base64 data at input byte 0'],
  ])('refuses the backup %j', async (text, message) => {
    expect(await rejectionOf(restoreKey(engine, { backup: text, force: false }))).toMatchObject({
      kind: 'invalid',
      message,
      field: 'backup',
    });
  });

  it.each([
    ['with/slash', 'key names cannot be paths'],
    ['-leading', 'key name "-leading" is not allowed'],
    ['', 'key name "" is not allowed'],
    ['ключ', 'key name "ключ" is not allowed'],
  ])('refuses the name %j, given or in the backup', async (name, message) => {
    const given = await rejectionOf(restoreKey(engine, { backup, name, force: false }));
    expect(given).toMatchObject({ kind: 'invalid', message, field: 'name' });
    const inside = goBackup(goDocument([aesEntry(1)], { name }));
    const written = await rejectionOf(restoreKey(engine, { backup: inside, force: false }));
    expect(written).toMatchObject({ kind: 'invalid', message, field: 'backup' });
  });
});

describe('backing up a key', () => {
  const decode = (text: string) => JSON.parse(Buffer.from(text, 'base64').toString());

  it('gives the restored document again, except for the records of the backup and the restore', async () => {
    await restoreKey(engine, { backup, force: false });
    const again = decode(await backupKey(engine, 'orders'));
    const before = decode(backup);
    expect(again).toEqual({
      ...before,
      policy: { ...before.policy, backup_info: stampedNow, restore_info: stampedNow },
    });
    expect((await findKey(engine, 'orders'))?.document.backupInfo).toEqual(stampedNow);
  });

  it.each([
    [{ exportable: false }, 'exporting is disallowed on the policy'],
    [{ allowPlaintextBackup: false }, 'plaintext backup is disallowed on the policy'],
    [{ exportable: false, allowPlaintextBackup: false }, 'exporting is disallowed on the policy'],
    [{ exportable: false, softDeleted: true }, 'refusing to use soft-deleted key'],
  ])('is refused for a key with %j, and nothing is recorded', async (settings, message) => {
    const { document } = await restoreKey(engine, { backup, force: false });
    const changed = { ...document, ...settings };
    await engine.store.transact((tx) => tx.put(keyRef(engine, 'orders'), changed));
    expect(await rejectionOf(backupKey(engine, 'orders'))).toMatchObject({ kind: 'conflict', message });
    expect((await findKey(engine, 'orders'))?.document).toEqual(changed);
  });

  it('is refused for a key that is not there', async () => {
    expect(await rejectionOf(backupKey(engine, 'nobody'))).toMatchObject({
      kind: 'not-found',
      message: 'key "nobody" not found',
    });
  });
});
