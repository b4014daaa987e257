import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { copyStore } from '../../src/store/administration/copy.ts';
import { examineStore } from '../../src/store/administration/doctor.ts';
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
