import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { pause } from '../../../../src/ground/pause.ts';
import { FileLock } from '../../../../src/store/backends/files/file-lock.ts';
import { storeIdOf } from '../../../../src/store/backends/files/header-format.ts';
import { Layout } from '../../../../src/store/backends/files/layout.ts';
import { Log } from '../../../../src/store/backends/files/log/log.ts';
import { makeFile } from '../../../../src/store/backends/files/log/next-file.ts';
import { wrapFileSystem } from '../../../faults/layer/functions.ts';
import { arm, disarm, install } from '../../../faults/layer/layer.ts';
import { isLong } from '../../../long.ts';
import { temporaryDirectory } from '../../temporary-store.ts';
import { estrange, flipped, found, withHistory } from './damaging.ts';
import { commit, logFile, loggedStore, opened, put, recordsIn, seenIn, stateOf } from './logged-store.ts';

const LASTING = [
  'create',
  'reopen',
  'write',
  'sync',
  'rename',
  'link',
  'unlink',
  'rmdir',
  'mkdir',
  'truncate',
  'attributes',
] as const;

/** Runs `work`, in which every change below a directory fails from a step on. @returns whether none was left to fail */
async function failing(root: string, at: number, work: () => Promise<unknown>): Promise<boolean> {
  install(wrapFileSystem);
  arm({ root, watch: 'changes', at, fault: { kind: 'failure', code: 'EIO', lasting: LASTING } });
  try {
    await work();
    return true;
  } catch {
    return false;
  } finally {
    disarm();
  }
}

describe('the repair of a log', () => {
  it('touches nothing of it while the header is damaged', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    await commit(backend, put('bb', 'two'));
    const header = join(directory, 'coffer.json');
    const whole = flipped(header, 90, 1);
    const log = readFileSync(logFile(directory));
    expect(await opened(directory).repair(async () => 1)).toEqual([]);
    expect(readFileSync(logFile(directory))).toEqual(log);
    writeFileSync(header, whole);
    expect(await seenIn(directory)).toEqual({ revision: 2, documents: { aa: 'one', bb: 'two' } });
  });

  it('touches nothing of it if the header is that of another store', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    const log = readFileSync(logFile(directory));
    estrange(logFile(directory));
    const other = readFileSync(logFile(directory));
    await expect(opened(directory).repair(async () => 1)).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining('belongs to another store'),
    });
    expect(readFileSync(logFile(directory))).toEqual(other);
    writeFileSync(logFile(directory), log);
    expect(await seenIn(directory)).toEqual({ revision: 1, documents: { aa: 'one' } });
  });

  it('waits for whoever moves changes to the documents', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    let isDone = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = FileLock.holdOnce(join(directory, 'log', 'lock'), 1000, () => promise);
    const repair = opened(directory)
      .repair(async () => 1)
      .then(() => {
        isDone = true;
      });
    await pause(50);
    expect(isDone).toBe(false);
    // Writers go on meanwhile.
    await commit(backend, put('bb', 'two'));
    resolve();
    await held;
    await repair;
    expect(await seenIn(directory)).toEqual({ revision: 2, documents: { aa: 'one', bb: 'two' } });
  });

  it('lets whoever has the write lock wait for room, which others make meanwhile', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    const { promise, resolve } = Promise.withResolvers<void>();
    const written = backend.exclusive(() => promise);
    const repair = opened(directory).repair(async () => 1);
    // As a checkpoint does that makes room.
    await FileLock.holdOnce(join(directory, 'log', 'lock'), 10_000, async () => undefined);
    await pause(50);
    await FileLock.holdOnce(join(directory, 'log', 'lock'), 10_000, async () => undefined);
    resolve();
    await written;
    expect(await repair).toEqual([]);
  });

  it('keeps what is in a file above the base of the next one, which has nothing', async () => {
    const { directory, backend } = await loggedStore();
    for (const text of ['1', '2', '3', '4', '5'])
      await commit(backend, put('aa', text), put(`0${text}`, text));
    backend.close();
    const storeId = storeIdOf(readFileSync(join(directory, 'coffer.json')));
    await makeFile(new Layout(directory), 2, { isFirst: false, generation: 1, base: 1, storeId });
    await expect(commit(opened(directory), put('bb', '6'))).rejects.toMatchObject({ kind: 'corrupt' });
    const mended = await opened(directory).repair(async () => 1);
    expect(mended.map(({ done }) => done)).toEqual([
      'was damaged or missing, and was replaced: everything that could still be read is kept',
    ]);
    const { documents } = await seenIn(directory);
    expect(documents).toEqual({ aa: '5', '01': '1', '02': '2', '03': '3', '04': '4', '05': '5' });
  });

  it('takes a file that a checkpoint deletes meanwhile for no damage', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    const follow = vi.spyOn(Log.prototype, 'follow').mockReturnValueOnce(false);
    expect(await opened(directory).repair(async () => 1)).toEqual([]);
    follow.mockRestore();
    expect(stateOf(directory)).toBe('log-1-1');
  });

  it('that is killed at any step is done again, without losing anything', async () => {
    const { directory, after } = await withHistory();
    const latest = after.at(-1) ?? new Map<string, string>();
    flipped(logFile(directory, 2), (recordsIn(logFile(directory, 2))[3]?.begin ?? 0) + 50, 1);
    const aside = join(temporaryDirectory(), 'aside');
    for (let step = 0, isThrough = false; !isThrough; step += isLong ? 1 : 5) {
      rmSync(aside, { recursive: true, force: true });
      cpSync(directory, aside, { recursive: true });
      const backend = opened(aside);
      isThrough = await failing(aside, step, () => backend.repair(async () => 1));
      await opened(aside).repair(async () => 1);
      const shown = await found(aside, latest.keys());
      for (const [name, text] of latest)
        if (name !== '02') expect(shown.get(name), `step ${step}: ${name}`).toBe(text);
      await commit(opened(aside), put('0f', 'goes on'));
    }
  });
});
