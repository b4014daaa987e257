import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { storeIdOf } from '../../../../src/store/backends/files/header-format.ts';
import { Layout } from '../../../../src/store/backends/files/layout.ts';
import { checkpoint } from '../../../../src/store/backends/files/log/checkpoint.ts';
import { makeFile } from '../../../../src/store/backends/files/log/next-file.ts';
import {
  commit,
  commitQuietly,
  logFile,
  logFiles,
  loggedStore,
  opened,
  put,
  seenIn,
} from './logged-store.ts';

const FULL = 256;

describe('a missing file of the log', () => {
  it('is noticed if it is the oldest, but not once the documents have what was in it', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, FULL + 1);
    const seen = await seenIn(directory);
    expect(await checkpoint(directory)).toBe('done');
    expect(logFiles(directory)).toEqual(['2']);
    expect(await seenIn(directory)).toEqual(seen);
    await commitQuietly(directory, FULL);
    rmSync(logFile(directory, 2));
    const missing = { kind: 'corrupt', message: `${logFile(directory, 2)} is missing` };
    await expect(opened(directory).state()).rejects.toMatchObject(missing);
    await expect(commit(opened(directory), put('aa', 'one'))).rejects.toMatchObject(missing);
  });

  it('is noticed if it is in the middle, and a checkpoint keeps those below it', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, FULL + 1);
    const about = {
      isFirst: false,
      generation: 1,
      base: FULL + 1,
      storeId: storeIdOf(Buffer.from('header')),
    };
    await makeFile(new Layout(directory), 3, about);
    rmSync(logFile(directory, 2));
    expect(await checkpoint(directory).catch((error: unknown) => error)).not.toBe('done');
    expect(logFiles(directory)).toEqual(['1', '3']);
  });
});
