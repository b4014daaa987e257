import { ok } from 'node:assert/strict';
import {
  ask,
  type Chapter,
  expectLike,
  freeName,
  freshKey,
  gives,
  holds,
  member,
  outcomeOf,
  overHttp,
  type Params,
  refuses,
} from './row.ts';
import type { Side } from './sides.ts';
import { PLAIN } from './signature-fixtures.ts';

const hmacBy = (name: unknown) => member('hmac', { name, input: PLAIN }, 'hmac');
const OPEN = { exportable: true, allow_plaintext_backup: true };
const backupOf = (name: unknown) => member('backup', { name }, 'backup');

const backup: Chapter = {
  title: 'Backup key and restore key',
  rows: [
    gives('the backup is a text', 'backup', { name: freshKey(OPEN) }, { backup: /^[A-Za-z0-9+/=]{100,}$/ }),
    refuses(
      'a key that may not be backed up is refused',
      'backup',
      { name: freshKey({ exportable: true }) },
      /backup/,
    ),
    refuses(
      'a key that is not exportable is refused',
      'backup',
      { name: freshKey({ allow_plaintext_backup: true }) },
      /export/,
    ),
    refuses('a key that is not there cannot be backed up', 'backup', { name: freeName }),
    holds('restore brings it back under a name of its own', async (side) => {
      const name = await freeName();
      await ask(side, 'restore', { 'url:name': name, backup: backupOf(freshKey(OPEN)) });
      expectLike(await ask(side, 'read', { name }), { name, exportable: true, allow_plaintext_backup: true });
    }),
    holds('without a name it has the name that it had', async (side) => {
      const name = await freshKey(OPEN)(side);
      const text = await backupOf(name)(side);
      await ask(side, 'config', { name, deletion_allowed: true });
      await ask(side, 'delete', { name });
      await ask(side, 'restore', { backup: text });
      expectLike(await ask(side, 'read', { name }), { name });
    }),
    holds('all versions come back', async (side) => {
      const name = await freeName();
      await ask(side, 'restore', { 'url:name': name, backup: backupOf(freshKey(OPEN, 3)) });
      expectLike(await ask(side, 'read', { name }), {
        latest_version: 3,
        keys: { 1: Number.isInteger, 3: Number.isInteger },
      });
    }),
    holds('all configuration is restored from a backup', async (side) => {
      const from = await freshKey(OPEN, 3)(side);
      await ask(side, 'config', {
        name: from,
        min_decryption_version: 2,
        min_encryption_version: 3,
        deletion_allowed: true,
      });
      const name = await freeName();
      await ask(side, 'restore', { 'url:name': name, backup: backupOf(from) });
      expectLike(await ask(side, 'read', { name }), {
        min_decryption_version: 2,
        min_encryption_version: 3,
        deletion_allowed: true,
      });
    }),
    holds('what was encrypted before is decrypted after', async (side) => {
      const from = await freshKey(OPEN)(side);
      const ciphertext = await member('encrypt', { name: from, plaintext: PLAIN }, 'ciphertext')(side);
      const name = await freeName();
      await ask(side, 'restore', { 'url:name': name, backup: backupOf(from) });
      expectLike(await ask(side, 'decrypt', { name, ciphertext }), { plaintext: PLAIN });
    }),
    holds('the HMAC key is restored from a backup', async (side) => {
      const from = await freshKey(OPEN)(side);
      const hmac = await hmacBy(from)(side);
      const name = await freeName();
      await ask(side, 'restore', { 'url:name': name, backup: backupOf(from) });
      expectLike(await ask(side, 'verify', { name, input: PLAIN, hmac }), { valid: true });
    }),
    holds('a key that exists is not overwritten', async (side) => {
      const name = await freshKey(OPEN)(side);
      ok('refusal' in (await outcomeOf(side, 'restore', { backup: backupOf(name) })));
    }),
    holds('force overwrites it', async (side) => {
      const name = await freshKey(OPEN)(side);
      const text = await backupOf(name)(side);
      await ask(side, 'rotate', { name });
      await ask(side, 'restore', { backup: text, force: true });
      expectLike(await ask(side, 'read', { name }), { latest_version: 1 });
    }),
    overHttp('the backup is needed', refuses('', 'restore', { 'url:name': freeName }, /backup/).check),
    refuses('a text that is no backup is refused', 'restore', { 'url:name': freeName, backup: 'told' }),
    ...['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'aes128-gcm96', 'chacha20-poly1305'].map(
      (type) =>
        holds(`a key of type ${type} is restored from its backup`, async (side) => {
          const name = await freeName();
          await ask(side, 'restore', { 'url:name': name, backup: backupOf(freshKey({ type, ...OPEN })) });
          expectLike(await ask(side, 'read', { name }), { type });
        }),
    ),
  ],
};

const trimmed =
  (settings: Params) =>
  async (side: Side): Promise<string> => {
    const name = await freshKey({}, 4)(side);
    await ask(side, 'config', { name, ...settings });
    return name;
  };

const trim: Chapter = {
  title: 'Trim key',
  rows: [
    holds('versions below min_available_version are deleted', async (side) => {
      const name = await trimmed({ min_decryption_version: 3, min_encryption_version: 3 })(side);
      await ask(side, 'trim', { name, min_available_version: 3 });
      const { keys, min_available_version: lowest } = (await ask(side, 'read', { name })) as Params;
      ok(Object.keys(keys as object).join() === '3,4' && lowest === 3);
    }),
    holds('they are deleted for good', async (side) => {
      const name = await freshKey({}, 1)(side);
      const ciphertext = await member('encrypt', { name, plaintext: PLAIN }, 'ciphertext')(side);
      await ask(side, 'rotate', { name });
      await ask(side, 'config', { name, min_decryption_version: 2, min_encryption_version: 2 });
      await ask(side, 'trim', { name, min_available_version: 2 });
      ok('refusal' in (await outcomeOf(side, 'config', { name, min_decryption_version: 1 })));
      ok('refusal' in (await outcomeOf(side, 'decrypt', { name, ciphertext })));
    }),
    refuses('min_available_version may not be above min_decryption_version', 'trim', {
      name: trimmed({ min_decryption_version: 2, min_encryption_version: 4 }),
      min_available_version: 3,
    }),
    refuses('min_available_version may not be above min_encryption_version', 'trim', {
      name: trimmed({ min_decryption_version: 3, min_encryption_version: 3 }),
      min_available_version: 4,
    }),
    refuses(
      'nothing is trimmed while min_encryption_version is 0',
      'trim',
      {
        name: trimmed({ min_decryption_version: 3 }),
        min_available_version: 2,
      },
      /min/,
    ),
    refuses(
      'nothing is trimmed while no minimum was set',
      'trim',
      { name: freshKey({}, 2), min_available_version: 1 },
      /min/,
    ),
    overHttp(
      'min_available_version is needed',
      refuses('', 'trim', { name: freshKey({}, 2) }, /min_available_version/).check,
    ),
    refuses('a key that is not there is not trimmed', 'trim', { name: freeName, min_available_version: 1 }),
  ],
};

const cache: Chapter = {
  title: 'Cache configuration',
  rows: [
    gives(
      'the size is 0 (unlimited) unless it is set',
      'read cache',
      {},
      { size: (size: unknown) => size === 0 || size === 45 },
    ),
    holds('the size can be set, and is answered', async (side) => {
      await ask(side, 'configure cache', { size: 45 });
      expectLike(await ask(side, 'read cache'), { size: 45 });
      await ask(side, 'configure cache', { size: 0 });
      expectLike(await ask(side, 'read cache'), { size: 0 });
    }),
    refuses('a size below 0 is refused', 'configure cache', { size: -1 }),
  ],
};

export const transitBackup: readonly Chapter[] = [backup, trim, cache];
