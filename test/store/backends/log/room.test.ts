import { execFileSync } from 'node:child_process';
import { closeSync, copyFileSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { endWork } from '../../../../src/ground/before-exit.ts';
import { elapsedMs } from '../../../../src/ground/clock.ts';
import { FileLock } from '../../../../src/store/backends/files/file-lock.ts';
import { checkpoint } from '../../../../src/store/backends/files/log/checkpoint.ts';
import type { PutJob } from '../../../../src/store/backends/files/log/put-blobs.ts';
import { besideOrBetween } from '../../../../src/store/backends/whole-store.ts';
import { wrapFileSystem } from '../../../faults/layer/functions.ts';
import { arm, disarm, install } from '../../../faults/layer/layer.ts';
import { rounds } from '../../../long.ts';
import { seeded } from '../../../seeded.ts';
import {
  commit,
  document,
  logFile,
  logFiles,
  loggedStore,
  nameOf,
  opened,
  passing,
  put,
  remove,
  seenBy,
  seenIn,
} from './logged-store.ts';

/** So long that a change of it fills a file of the log. */
const LONG = 'x'.repeat(1_100_000);
/** Time that writers wait here, in milliseconds. */
const SHORT_MS = 150;
const PATIENT_MS = 8000;
/** How long is waited at most, in true time. */
const WITHIN = { timeout: 60_000, interval: 10 };

const documentsIn = (directory: string, generation = 1): string =>
  join(directory, `generation-${generation}`, 'documents');

/** Everything that the files of a log say. */
const saidIn = (directory: string): string =>
  logFiles(directory)
    .map((name) => readFileSync(logFile(directory, Number(name)), 'latin1'))
    .join('');

/** Waits until the log has these files, while half a second of faked timers passes before each look. */
const untilLog = (directory: string, isSo: (files: readonly string[]) => boolean): Promise<boolean> =>
  vi.waitUntil(() => {
    vi.advanceTimersByTime(500);
    return isSo(logFiles(directory));
  }, WITHIN);

/** A store whose log has no room for another change. */
async function fullStore(lockWaitMs?: number) {
  const { directory, backend } = await loggedStore(lockWaitMs === undefined ? {} : { lockWaitMs });
  await commit(backend, put('aa', LONG));
  await commit(backend, put('bb', LONG));
  return { directory, backend };
}

/** A store with a change that no checkpoint can put into its place while a directory is there. */
async function storeWithBlocked() {
  const { directory, backend } = await loggedStore();
  const blocked = join(documentsIn(directory), 'aa.new');
  mkdirSync(blocked);
  await commit(backend, put('aa', 'one'));
  return { directory, backend, blocked };
}

describe('room in the log', () => {
  it('is made where a file came back below a gap, and other work goes on meanwhile', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    const old = join(directory, 'old');
    copyFileSync(logFile(directory), old);
    while ((await checkpoint(directory, { isIdle: true })) === 'done');
    await commit(backend, put('bb', 'two'));
    while ((await checkpoint(directory, { isIdle: true })) === 'done');
    await commit(backend, put('cc', LONG));
    await commit(backend, put('dd', LONG));
    copyFileSync(old, logFile(directory));
    expect(logFiles(directory)).toEqual(['1', '3', '4']);
    const timer = vi.fn();
    setImmediate(timer);
    await commit(opened(directory), put('ee', 'last'));
    expect(timer).toHaveBeenCalled();
    const { documents } = await seenIn(directory);
    expect(Object.keys(documents)).toEqual(['aa', 'bb', 'cc', 'dd', 'ee']);
    expect(logFiles(directory)).not.toContain('1');
  });

  it('is waited for as long as for the lock, while others keep filling it', async () => {
    const { directory } = await fullStore();
    await FileLock.holdOnce(join(directory, 'log', 'lock'), 1000, async () => {
      await expect(
        opened(directory, { lockWaitMs: SHORT_MS }).exclusive((session) => session.commit([put('cc', 'x')])),
      ).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('log/lock') });
      const brief = opened(directory).exclusive((session) => session.commit([put('cc', 'x')]), { waitMs: 1 });
      await expect(brief).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/^timed out after 0s waiting for .*log\/lock/),
      });
    });
  });

  it('is found for each change of a session that makes many, in three files at most', async () => {
    const { directory, backend } = await loggedStore();
    const most = await backend.exclusive(async (session) => {
      let files = 0;
      for (let i = 0; i < 5; i++) {
        await session.commit([put(nameOf(i), LONG)]);
        files = Math.max(files, logFiles(directory).length);
      }
      return files;
    });
    expect(most).toBeLessThanOrEqual(3);
    expect(Object.values((await seenIn(directory)).documents)).toEqual(Array(5).fill(LONG));
  });

  it('is refused in the midst of a session that finds none, which keeps what it has', async () => {
    const { directory, backend } = await loggedStore({ lockWaitMs: SHORT_MS });
    await FileLock.holdOnce(join(directory, 'log', 'lock'), 1000, async () => {
      const many = backend.exclusive(async (session) => {
        for (let i = 0; i < 4; i++) await session.commit([put(nameOf(i), LONG)]);
      });
      await expect(many).rejects.toMatchObject({ kind: 'unavailable' });
    });
    expect(Object.keys((await seenIn(directory)).documents)).toEqual([nameOf(0), nameOf(1)]);
    await commit(opened(directory), put('aa', 'x'));
  });

  it('is not needed as long as the files are not full, although no checkpoint succeeds', async () => {
    const { directory, backend } = await loggedStore({ lockWaitMs: 10 * SHORT_MS });
    const blocked = join(documentsIn(directory), 'aa.new');
    mkdirSync(blocked);
    await commit(backend, put('aa', LONG));
    for (let i = 0; i < 100; i++) await commit(backend, put('bb', String(i)));
    expect(logFiles(directory)).toEqual(['1', '2']);
    await commit(backend, put('cc', LONG));
    await expect(commit(backend, put('dd', 'x'))).rejects.toThrow('cannot be emptied: cannot write');
    expect((await seenBy(backend)).documents).toEqual({ aa: LONG, bb: '99', cc: LONG });
    rmSync(blocked, { recursive: true });
    await commit(opened(directory), put('dd', 'x'));
    expect((await seenIn(directory)).documents).toEqual({ aa: LONG, bb: '99', cc: LONG, dd: 'x' });
  });

  it('is not waited for by those who change nothing', async () => {
    const { directory } = await fullStore();
    await FileLock.holdOnce(join(directory, 'log', 'lock'), 1000, async () => {
      const reader = opened(directory, { lockWaitMs: SHORT_MS });
      const beside = async (): Promise<undefined> => undefined;
      expect(await besideOrBetween(reader, beside, async ({ revision }) => revision)).toBe(2);
    });
  });

  it('is not made again and again while that fails, unless somebody needs it', async () => {
    const { directory, backend } = await loggedStore({ lockWaitMs: 10 * SHORT_MS });
    mkdirSync(join(documentsIn(directory), 'aa.new'));
    for (let i = 0; i < 10; i++) await commit(backend, put('bb', String(i)));
    await commit(backend, put('aa', LONG));
    let attempts = 0;
    const done = (name: string, [path]: readonly unknown[]): void => {
      if (name === 'open' && /log.sync-\d+\.new$/.test(String(path))) attempts++;
    };
    install(wrapFileSystem);
    const start = elapsedMs();
    arm({ root: directory, watch: 'changes' }, { done, begun: () => undefined });
    try {
      for (let i = 0; i < 200; i++) await commit(backend, put('bb', String(i)));
      // One of them is for the name of the file that the first of these changes has made.
      expect(attempts).toBeLessThan(4 + (elapsedMs() - start) / 1000);
      await commit(backend, put('cc', LONG));
      attempts = 0;
      await expect(commit(backend, put('dd', 'x'))).rejects.toThrow('cannot be emptied: cannot write');
      expect(attempts).toBeGreaterThan(0);
    } finally {
      disarm();
    }
  });

  it('is made in the process itself if no thread can be started', async () => {
    const load = process.getBuiltinModule;
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) => {
      if (name !== 'node:worker_threads') return load(name);
      return {
        Worker: class {
          constructor() {
            throw Object.assign(new Error('no thread'), { code: 'ERR_WORKER_INIT_FAILED' });
          }
        },
      };
    }) as typeof process.getBuiltinModule);
    try {
      const { directory, backend } = await loggedStore();
      for (let i = 0; i < 10; i++) await commit(backend, put('aa', String(i)));
      for (let i = 0; i < 4; i++) await commit(backend, put(`b${i}`, LONG));
      expect(logFiles(directory)).not.toContain('1');
      expect((await seenIn(directory)).documents).toMatchObject({ aa: '9', b0: LONG, b3: LONG });
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('is refused with a hint if something unforeseen keeps the log from being emptied', async () => {
    const { directory, backend } = await loggedStore({ lockWaitMs: SHORT_MS });
    const spy = vi.spyOn(FileLock.prototype, 'tryHold').mockRejectedValue(new Error('on purpose'));
    try {
      await commit(backend, put('aa', LONG));
      await commit(backend, put('bb', LONG));
      await expect(commit(backend, put('cc', 'x'))).rejects.toMatchObject({
        kind: 'unavailable',
        message: `${join(directory, 'log')} is full, and cannot be emptied: on purpose`,
        texts: { hint: expect.stringContaining('coffer doctor') },
      });
    } finally {
      spy.mockRestore();
    }
  });

  it('is used at once, or after a moment, while a checkpoint of the same process stands still', async () => {
    const { directory, backend } = await loggedStore({ lockWaitMs: PATIENT_MS });
    const pipe = join(documentsIn(directory), `${nameOf(5)}.new`);
    execFileSync('mkfifo', ['-m', '600', pipe]);
    for (let i = 0; i < 256 + 30; i++) await commit(backend, put(nameOf(i % 256), String(i)));
    const start = elapsedMs();
    await commit(backend, put('aa', 'one'));
    await commit(backend, put('aa', 'two'));
    await Promise.all([1, 2, 3, 4].map((i) => commit(backend, put(`b${i}`, 'one'))));
    expect(elapsedMs() - start).toBeLessThan(PATIENT_MS);
    expect(logFiles(directory)).toEqual(['1', '2']);
    // Whoever waits in the pipe goes on, and fails.
    closeSync(openSync(pipe, 'r+'));
    rmSync(pipe);
  });

  it('is found by all of three who write, while two empty the log, as processes do at the same time', async () => {
    const { directory } = await loggedStore();
    const changes = rounds(400);
    const content = 'y'.repeat(30_000);
    const write = async (who: string): Promise<void> => {
      // Each turn is somebody's, but no one's in particular: on a busy machine, one of five may wait for long.
      const backend = opened(directory, { lockWaitMs: 250_000 });
      for (let i = 0; i < changes; i++) await commit(backend, put(`${who}${nameOf(i)}`, content + i));
    };
    const empty = async (isOver: () => boolean): Promise<void> => {
      do {
        await checkpoint(directory, { isIdle: true });
        await new Promise(setImmediate);
      } while (!isOver());
    };
    let isOver = false;
    const emptying = Promise.all([empty(() => isOver), empty(() => isOver)]);
    await Promise.all(['a', 'b', 'c'].map(write));
    isOver = true;
    await emptying;
    const { revision, documents } = await seenIn(directory);
    expect([revision, Object.keys(documents).length]).toEqual([3 * changes, 3 * changes]);
    expect(Object.values(documents).every((text) => text.startsWith(content))).toBe(true);
    expect(logFiles(directory).length).toBeLessThanOrEqual(3);
  });
});

describe('a process that makes many changes of a store', () => {
  /** Makes so many changes that the process counts as one of those. */
  async function lastingBackend() {
    const { directory, backend } = await loggedStore();
    for (let i = 0; i < 10; i++) await commit(backend, put('aa', `change ${i}`));
    return { directory, backend };
  }

  it('leaves nothing in the log when it ends', async () => {
    const { directory, backend } = await lastingBackend();
    backend.close();
    await endWork();
    expect(readdirSync(documentsIn(directory))).toEqual(['aa']);
    expect(saidIn(directory)).not.toContain('change');
  });

  it('can be closed in the midst of a checkpoint, which another one does again', async () => {
    const { directory, backend } = await lastingBackend();
    await commit(backend, ...Array.from({ length: 500 }, (_, i) => put(nameOf(i), 'y'.repeat(3000))));
    await commit(backend, put('bb', 'next'));
    const before = await seenIn(directory);
    await vi.waitUntil(() => readdirSync(documentsIn(directory)).length > 0, {
      timeout: 10_000,
      interval: 1,
    });
    backend.close();
    while ((await checkpoint(directory)) !== 'nothing') await new Promise(setImmediate);
    expect(logFiles(directory)).toEqual(['2']);
    expect(await seenIn(directory)).toEqual(before);
  });

  it('empties the log when nothing has changed for a while, and tries again if that fails', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { directory, blocked } = await storeWithBlocked();
      vi.advanceTimersByTime(4999);
      expect(logFiles(directory)).toEqual(['1']);
      vi.advanceTimersByTime(1);
      await untilLog(directory, (files) => files.join() === '1,2');
      rmSync(blocked, { recursive: true });
      await untilLog(directory, (files) => files.join() === '2');
      expect(readdirSync(documentsIn(directory))).toEqual(['aa']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('goes on for an hour in which no checkpoint succeeds, and empties the log soon after that', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { directory, backend, blocked } = await storeWithBlocked();
      for (let minute = 1; minute <= 60; minute++) {
        vi.advanceTimersByTime(60_000);
        if (minute <= 10) await passing(commit(backend, put('bb', String(minute))));
        const { documents } = await passing(seenIn(directory));
        expect(documents).toEqual({ aa: 'one', bb: String(Math.min(minute, 10)) });
      }
      expect(logFiles(directory)).toContain('1');
      rmSync(blocked, { recursive: true });
      vi.advanceTimersByTime(300_000);
      await untilLog(directory, (files) => !files.includes('1'));
      expect((await seenIn(directory)).documents).toEqual({ aa: 'one', bb: '10' });
      expect(readdirSync(documentsIn(directory))).toContain('aa');
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a checkpoint of a large change', () => {
  it('goes on in small steps without the contents, which are read where they are put', async () => {
    const { directory, backend } = await loggedStore();
    const all = Array.from({ length: rounds(10_000) }, (_, i) => put(nameOf(i), 'z'.repeat(1100) + i));
    await commit(backend, ...all);
    await commit(backend, put('aa', 'next'));
    const before = await seenIn(directory);
    const { PutThread } = await import('../../../../src/store/backends/files/log/put-thread.ts');
    const thread = new PutThread();
    const jobs: PutJob[] = [];
    const shares: number[] = [];
    const outcome = await checkpoint(directory, {
      put: (job) => {
        jobs.push(job);
        return thread.run(job);
      },
      progress: (share) => shares.push(share),
    });
    thread.close();
    expect(outcome).toBe('done');
    expect(Math.max(...jobs.map((job) => JSON.stringify(job).length))).toBeLessThan(30_000);
    expect(jobs.reduce((sum, { blobs }) => sum + blobs.length, 0)).toBe(all.length);
    expect([shares[0], shares.at(-1), shares.toSorted((a, b) => a - b)]).toEqual([0, 1, shares]);
    expect(await seenIn(directory)).toEqual(before);
  });

  it('takes nothing from those who have read the log before, whose files are deleted meanwhile', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', LONG), put('bb', 'one'));
    await commit(backend, put('bb', 'two'));
    const reader = opened(directory);
    await reader.state();
    expect(await checkpoint(directory)).toBe('done');
    expect(logFiles(directory)).toEqual(['2']);
    const read = async (name: string): Promise<string> =>
      Buffer.from((await reader.read(1, document(name))) ?? []).toString();
    expect([await read('aa'), await read('bb')]).toEqual([LONG, 'two']);
    expect((await seenBy(reader)).documents).toEqual({ aa: LONG, bb: 'two' });
  });

  it('puts documents with names of all kinds into their places, through many files', async () => {
    const { directory, backend } = await loggedStore();
    const chance = seeded();
    const expected: Record<string, string> = {};
    const count = rounds(10_000);
    const digits = (length: number): string => chance.bytes(length).toString('hex').slice(0, length);
    for (let made = 0; made < count; ) {
      const changes = Array.from({ length: chance.below(50) + 1 }, () => {
        const known = chance.below(4) === 0 ? Object.keys(expected) : [];
        const name = known.length > 0 ? chance.pick(known) : digits(chance.below(40) + 2);
        return chance.below(10) === 0 ? remove(name) : put(name, digits(chance.below(3000)));
      });
      const last = new Map(changes.map((change) => [change.ref.name, change]));
      await commit(backend, ...last.values());
      for (const [name, { bytes }] of last) {
        if (bytes === undefined) delete expected[name];
        else expected[name] = Buffer.from(bytes).toString();
      }
      made += last.size;
      if (chance.below(20) === 0) await checkpoint(directory, { isIdle: true });
    }
    expect((await seenIn(directory)).documents).toEqual(expected);
    while ((await checkpoint(directory, { isIdle: true })) !== 'nothing') await new Promise(setImmediate);
    expect(readdirSync(documentsIn(directory)).sort()).toEqual(Object.keys(expected).sort());
    expect((await seenIn(directory)).documents).toEqual(expected);
  });
});
