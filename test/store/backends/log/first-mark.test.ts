/** The name in the directory of a log that says which of its files is the first one that is needed. */
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkpoint } from '../../../../src/store/backends/files/log/checkpoint.ts';
import { wrapFileSystem } from '../../../faults/layer/functions.ts';
import { arm, disarm, install } from '../../../faults/layer/layer.ts';
import { commit, logFile, loggedStore, opened, put, seenIn } from './logged-store.ts';

/** So long that a change of it fills a file of the log. */
const LONG = 'x'.repeat(1_100_000);

const firstsIn = (directory: string): readonly string[] =>
  readdirSync(join(directory, 'log')).filter((name) => name.startsWith('first-'));
const mark = (directory: string, number: number): string => join(directory, 'log', `first-${number}`);
const mark9 = (directory: string): void => writeFileSync(mark(directory, 9), '', { mode: 0o600 });

/** A store whose log has been emptied once: its oldest file is the second. */
async function emptiedOnce(): Promise<string> {
  const { directory, backend } = await loggedStore();
  await commit(backend, put('aa', LONG));
  await commit(backend, put('bb', 'one'));
  expect(await checkpoint(directory)).toBe('done');
  return directory;
}

/** The same, of which every document but one is in the third file. */
async function emptiedTwice(): Promise<string> {
  const directory = await emptiedOnce();
  await commit(opened(directory), put('aa', LONG));
  await commit(opened(directory), put('cc', 'two'));
  expect(await checkpoint(directory)).toBe('done');
  return directory;
}

describe('the name of the first file of a log that is needed', () => {
  it('is that of the oldest one, once an older one was emptied, and no stray', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', LONG));
    await commit(backend, put('bb', LONG));
    expect(firstsIn(directory)).toEqual([]);
    for (const number of [2, 3, 4]) {
      expect(await checkpoint(directory, { isIdle: true })).toBe('done');
      expect(firstsIn(directory)).toEqual([`first-${number}`]);
      expect(readFileSync(mark(directory, number))).toHaveLength(0);
      await commit(backend, put('cc', 'next'));
    }
    expect(await backend.strays()).toEqual([]);
    expect(await backend.flaws()).toEqual([]);
  });

  it('is not in the file itself: a checkpoint neither opens nor syncs what writers append to', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', LONG));
    await commit(backend, put('bb', 'one'));
    backend.close();
    const before = readFileSync(logFile(directory, 2));
    const changed: unknown[] = [];
    const note = (name: string, [path, flags]: readonly unknown[]): void => {
      if (name === 'open' && path === logFile(directory, 2) && Number(flags) !== 0) changed.push(flags);
    };
    install(wrapFileSystem);
    arm({ root: directory, watch: 'changes' }, { done: note, begun: () => undefined });
    expect(await checkpoint(directory).finally(disarm)).toBe('done');
    expect(changed.filter((flags) => (Number(flags) & 3) !== 0)).toEqual([]);
    expect(readFileSync(logFile(directory, 2))).toEqual(before);
  });

  it.each<[string, (directory: string) => void]>([
    ['lost', (directory) => rmSync(mark(directory, 3))],
    ['that of an older file', (directory) => renameSync(mark(directory, 3), mark(directory, 2))],
  ])('that is %s lets the log count as one whose oldest file is missing', async (_, change) => {
    const directory = await emptiedTwice();
    change(directory);
    const missing = { kind: 'corrupt', message: `${logFile(directory, 2)} is missing` };
    await expect(commit(opened(directory), put('aa', 'one'))).rejects.toMatchObject(missing);
    expect(await checkpoint(directory)).toBe('nothing');
    const mended = await opened(directory).repair(async () => 1);
    expect(mended.map(({ done }) => done)).toContain('is missing: its changes are lost');
    expect((await seenIn(directory)).documents).toEqual({ aa: LONG, bb: 'one', cc: 'two' });
  });

  it('counts beside others that somebody has put there, which the next checkpoint deletes', async () => {
    const directory = await emptiedTwice();
    for (const number of [1, 2]) copyFileSync(mark(directory, 3), mark(directory, number));
    const { documents } = await seenIn(directory);
    expect(documents).toEqual({ aa: LONG, bb: 'one', cc: 'two' });
    mark9(directory);
    expect(await seenIn(directory)).toMatchObject({ documents });
    expect(await checkpoint(directory, { isIdle: true })).toBe('done');
    expect(firstsIn(directory)).toEqual(['first-4']);
  });

  it('is there before the older file goes, which may be left behind', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', LONG));
    await commit(backend, put('aa', 'newer'));
    backend.close();
    const old = join(directory, 'old');
    copyFileSync(logFile(directory), old);
    expect(await checkpoint(directory)).toBe('done');
    // As after a power cut, or when whoever empties the log is killed.
    renameSync(old, logFile(directory));
    expect((await seenIn(directory)).documents).toEqual({ aa: 'newer' });
    await commit(opened(directory), put('bb', 'one'));
    expect(await checkpoint(directory)).toBe('done');
    expect([existsSync(logFile(directory)), firstsIn(directory)]).toEqual([false, ['first-2']]);
    expect((await seenIn(directory)).documents).toEqual({ aa: 'newer', bb: 'one' });
  });

  it('is not that of a file which a repair makes, however high it is', async () => {
    const directory = await emptiedTwice();
    rmSync(logFile(directory, 3));
    mark9(directory);
    await opened(directory).repair(async () => 1);
    await commit(opened(directory), put('aa', LONG));
    await commit(opened(directory), put('bb', 'two'));
    const numbers = readdirSync(join(directory, 'log')).filter((name) => /^\d+$/.test(name));
    expect(numbers.map(Number).sort((a, b) => a - b)).toEqual([11, 12]);
    rmSync(logFile(directory, 11));
    await expect(commit(opened(directory), put('cc', 'x'))).rejects.toMatchObject({
      message: `${logFile(directory, 11)} is missing`,
    });
  });
});
