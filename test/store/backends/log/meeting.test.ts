import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { endWork } from '../../../../src/ground/before-exit.ts';
import { pause } from '../../../../src/ground/pause.ts';
import { Layout } from '../../../../src/store/backends/files/layout.ts';
import { Log } from '../../../../src/store/backends/files/log/log.ts';
import { makeFile } from '../../../../src/store/backends/files/log/next-file.ts';
import {
  commit,
  logFile,
  loggedStore,
  nameState,
  opened,
  put,
  recordsIn,
  remove,
  seenIn,
} from './logged-store.ts';

/** Lets looks at the log find that files were deleted since they were listed. */
function disappearing() {
  const spy = vi.spyOn(Log.prototype, 'follow');
  onTestFinished(() => spy.mockRestore());
  return spy;
}

describe('a log that is another one at each look', () => {
  it('keeps a process that opens the store from nothing else, and is shown as soon as it stays', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    // A glance is not enough where something is above the state.
    nameState(directory, 'log-1-0');
    const follow = disappearing().mockReturnValue(false);
    const state = opened(directory).state();
    await pause(200);
    expect(follow.mock.calls.length).toBeGreaterThan(2);
    expect(follow.mock.calls.length).toBeLessThan(100);
    follow.mockRestore();
    expect(await state).toMatchObject({ revision: 1 });
  });

  it('is given up after ten seconds', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    nameState(directory, 'log-1-0');
    const follow = disappearing().mockReturnValue(false);
    const begin = process.uptime();
    const state = opened(directory).state();
    // What reads more than a glance tells is loaded first.
    await vi.waitUntil(() => follow.mock.calls.length > 0, { timeout: 20_000 });
    const spy = vi.spyOn(process, 'uptime').mockReturnValue(begin + 12);
    onTestFinished(() => spy.mockRestore());
    await expect(state).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/^cannot read .*log: other processes keep writing to it$/),
    });
  });

  it('is emptied nevertheless before a process ends that has removed something', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'secret'));
    await commit(backend, remove('aa'));
    const follow = disappearing().mockReturnValueOnce(false);
    await endWork();
    expect(follow).toHaveBeenCalled();
    expect(recordsIn(logFile(directory, 2))).toEqual([]);
    expect((await seenIn(directory)).documents).toEqual({});
  });
});

describe('a file of the log', () => {
  it('counts once, although a look finds it while it is being made', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    const layout = new Layout(directory);
    const log = new Log(layout);
    log.storeId = Buffer.from('0123456789abcdef0123456789abcdef', 'hex');
    const file = await makeFile(layout, 2, {
      isFirst: false,
      generation: 1,
      base: 1,
      storeId: log.storeId,
    });
    expect(log.follow(1)).toBe(true);
    log.add(file);
    expect(log.files.map(({ number }) => number)).toEqual([1, 2]);
    expect(log.newest).toBe(file);
  });
});
