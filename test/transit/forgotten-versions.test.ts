import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endWork } from '../../src/ground/before-exit.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { writeBackup } from '../../src/transit/backup/backup-key.ts';
import { restoreKey } from '../../src/transit/backup/restore-key.ts';
import { configureKey } from '../../src/transit/configuration.ts';
import { type Engine, engineOf } from '../../src/transit/engine.ts';
import { destroyVersion, reinstateVersion, revokeVersion } from '../../src/transit/revocation.ts';
import { rotateKey, trimKey } from '../../src/transit/rotation.ts';
import { newStoreDirectory, openWithKey } from '../store/temporary-store.ts';
import { FIXED_TIME_MS, TEST_MOUNT } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, storeKey } from './known-key.ts';

const five = knownKey(
  'aes256-gcm96',
  Array.from({ length: 5 }, () => knownVersion(KEY_32)),
  { minDecryptionVersion: 3, minEncryptionVersion: 4 },
);

/** Uses a store as a command does: on a handle of its own, and what is left to do is done before it ends. */
async function asCommand(directory: string, work: (engine: Engine) => Promise<unknown>): Promise<void> {
  const store = await openWithKey(directory);
  const clock = { now: () => FIXED_TIME_MS };
  await work(engineOf({ store, clock, random: systemRandom, mount: TEST_MOUNT, dialect: 'service' }));
  store.close();
  await endWork();
}

/** Whether the log of a store has any change. */
function isLogged(directory: string): boolean {
  const files = readdirSync(join(directory, 'log')).filter((name) => /^\d+$/.test(name));
  return files.some((name) =>
    readFileSync(join(directory, 'log', name))
      .subarray(4096)
      .some(Boolean),
  );
}

/** Returns whether a store that only commands use still has changes in its log after one of them. */
async function isLoggedAfter(...works: ((engine: Engine) => Promise<unknown>)[]): Promise<boolean> {
  const directory = await newStoreDirectory();
  await asCommand(directory, (engine) => storeKey(engine, five));
  for (const work of works) {
    expect(isLogged(directory)).toBe(true);
    await asCommand(directory, work);
  }
  return isLogged(directory);
}

const rotate = (engine: Engine) => rotateKey(engine, 'known', false);
const destroy = (engine: Engine) => destroyVersion(engine, 'known', 2);

describe('versions of a key that a command deletes', () => {
  it.each<[string, (engine: Engine) => Promise<unknown>]>([
    ['trimming it', (engine) => trimKey(engine, 'known', 3)],
    ['destroying one of them', destroy],
    [
      'adding one more than it keeps',
      async (engine) => {
        await configureKey(engine, 'known', { minEncryptionVersion: 0, keepVersions: 2, autoTrim: true });
        await rotate(engine);
      },
    ],
    [
      'restoring it over the one that is there',
      async (engine) => restoreKey(engine, { backup: await writeBackup(five), force: true }),
    ],
  ])('are not in the log after %s', async (_, work) => {
    expect(await isLoggedAfter(work)).toBe(false);
  });

  it('are not in the log if they were revoked before', async () => {
    const revoke = (engine: Engine) => revokeVersion(engine, 'known', 2);
    expect(await isLoggedAfter(revoke, destroy)).toBe(false);
  });
});

describe('versions of a key that no command deletes', () => {
  it('may be in the log as they were, whatever becomes of them, and after others were deleted', async () => {
    const directory = await newStoreDirectory();
    await asCommand(directory, (engine) => storeKey(engine, five));
    await asCommand(directory, destroy);
    expect(isLogged(directory)).toBe(false);
    for (const work of [
      rotate,
      (engine: Engine) => revokeVersion(engine, 'known', 3),
      (engine: Engine) => reinstateVersion(engine, 'known', 3),
    ]) {
      const files = readdirSync(join(directory, 'log'));
      await asCommand(directory, work);
      expect([isLogged(directory), readdirSync(join(directory, 'log'))]).toEqual([true, files]);
    }
  });
});
