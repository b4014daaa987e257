import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { pause } from '../../../../src/ground/pause.ts';
import { FileLock } from '../../../../src/store/backends/files/file-lock.ts';
import { Log } from '../../../../src/store/backends/files/log/log.ts';
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
