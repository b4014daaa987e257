import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FileLock } from '../../../../src/store/backends/files/file-lock.ts';
import { storeIdOf } from '../../../../src/store/backends/files/header-format.ts';
import { Layout } from '../../../../src/store/backends/files/layout.ts';
import { checkpoint } from '../../../../src/store/backends/files/log/checkpoint.ts';
import { Log } from '../../../../src/store/backends/files/log/log.ts';
import { StateDirectory } from '../../../../src/store/backends/files/state-directory.ts';
import { wrapFileSystem } from '../../../faults/layer/functions.ts';
import { arm, disarm, install } from '../../../faults/layer/layer.ts';
import type { Fault } from '../../../faults/layer/plan.ts';
import { temporaryDirectory } from '../../temporary-store.ts';
import {
  commit,
  commitMany,
  commitQuietly,
  document,
  logFile,
  logFiles,
  loggedStore,
  nameOf,
  nameState,
  opened,
  put,
  remove,
  seenIn,
  stateOf,
} from './logged-store.ts';

const FULL = 256;
/** So long that a change of it fills a file of the log. */
const LONG = 'x'.repeat(1_100_000);
/** More steps than a change takes that begins a file of the log. */
const STEPS = 16;
const documentsIn = (directory: string): readonly string[] =>
  readdirSync(join(directory, 'generation-1', 'documents')).sort();

/** Runs `work` while calls that change something below a directory fail. */
async function failing<T>(root: string, at: number, fault: Fault, work: () => Promise<T>): Promise<T> {
  install(wrapFileSystem);
  arm({ root, watch: 'changes', at, fault });
  try {
    return await work();
  } finally {
    disarm();
  }
}

describe('a checkpoint', () => {
  it('moves what the oldest file says into the documents, the last of each, and deletes the file', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'first'), put('bb', 'gone'), put('cc', 'one'));
    await commitQuietly(directory, FULL - 2);
    await commit(backend, put('aa', 'last'), remove('bb'));
    await commit(backend, put('cc', 'newer'));
    const before = await seenIn(directory);
    expect(await checkpoint(directory)).toBe('done');
    expect(logFiles(directory)).toEqual(['2']);
    expect(readFileSync(join(directory, 'generation-1', 'documents', 'aa'), 'utf8')).toBe('last');
    // What is newer is still in the log.
    expect(readFileSync(join(directory, 'generation-1', 'documents', 'cc'), 'utf8')).toBe('one');
    expect(documentsIn(directory)).not.toContain('bb');
    expect(await seenIn(directory)).toEqual(before);
    expect(await checkpoint(directory)).toBe('nothing');
    await commit(backend, put('dd', 'next'));
    expect((await seenIn(directory)).documents).toEqual({ ...before.documents, dd: 'next' });
  });

  it('leaves the newest file alone, unless nothing changes any more', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    expect(await checkpoint(directory)).toBe('nothing');
    expect(await checkpoint(directory, { isIdle: true })).toBe('done');
    expect([logFiles(directory), documentsIn(directory)]).toEqual([['2'], ['aa']]);
    expect(await checkpoint(directory, { isIdle: true })).toBe('nothing');
    await commit(backend, put('aa', 'two'));
    expect(await seenIn(directory)).toEqual({ revision: 2, documents: { aa: 'two' } });
  });

  it('waits for no writer, and for no other checkpoint', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    for (const lock of ['lock', 'log/lock']) {
      await FileLock.holdOnce(join(directory, lock), 1000, async () => {
        expect(await checkpoint(directory, { isIdle: true })).toBe('held');
      });
    }
    expect(logFiles(directory)).toEqual(['1']);
  });

  it('is done again as a whole after it failed or was interrupted anywhere', async () => {
    for (let at = 1; ; at++) {
      const { directory, backend } = await loggedStore();
      await commit(backend, put('aa', 'one'), put('bb', 'two'));
      await commit(backend, remove('bb'), remove('never'));
      const before = await seenIn(directory);
      const fault = {
        kind: 'failure',
        code: 'EIO',
        lasting: ['create', 'write', 'sync', 'rename', 'unlink'],
      } as const;
      const outcome = await failing(directory, at, fault, () =>
        checkpoint(directory, { isIdle: true }),
      ).catch((error: unknown) => error);
      expect(await seenIn(directory)).toEqual(before);
      await commit(backend, put('cc', 'three'));
      while ((await checkpoint(directory, { isIdle: true })) === 'done');
      const { documents } = await seenIn(directory);
      expect(documents).toEqual({ ...before.documents, cc: 'three' });
      expect(documentsIn(directory)).toEqual(['aa', 'cc']);
      if (outcome === 'done') break;
      expect(at).toBeLessThan(100);
    }
  });

  it('finds each file as it was when it got its name, whatever failed then for whoever made it', async () => {
    const full = await loggedStore();
    await commit(full.backend, put('aa', LONG));
    full.backend.close();
    for (const lasting of [[], ['create', 'sync']] as const) {
      for (let at = 1; at <= STEPS; at++) {
        const directory = join(temporaryDirectory(), 'store');
        cpSync(full.directory, directory, { recursive: true });
        const calls: string[] = [];
        const done = (name: string, paths: readonly unknown[]): void => {
          if (/^(rename|unlink|rm)/.test(name) && paths.includes(logFile(directory, 2))) calls.push(name);
        };
        const fault = { kind: 'failure', code: 'EMFILE', lasting } as const;
        let hasFailed = false;
        await opened(directory).exclusive(async (session) => {
          install(wrapFileSystem);
          arm({ root: directory, watch: 'changes', at, fault }, { done, begun: () => undefined });
          hasFailed = await session
            .commit([put('bb', 'first')])
            .then(() => false)
            .catch(() => true)
            .finally(disarm);
          // Another process relies on the file, if it has its name.
          expect(await checkpoint(directory)).toBe(existsSync(logFile(directory, 2)) ? 'done' : 'nothing');
          if (hasFailed && !existsSync(logFile(directory))) await session.commit([put('bb', 'again')]);
        });
        expect(calls.filter((name) => !name.startsWith('rename'))).toEqual([]);
        expect(calls.length).toBeLessThan(2);
        await commit(opened(directory), put('cc', 'next'));
        const { documents } = await seenIn(directory);
        expect([documents['aa']?.length, documents['cc']]).toEqual([LONG.length, 'next']);
      }
    }
  });

  it('reads the log again if another copy of the store is there since it was read', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    const copy = join(temporaryDirectory(), 'store');
    cpSync(directory, copy, { recursive: true });
    await commit(backend, put('bb', 'a long content'), put('cc', 'two'));
    backend.close();
    const state = new StateDirectory(directory);
    state.read();
    const header = readFileSync(join(directory, 'coffer.json'));
    const { history } = state;
    rmSync(directory, { recursive: true });
    for (const isOfCopy of [false, true]) {
      const known = new Log(new Layout(directory));
      known.storeId = storeIdOf(header);
      cpSync(copy, directory, { recursive: true });
      await commit(opened(directory), put('bb', 'a long content'), put('cc', 'two'));
      known.follow(2);
      rmSync(directory, { recursive: true });
      cpSync(copy, directory, { recursive: true });
      await commit(opened(directory), put('cc', 'other'), put('bb', 'short'));
      // Even if a new state file passes for the one before.
      const present = new StateDirectory(directory);
      present.read();
      known.history = isOfCopy ? present.history : history;
      expect(await checkpoint(directory, { isIdle: true, known })).toBe('done');
      expect(logFiles(directory)).toEqual(['2']);
      expect((await seenIn(directory)).documents).toEqual({ aa: 'one', bb: 'short', cc: 'other' });
      rmSync(directory, { recursive: true });
    }
  });

  it('drops the files of a generation that is over, once the next one has a file', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    await backend.exclusive((session) =>
      session.replaceGeneration(
        (async function* () {
          yield { ref: document('bb'), bytes: Buffer.from('two') };
        })(),
      ),
    );
    expect(await checkpoint(directory)).toBe('nothing');
    await commit(backend, put('cc', 'three'));
    expect(logFiles(directory)).toEqual(['1', '2']);
    expect(await checkpoint(directory)).toBe('done');
    expect(logFiles(directory)).toEqual(['2']);
    expect(await seenIn(directory)).toEqual({ revision: 3, documents: { bb: 'two', cc: 'three' } });
    expect(readdirSync(directory)).not.toContain('generation-1');
  });

  it('deletes a file that came back below a gap, and reads nothing of it', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'old'));
    const old = readFileSync(logFile(directory));
    while ((await checkpoint(directory, { isIdle: true })) === 'done');
    await commit(backend, put('aa', 'new'));
    while ((await checkpoint(directory, { isIdle: true })) === 'done');
    writeFileSync(logFile(directory), old, { mode: 0o600 });
    expect((await seenIn(directory)).documents).toEqual({ aa: 'new' });
    expect(await checkpoint(directory)).toBe('done');
    expect(logFiles(directory)).toEqual(['3']);
  });

  it('leaves a file that goes on above the state', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, FULL + 1);
    nameState(directory, 'log-1-100');
    expect(await checkpoint(directory)).toBe('nothing');
    expect(logFiles(directory)).toEqual(['1', '2']);
    expect((await seenIn(directory)).revision).toBe(FULL + 1);
    expect(stateOf(directory)).toBe(`log-1-${FULL + 1}`);
  });
});

describe('a log with two full files', () => {
  it('is emptied by the writer who needs room', async () => {
    const { directory, backend } = await loggedStore();
    const quiet = opened(directory);
    for (let i = 0; i < 3 * FULL; i++) await commit(i % 2 === 0 ? backend : quiet, put(nameOf(i), String(i)));
    expect(logFiles(directory).length).toBeLessThanOrEqual(2);
    expect(Object.keys((await seenIn(directory)).documents)).toHaveLength(3 * FULL);
  });

  /** A store whose log has no room for another change. */
  async function fullStore(lockWaitMs: number) {
    const { directory, backend } = await loggedStore({ lockWaitMs });
    const held = FileLock.holdOnce(join(directory, 'log', 'lock'), 1000, () => commitMany(backend, 2 * FULL));
    await held;
    return { directory, backend };
  }

  it('lets writers wait for whoever empties it, and names that one', async () => {
    const { directory, backend } = await fullStore(150);
    await FileLock.holdOnce(join(directory, 'log', 'lock'), 1000, async () => {
      await expect(commit(backend, put('aa', 'x'))).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/^timed out after \d+s waiting for .*log\/lock, held by this process/),
      });
      expect((await seenIn(directory)).revision).toBe(2 * FULL);
    });
    // With more time: it empties a whole file.
    await commit(opened(directory), put('aa', 'x'));
    expect((await seenIn(directory)).documents['aa']).toBe('x');
  });

  it('refuses writers with the reason why it cannot be emptied, and readers read on', async () => {
    const { directory, backend } = await fullStore(1500);
    const blocked = join(directory, 'generation-1', 'documents', `${nameOf(3)}.new`);
    mkdirSync(blocked);
    await expect(commit(backend, put('aa', 'x'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('is full, and cannot be emptied: cannot write'),
    });
    expect((await seenIn(directory)).revision).toBe(2 * FULL);
    rmSync(blocked, { recursive: true });
    await commit(opened(directory), put('aa', 'x'));
    expect((await seenIn(directory)).revision).toBe(2 * FULL + 1);
  });
});

describe('a process that makes many changes', () => {
  it('prepares the next file, and empties full ones, before anybody has to wait for it', async () => {
    const { directory, backend } = await loggedStore();
    await commitMany(backend, FULL / 2 + 1);
    await vi.waitUntil(() => existsSync(join(directory, 'log', 'spare')), { timeout: 10_000, interval: 5 });
    await commitMany(backend, FULL / 2);
    expect(logFiles(directory)).toContain('2');
    await vi.waitUntil(() => logFiles(directory).join() === '2', { timeout: 10_000, interval: 5 });
  });
});
