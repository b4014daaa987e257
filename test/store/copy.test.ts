import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { copyStore } from '../../src/store/administration/copy.ts';
import { examineStore } from '../../src/store/administration/repair.ts';
import { FilesBackend } from '../../src/store/backends/files/files-backend.ts';
import { builtCommand } from '../built.ts';
import { KEY, newStoreDirectory, openWithKey, rawCredential, temporaryDirectory } from './temporary-store.ts';

it('a copy has everything that another process wrote while it was made', async () => {
  const from = await newStoreDirectory();
  const store = await openWithKey(from);
  await store.transact((tx) => {
    for (let i = 0; i < 5; i++) tx.put({ collection: 'things', id: `id${i}` }, { i });
  });
  store.close();
  const to = join(temporaryDirectory(), 'copy');
  const env = { COFFER_STORE: from, COFFER_MASTER_KEY: Buffer.from(KEY).toString('base64') };
  let files = 0;
  const summary = await copyStore({
    from,
    to,
    onProgress() {
      // After the list of files was read, and most of them are still to be copied.
      if (++files === 2)
        execFileSync(process.execPath, [builtCommand(), 'transit', 'keys', 'create', 'late'], { env });
    },
  });
  const { findings, checked } = await examineStore({ location: to, credentials: [rawCredential()] });
  expect(findings).toEqual([]);
  // The header is no file of the copy's summary.
  expect(checked).toBe(summary.files + 1);
  const list = execFileSync(process.execPath, [builtCommand(), 'transit', 'keys', 'list'], {
    env: { ...env, COFFER_STORE: to },
  });
  expect(list.toString()).toBe('late\n');
});

it('a copy is given up after four attempts, while other processes keep writing', async () => {
  const from = await newStoreDirectory();
  const to = join(temporaryDirectory(), 'copy');
  let revision = 0;
  vi.spyOn(FilesBackend.prototype, 'state').mockImplementation(async () => ({
    generation: 1,
    revision: revision++,
  }));
  let files = 0;
  await expect(copyStore({ from, to, onProgress: () => files++ })).rejects.toMatchObject({
    kind: 'unavailable',
    message: `cannot copy ${from}: other processes keep writing to it`,
    hint: 'stop the servers that use the store, then run the command again to continue',
    cause: { message: `another process wrote to ${from} during the copy` },
  });
  // The slot, the list of slots and that of collections, each time.
  expect(files).toBe(4 * 3);
  expect(existsSync(join(to, 'coffer.json'))).toBe(false);
});
