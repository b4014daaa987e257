import fs, { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as threads from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patiently } from '../../../../src/ground/directories.ts';
import { WRITE } from '../../../../src/store/backends/files/durable-files.ts';
import { judge, type PutJob, putBlobs } from '../../../../src/store/backends/files/log/put-blobs.ts';
import { PutThread } from '../../../../src/store/backends/files/log/put-thread.ts';
import { temporaryDirectory } from '../../temporary-store.ts';

const CONTENT = 'one two three';
const ONE = { offset: 0, length: 3 };
const TWO = { offset: 4, length: 3 };
const THREE = { offset: 8, length: 5 };

/** A job with three contents to choose from, and its directory of documents. */
function prepared(platform = 'linux'): { documents: string; job: PutJob } {
  const directory = temporaryDirectory();
  const documents = join(directory, 'documents');
  const statePath = join(directory, 'state');
  for (const path of [documents, statePath]) mkdirSync(path);
  writeFileSync(join(directory, 'source'), CONTENT);
  writeFileSync(join(statePath, 'log-1-7'), '');
  const job: PutJob = {
    source: join(directory, 'source'),
    blobs: [
      [join(documents, 'aa'), ONE],
      [join(documents, 'bb'), TWO],
      [join(documents, 'cc'), undefined],
    ],
    directories: [documents],
    statePath,
    prefix: 'log-1-',
    looks: 2,
    staged: '.new',
    flags: WRITE,
    mode: 0o600,
    parallel: 3,
    platform,
  };
  return { documents, job };
}

const contentsOf = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  );

const failing = (code: string): Error => Object.assign(new Error(code), { code });

describe('blobs of a checkpoint', () => {
  it('are put into their places, and those that were deleted are gone with what an earlier attempt left', async () => {
    const { documents, job } = prepared();
    writeFileSync(join(documents, 'aa'), 'old');
    writeFileSync(join(documents, 'cc.new'), 'left');
    expect(await putBlobs({ fs, patiently }, job)).toBe('done');
    expect(contentsOf(documents)).toEqual({ aa: 'one', bb: 'two' });
  });

  it('are put into their places on Windows, where others have files open and directories cannot be synced', async () => {
    const { documents, job } = prepared('win32');
    const refused = new Map<string, number>();
    /** Refuses each file twice. */
    const refusing = (path: unknown): void => {
      const times = (refused.get(String(path)) ?? 0) + 1;
      refused.set(String(path), times);
      if (times <= 2) throw failing('EPERM');
    };
    writeFileSync(join(documents, 'cc'), 'old');
    const tools = {
      fs: {
        ...fs,
        openSync: (path: fs.PathLike, ...rest: [fs.OpenMode, (fs.Mode | null)?]) => {
          if (path === documents) throw failing('EISDIR');
          return fs.openSync(path, ...rest);
        },
        renameSync: (from: fs.PathLike, to: fs.PathLike) => {
          refusing(to);
          fs.renameSync(from, to);
        },
        unlinkSync: (path: fs.PathLike) => {
          refusing(path);
          fs.unlinkSync(path);
        },
      },
      patiently,
    };
    expect(await putBlobs(tools, job)).toBe('done');
    expect(contentsOf(documents)).toEqual({ aa: 'one', bb: 'two' });
    expect([...refused.values()]).toEqual([3, 3, 3]);
    // Elsewhere the first refusal is the outcome.
    refused.clear();
    expect(await putBlobs(tools, { ...job, platform: 'linux' })).toMatchObject({ code: 'EPERM' });
  });

  it('are left alone if the store has another root key by now', async () => {
    const { documents, job } = prepared();
    expect(judge(await putBlobs({ fs, patiently }, { ...job, prefix: 'log-2-' }))).toBe(false);
    expect(readdirSync(documents)).toEqual([]);
  });

  it.each(['openSync', 'writeSync', 'fsync', 'renameSync'] as const)(
    'are done with an error that names the file if %s fails, and nothing stays open',
    async (name) => {
      const { documents, job } = prepared();
      const opened = new Set<number>();
      const tools = {
        fs: {
          ...fs,
          openSync: (...given: Parameters<typeof fs.openSync>) => {
            const fd = fs.openSync(...given);
            opened.add(fd);
            return fd;
          },
          closeSync: (fd: number) => {
            opened.delete(fd);
            fs.closeSync(fd);
          },
        },
        patiently,
      };
      const original = tools.fs[name];
      let calls = 0;
      const second = (...given: unknown[]): unknown => {
        // The first call of `openSync` is for the source.
        if (++calls <= (name === 'openSync' ? 2 : 1)) return Reflect.apply(original, fs, given);
        const callback = given.at(-1);
        if (typeof callback !== 'function') throw failing('EIO');
        return callback(failing('EIO'));
      };
      Object.assign(tools.fs, { [name]: second });
      const outcome = await putBlobs(tools, job);
      expect(() => judge(outcome)).toThrow(`cannot write ${join(documents, 'bb')}`);
      expect([...opened]).toEqual([]);
    },
  );

  it.each(['linux', 'darwin'])(
    'are cut and closed once before the first is synced on Linux alone: %s',
    async (platform) => {
      const { job } = prepared(platform);
      const calls: string[] = [];
      const noted = <T extends keyof typeof fs>(name: T): (typeof fs)[T] =>
        ((...given: unknown[]) => {
          calls.push(name);
          return Reflect.apply(fs[name] as (...all: unknown[]) => unknown, fs, given);
        }) as unknown as (typeof fs)[T];
      const tools = {
        fs: {
          ...fs,
          ftruncateSync: noted('ftruncateSync'),
          writeSync: noted('writeSync'),
          closeSync: noted('closeSync'),
          fsync: noted('fsync'),
        },
        patiently,
      };
      expect(await putBlobs(tools, job)).toBe('done');
      const early = platform === 'linux' ? ['closeSync', 'closeSync'] : [];
      const cut = platform === 'linux' ? ['ftruncateSync'] : [];
      expect(calls.slice(0, calls.indexOf('fsync'))).toEqual([
        ...cut,
        'writeSync',
        ...cut,
        'writeSync',
        ...early,
      ]);
    },
  );

  it('are not taken from a file that was cut', async () => {
    const { documents, job } = prepared();
    const blobs = [[join(documents, 'aa'), { offset: 8, length: 50 }]] as const;
    expect(await putBlobs({ fs, patiently }, { ...job, blobs })).toMatchObject({ path: job.source });
    expect(existsSync(join(documents, 'aa'))).toBe(false);
  });
});

describe('a state that was listed while its name changed', () => {
  it('is listed again before it counts as that of another generation', async () => {
    const { documents, job } = prepared();
    let looks = 0;
    const missing = (of: (look: number) => boolean) => ({
      ...fs,
      readdirSync: ((path: string) => (of(++looks) ? [] : readdirSync(path))) as typeof readdirSync,
    });
    expect(await putBlobs({ fs: missing((look) => look % 2 === 1), patiently }, job)).toBe('done');
    expect(contentsOf(documents)).toEqual({ aa: 'one', bb: 'two' });
    expect(await putBlobs({ fs: missing(() => true), patiently }, job)).toBe('gone');
  });
});

describe('the thread that puts blobs into their places', () => {
  /** A thread, and the threads of Node that it has started. */
  function observed(): { thread: PutThread; started: threads.Worker[] } {
    const started: threads.Worker[] = [];
    class Observed extends threads.Worker {
      constructor(...given: ConstructorParameters<typeof threads.Worker>) {
        super(...given);
        started.push(this);
      }
    }
    const load = process.getBuiltinModule;
    vi.spyOn(process, 'getBuiltinModule').mockImplementation(((name: string) =>
      name === 'node:worker_threads'
        ? { ...threads, Worker: Observed }
        : load(name)) as typeof process.getBuiltinModule);
    const thread = new PutThread();
    onTestFinished(() => {
      thread.close();
      vi.restoreAllMocks();
    });
    return { thread, started };
  }

  it('does one job after the other, and starts again if it ended while it had nothing to do', async () => {
    const { thread, started } = observed();
    const { documents, job } = prepared();
    expect(await thread.run(job)).toBe('done');
    await started[0]?.terminate();
    const blobs = [[join(documents, 'dd'), THREE]] as const;
    expect(await thread.run({ ...job, blobs })).toBe('done');
    expect(await thread.run(job)).toBe('done');
    expect(contentsOf(documents)).toEqual({ aa: 'one', bb: 'two', dd: 'three' });
    expect(started).toHaveLength(2);
  });

  it('gives a job back that it did not end, and does the next one', async () => {
    const { thread, started } = observed();
    const { job } = prepared();
    const run = thread.run(job);
    void started[0]?.terminate();
    expect(await run).toBeUndefined();
    thread.rest();
    expect(await thread.run(job)).toBe('done');
  });

  it('fails the job in progress when it is closed, and starts no more', async () => {
    const { thread, started } = observed();
    const { job } = prepared();
    const run = thread.run(job);
    thread.close();
    await expect(run).rejects.toThrow('ended');
    await expect(thread.run(job)).rejects.toThrow('closed');
    expect(started).toHaveLength(1);
  });
});
