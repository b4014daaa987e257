import type * as Fs from 'node:fs';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { backupStore, restoreStore } from '../../src/store/administration/backup.ts';
import { copyStore } from '../../src/store/administration/copy.ts';
import { initStore } from '../../src/store/administration/init.ts';
import { rekey } from '../../src/store/administration/slots.ts';
import { Layout } from '../../src/store/backends/files/layout.ts';
import { makeSpare } from '../../src/store/backends/files/log/next-file.ts';
import { refused } from '../refusal.ts';
import { becomeFormat1 } from './format-1.ts';
import { repaired } from './repairing.ts';
import { intoDocuments, KEY, openWithKey, temporaryDirectory } from './temporary-store.ts';

/** A disk that notes what it is told to be sure of, and how names change, in their order; and fails as it is told. */
const { disk } = vi.hoisted(() => ({
  disk: {
    notes: [] as string[],
    /** Called before each note; whatever it throws is how the call fails. */
    strike: (_note: string): void => undefined,
    note(what: string, path: string): void {
      disk.strike(`${what} ${path}`);
      disk.notes.push(`${what} ${path}`);
    },
  },
}));

vi.mock('node:fs', async (original) => {
  const real = await original<typeof Fs>();
  const syncing = (sync: typeof Fs.fsync) => (fd: number, done: Fs.NoParamCallback) => {
    try {
      disk.note('sync', real.readlinkSync(`/proc/self/fd/${fd}`));
    } catch (error) {
      return done(error as NodeJS.ErrnoException);
    }
    sync(fd, done);
  };
  return {
    ...real,
    fsync: syncing(real.fsync),
    fdatasync: syncing(real.fdatasync),
    renameSync: (from: string, to: string) => {
      disk.note('put', to);
      real.renameSync(from, to);
    },
    unlinkSync: (path: string) => {
      if (real.existsSync(path)) disk.note('delete', path);
      real.unlinkSync(path);
    },
    promises: {
      ...real.promises,
      rm: async (path: string, options?: Fs.RmOptions): Promise<void> => {
        if (real.existsSync(path)) disk.note('delete', path);
        await real.promises.rm(path, options);
      },
    },
  };
});

let parent: string;
let directory: string;
/** What all files have that are opened with promises. */
let handles: FileHandle;
beforeAll(async () => {
  const handle = await open('/dev/null');
  handles = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = handles;
  vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
    disk.note('sync', readlinkSync(`/proc/self/fd/${this.fd}`));
    await sync.call(this);
  });
});
beforeEach(() => {
  parent = temporaryDirectory();
  directory = join(parent, 'store');
  disk.strike = () => undefined;
});

/** What `work` did in the directory of the test; without what is chance, and the same again. */
async function traceOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  disk.notes.length = 0;
  await work();
  const lines = disk.notes
    .filter((note) => note.includes(` ${parent}`) && !/sync-\d+\.new$/.test(note))
    .map((note) => note.replace(/\/\S+/, (path) => relative(parent, path) || '.'))
    .map((note) => note.replace(/\b[0-9a-f]{16,40}(\.json)?/, '*').replace(/\b[0-9a-f]{8}\.new/, '*.new'))
    .map((note) => note.replace(/\d{13}/, 'NOW'));
  return lines.filter((line, index) => line !== lines[index - 1]);
}

const slots = () => [{ kind: 'raw', key: Uint8Array.from(KEY) } as const];
const init = () => initStore({ location: directory, slots: slots() });
const ref = { collection: 'things', id: 'one' };
const change = async (): Promise<void> => {
  const store = await openWithKey(directory);
  await store.transact((tx) => tx.put(ref, { a: 1 }));
  store.close();
};
const loseState = (): void => {
  for (const name of readdirSync(join(directory, 'state'))) rmSync(join(directory, 'state', name));
};

/** Of a store that is made below `in_`, or brought there. */
const created = (in_: string, generation = 1, state = 'log-1-0'): readonly string[] => [
  `sync ${in_}/coffer.json.new`,
  `sync ${in_}`,
  `sync ${in_}/generation-${generation}/slots/*`,
  `sync ${in_}/generation-${generation}/documents/*`,
  `sync ${in_}/generation-${generation}/slots`,
  `sync ${in_}/generation-${generation}/documents`,
  `sync ${in_}/generation-${generation}`,
  `sync ${in_}`,
  `sync ${in_}/log/1.new`,
  `put ${in_}/log/1`,
  `sync ${in_}/log`,
  `sync ${in_}/state/${state}`,
  `sync ${in_}/state`,
  `sync ${in_}`,
  `put ${in_}/coffer.json`,
  `sync ${in_}`,
];
/** Names that whoever made them may not have lived to sync. */
const named = ['sync store/log', 'sync store/state', 'sync store'];

describe('what counts is on the disk, with all that leads to it, when', () => {
  it('a store is made, brought back or copied', async () => {
    expect(await traceOf(init)).toEqual(['sync .', ...created('store')]);
    const to = join(parent, 'backup');
    expect(await traceOf(() => backupStore({ location: directory, to }))).toEqual([
      'sync backup.*.new',
      'put backup',
      'sync .',
    ]);
    const deep = join(parent, 'a', 'b', 'copy');
    expect(await traceOf(() => restoreStore({ from: to, location: deep }))).toEqual([
      'sync a/b',
      'sync a',
      'sync .',
      ...created('a/b/copy'),
    ]);
    const copy = () => copyStore({ from: directory, to: join(parent, 'copied') });
    expect(await traceOf(copy)).toEqual(['sync .', ...created('copied')]);
  });

  it('a document is changed for the first time, and again, and put in its file', async () => {
    await init();
    const record = ['sync store/log/1', 'put store/state/log-1-1'];
    expect(await traceOf(change)).toEqual([...named, ...record]);
    expect(await traceOf(change)).toEqual(['sync store/log/1', 'put store/state/log-1-2']);
    expect(await traceOf(() => intoDocuments(directory))).toEqual([
      'sync store/log/2.new',
      'put store/log/2',
      'sync store/log',
      'sync store/generation-1/documents/*.new',
      'put store/generation-1/documents/*',
      'sync store/generation-1/slots',
      'sync store/generation-1/documents',
      'sync store/log',
      'delete store/log/1',
      'sync store/log',
    ]);
  });

  it('everything is sealed again with another key, and what a killed attempt left is deleted', async () => {
    await init();
    mkdirSync(join(directory, 'generation-2'));
    const store = await openWithKey(directory);
    const leftovers = ['sync store/state', 'delete store/generation-2', 'sync store'];
    expect(await traceOf(() => rekey(store))).toEqual([
      ...leftovers,
      'sync store/generation-2/documents/*',
      'sync store/generation-2/slots/*',
      'sync store/generation-2/slots',
      'sync store/generation-2/documents',
      'sync store/generation-2',
      'sync store',
      ...named,
      'sync store/log/1',
      'put store/state/log-2-1',
      'sync store/state',
      'delete store/generation-1',
      'sync store',
    ]);
    store.close();
  });

  it('a lost state is put back by a writer, and by a repair', async () => {
    await init();
    const store = await openWithKey(directory);
    await change();
    loseState();
    const record = (revision: string) => ['sync store/log/1', `put store/state/log-1-${revision}`];
    const back = ['sync store/log/1', 'sync store/state/log-1-NOW', 'sync store/state'];
    expect(await traceOf(() => store.transact((tx) => tx.put(ref, { a: 2 })))).toEqual([
      ...back,
      ...record('NOW'),
    ]);
    store.close();
    loseState();
    const documents = 'store/generation-1/documents';
    expect(await traceOf(() => repaired(directory))).toEqual([
      // The document, the index of its collection, and that of the store.
      ...Array.from({ length: 3 }, () => [`sync ${documents}/*.new`, `put ${documents}/*`]).flat(),
      'sync store/generation-1/slots',
      'sync store/generation-1/documents',
      'sync store/log/3.new',
      'put store/log/3',
      'sync store/log',
      'sync store/state/log-1-NOW',
      'sync store/state',
      'delete store/log/1',
      'sync store/log',
      'sync store',
    ]);
  });

  it('a store of format 1 is given a log', async () => {
    await init();
    await becomeFormat1(directory);
    expect(await traceOf(change)).toEqual([
      'sync store',
      'sync store/log/1.new',
      'put store/log/1',
      'sync store/log',
      'sync store',
      'sync store/coffer.json.new',
      'put store/coffer.json',
      'sync store',
      'put store/state/log-1-0',
      'sync store/state',
      ...named,
      'sync store/log/1',
      'put store/state/log-1-1',
    ]);
  });
});

it('a store of format 1 is given a log by whoever leaves the lock of an earlier one, and nothing else of it', async () => {
  await init();
  await becomeFormat1(directory);
  const log = join(directory, 'log');
  mkdirSync(log, { mode: 0o700 });
  for (const name of ['lock', '1', '7', 'first-3', 'spare'])
    writeFileSync(join(log, name), '', { mode: 0o600 });
  const { ino } = statSync(join(log, 'lock'));
  await change();
  expect(readdirSync(log)).toEqual(['1', 'lock']);
  expect(statSync(join(log, 'lock')).ino).toBe(ino);
});

/** Lets the calls fail that `isStruck` says. */
function strike(code: string, isStruck: (note: string) => boolean): void {
  disk.strike = (note) => {
    if (isStruck(note)) throw Object.assign(new Error(code), { code });
  };
}
const hasHeader = () => existsSync(join(directory, 'coffer.json'));

describe('a disk that fails', () => {
  it('leaves no backup whose name could be lost, and says so of one that replaces another', async () => {
    await init();
    const to = join(parent, 'backup');
    const backup = (replace: boolean) => refused(backupStore({ location: directory, to, replace }));
    strike('EIO', (note) => note === `sync ${parent}`);
    expect(await backup(false)).toMatchObject({
      kind: 'unavailable',
      message: `cannot write ${parent}: the disk reports an error`,
    });
    expect(readdirSync(parent)).toEqual(['store']);
    writeFileSync(to, 'an older one');
    expect(await backup(true)).toMatchObject({
      kind: 'unconfirmed',
      message: `the backup was created, but cannot write ${parent}: the disk reports an error`,
    });
    expect(readFileSync(to, 'latin1')).toContain('COFFERBK');
    expect(readdirSync(parent)).toEqual(['backup', 'store']);
  });

  it('says so of a backup that it does not delete either', async () => {
    await init();
    const to = join(parent, 'backup');
    strike('EIO', (note) => {
      if (note !== `sync ${parent}`) return false;
      rmSync(to);
      mkdirSync(to);
      return true;
    });
    expect(await refused(backupStore({ location: directory, to }))).toMatchObject({ kind: 'unconfirmed' });
  });

  it('leaves nothing of a backup that it cannot take', async () => {
    await init();
    const to = join(parent, 'backup');
    const message = `cannot write ${to}: no space left on the disk`;
    strike('ENOSPC', (note) => note.startsWith(`sync ${to}.`));
    expect(await refused(backupStore({ location: directory, to }))).toMatchObject({
      kind: 'unavailable',
      message,
    });
    expect(readdirSync(parent)).toEqual(['store']);
    disk.strike = () => undefined;
    const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    vi.spyOn(handles, 'writeFile').mockRejectedValueOnce(full);
    expect(await refused(backupStore({ location: directory, to }))).toMatchObject({
      kind: 'unavailable',
      message,
    });
    expect(readdirSync(parent)).toEqual(['store']);
  });

  it('leaves no store whose name could be lost, or says that it is there', async () => {
    strike('EIO', (note) => note === `sync ${directory}` && hasHeader());
    expect(await refused(init())).toMatchObject({
      kind: 'unavailable',
      message: `cannot write ${directory}: the disk reports an error`,
    });
    expect(readdirSync(parent)).toEqual([]);
    const struck = [`sync ${directory}`, `put ${directory}/coffer.json.new`];
    strike('EIO', (note) => struck.includes(note) && hasHeader());
    expect(await refused(init())).toMatchObject({
      kind: 'unconfirmed',
      message: `the store was created, but cannot write ${directory}: the disk reports an error`,
    });
    disk.strike = () => undefined;
    await change();
  });

  it('may keep directories above the new one to itself, but not the one that has it', async () => {
    strike('EIO', (note) => note === `sync ${parent}`);
    expect(await refused(init())).toMatchObject({ kind: 'unavailable' });
    expect(hasHeader()).toBe(false);
    strike('EACCES', (note) => note === `sync ${dirname(parent)}`);
    await init();
    await change();
  });

  it('keeps nobody from writing where only the next file of the log is not made in advance', async () => {
    await init();
    const layout = new Layout(directory);
    strike('ENOSPC', (note) => /^sync .*spare.*new$/.test(note));
    await makeSpare(layout);
    expect(readdirSync(layout.log)).toEqual(['1']);
    disk.strike = () => undefined;
    await makeSpare(layout);
    await makeSpare(layout);
    expect(readdirSync(layout.log)).toEqual(['1', 'spare']);
  });
});
