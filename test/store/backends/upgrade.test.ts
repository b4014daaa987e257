import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { unavailable } from '../../../src/ground/errors.ts';
import { backupStore, restoreStore } from '../../../src/store/administration/backup.ts';
import { examineStore } from '../../../src/store/administration/repair.ts';
import { storeStatus } from '../../../src/store/administration/status.ts';
import { FileLock } from '../../../src/store/backends/files/file-lock.ts';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { StateDirectory } from '../../../src/store/backends/files/state-directory.ts';
import { parseChecked } from '../../../src/store/checked-json.ts';
import type { SealedStore } from '../../../src/store/sealed/sealed-store.ts';
import { wrapFileSystem } from '../../faults/layer/functions.ts';
import { arm, disarm, install } from '../../faults/layer/layer.ts';
import { becomeFormat1 } from '../format-1.ts';
import { newStoreDirectory, openWithKey, rawCredential, temporaryDirectory } from '../temporary-store.ts';

const at = (id: string) => ({ collection: 'things', id });
const get = (store: SealedStore, id: string) => store.read((view) => view.get(at(id)));
const put = (store: SealedStore, id: string, n: number) => store.transact((tx) => tx.put(at(id), { n }));
const stateOf = (directory: string): string => readdirSync(join(directory, 'state')).join();
const formatOf = (directory: string): unknown =>
  parseChecked(readFileSync(join(directory, 'coffer.json')))?.['format'];

/** A store of format 1 with one document. */
async function oldStore(): Promise<string> {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  await put(store, 'one', 1);
  store.close();
  await becomeFormat1(directory);
  return directory;
}

/** Puts newer content into a document's place, as a server of an older release does. */
async function oldCommit(directory: string): Promise<void> {
  const other = await openWithKey(directory);
  const root = await other.keyring.root(other.backend, 1);
  const ref = root.refOf({ space: 'document', ...at('one') });
  const sealed = root.seal({ space: 'document', ...at('one') }, JSON.stringify({ n: 2 }));
  other.close();
  writeFileSync(join(directory, 'generation-1', 'documents', ref.name), sealed.bytes ?? '');
  const state = join(directory, 'state');
  renameSync(join(state, stateOf(directory)), join(state, 'clean-1-9'));
}

/** Lets an upgrade fail before its last step. */
async function interruptUpgrade(directory: string): Promise<void> {
  const writer = await openWithKey(directory);
  const spy = vi.spyOn(StateDirectory.prototype, 'change').mockImplementation(() => {
    throw unavailable('the disk fails');
  });
  await expect(put(writer, 'two', 2)).rejects.toThrow('the disk fails');
  spy.mockRestore();
  writer.close();
  expect([stateOf(directory), formatOf(directory)]).toEqual(['clean-1-1', 2]);
}

const CHANGES = ['create', 'write', 'sync', 'rename', 'unlink', 'mkdir', 'reopen'] as const;

describe('a store of format 1', () => {
  it('is shown as one until it is changed, and then with the format of a log', async () => {
    const directory = await oldStore();
    expect((await storeStatus(directory)).format).toBe(1);
    const store = await openWithKey(directory);
    await put(store, 'two', 2);
    store.close();
    const { format } = await storeStatus(directory);
    expect([format, formatOf(directory)]).toEqual([2, 2]);
  });

  it('is read as it is, and has a log from the first change on', async () => {
    const directory = await oldStore();
    const before = readdirSync(directory, { recursive: true });
    const reader = await openWithKey(directory);
    expect(await get(reader, 'one')).toEqual({ n: 1 });
    expect(readdirSync(directory, { recursive: true })).toEqual(before);
    const writer = await openWithKey(directory);
    await put(writer, 'two', 2);
    expect([stateOf(directory), formatOf(directory)]).toEqual(['log-1-2', 2]);
    for (const store of [reader, writer, await openWithKey(directory)])
      expect([await get(store, 'one'), await get(store, 'two')]).toEqual([{ n: 1 }, { n: 2 }]);
    const { findings } = await examineStore({ location: directory, credentials: [rawCredential()] });
    expect(findings).toEqual([]);
  });

  it('stays so for whoever has the write lock and changes nothing', async () => {
    const directory = await oldStore();
    const state = join(directory, 'state');
    const before = readdirSync(directory, { recursive: true });
    for (const isInterrupted of [false, true]) {
      if (isInterrupted) renameSync(join(state, 'clean-1-1'), join(state, 'dirty-1-1'));
      const store = await openWithKey(directory);
      const failed = new Error('refused');
      await store.backend.exclusive((session) => session.commit([]));
      const refused = store.backend.exclusive(() => Promise.reject(failed));
      await expect(refused).rejects.toBe(failed);
      expect(await get(store, 'one')).toEqual({ n: 1 });
      await store.backend.repair(async () => 1);
      store.close();
      expect([stateOf(directory), formatOf(directory)]).toEqual([
        isInterrupted ? 'clean-1-2' : 'clean-1-1',
        1,
      ]);
      if (!isInterrupted) expect(readdirSync(directory, { recursive: true })).toEqual(before);
    }
    const writer = await openWithKey(directory);
    await writer.backend.exclusive((session) => session.raise(9));
    expect([stateOf(directory), formatOf(directory), await get(writer, 'one')]).toEqual([
      'log-1-9',
      2,
      { n: 1 },
    ]);
  });

  it.each(['first', 'second'])(
    'whose %s upgrade fails or is interrupted anywhere is as it was, for everybody, and upgraded by the next',
    async (attempt) => {
      install(wrapFileSystem);
      for (let step = 1; ; step++) {
        const directory = await oldStore();
        if (attempt === 'second') await interruptUpgrade(directory);
        const store = await openWithKey(directory);
        const fault = { kind: 'failure', code: 'EIO', lasting: CHANGES } as const;
        arm({ root: directory, watch: 'changes', at: step, fault });
        let isDone: boolean;
        try {
          isDone = await put(store, 'two', 2).then(
            () => true,
            () => false,
          );
        } finally {
          disarm();
        }
        store.close();
        const next = await openWithKey(directory);
        expect(await get(next, 'one')).toEqual({ n: 1 });
        if (isDone) expect(await get(next, 'two')).toEqual({ n: 2 });
        await put(next, 'three', 3);
        next.close();
        const last = await openWithKey(directory);
        expect([await get(last, 'one'), await get(last, 'three')]).toEqual([{ n: 1 }, { n: 3 }]);
        expect([stateOf(directory).startsWith('log-1-'), formatOf(directory)]).toEqual([true, 2]);
        expect(readdirSync(directory).sort()).toEqual([
          'coffer.json',
          'generation-1',
          'lock',
          'log',
          'state',
        ]);
        if (isDone) break;
        expect(step).toBeLessThan(100);
      }
    },
  );

  it('keeps what an older release writes after an upgrade was interrupted', async () => {
    const directory = await oldStore();
    await interruptUpgrade(directory);
    await oldCommit(directory);
    const store = await openWithKey(directory);
    expect([await get(store, 'one'), await get(store, 'two')]).toEqual([{ n: 2 }, undefined]);
    await put(store, 'three', 3);
    expect(await get(await openWithKey(directory), 'one')).toEqual({ n: 2 });
    expect(stateOf(directory)).toBe('log-1-10');
  });

  it('is refused, and repaired without what was in its log, once its log has no file any more', async () => {
    const directory = await oldStore();
    await put(await openWithKey(directory), 'two', 2);
    const state = join(directory, 'state');
    renameSync(join(state, stateOf(directory)), join(state, 'clean-1-7'));
    rmSync(join(directory, 'log', '1'));
    const store = new FilesBackend(directory);
    const refusal = { kind: 'corrupt', message: `${join(directory, 'log')} contains no log file` };
    await expect(store.state()).rejects.toMatchObject(refusal);
    await expect(store.exclusive((session) => session.raise(8))).rejects.toMatchObject(refusal);
    expect(await store.repair(async () => 1)).toContainEqual(
      expect.objectContaining({ done: expect.stringContaining('its changes are lost') }),
    );
    store.close();
    const repaired = await openWithKey(directory);
    expect(await get(repaired, 'one')).toEqual({ n: 1 });
    await put(repaired, 'three', 3);
  });

  it('keeps the changes in its log when an older release repairs it, and says that it has to be repaired', async () => {
    const directory = await oldStore();
    const writer = await openWithKey(directory);
    await put(writer, 'two', 2);
    await put(writer, 'one', 3);
    writer.close();
    // The older release knows no state that is called so, and makes another one.
    const state = join(directory, 'state');
    rmSync(join(state, stateOf(directory)));
    const later = Date.now() + 1_000_000;
    writeFileSync(join(state, `clean-1-${later}`), '');
    const refusal = { kind: 'corrupt', message: expect.stringContaining('an older release repaired') };
    const store = new FilesBackend(directory);
    await expect(store.state()).rejects.toMatchObject(refusal);
    await expect(store.exclusive((session) => session.raise(later + 1))).rejects.toMatchObject(refusal);
    store.close();
    const repairing = new FilesBackend(directory);
    const hint = expect.stringContaining('running servers continue only after "coffer store accept"');
    expect(await repairing.repair(async () => 1)).toContainEqual(expect.objectContaining({ done: hint }));
    repairing.close();
    const repaired = await openWithKey(directory);
    expect([await get(repaired, 'one'), await get(repaired, 'two')]).toEqual([{ n: 3 }, { n: 2 }]);
    expect(stateOf(directory)).toBe(`log-1-${later + 1}`);
    await put(repaired, 'three', 3);
    expect(await get(await openWithKey(directory), 'two')).toEqual({ n: 2 });
  });

  it('in the midst of a commit is finished by whoever looks, once its writer is gone', async () => {
    const directory = await oldStore();
    const state = join(directory, 'state');
    renameSync(join(state, 'clean-1-1'), join(state, 'dirty-1-1'));
    mkdirSync(join(state, 'commit.new'));
    const held = FileLock.holdOnce(join(directory, 'lock'), 1000, async () => {
      const spy = vi.spyOn(FileLock.prototype, 'tryHold').mockResolvedValue(undefined);
      const reading = openWithKey(directory);
      await vi.waitUntil(() => spy.mock.calls.length > 2, { timeout: 20_000, interval: 1 });
      spy.mockRestore();
      return { reading };
    });
    const { reading } = await held;
    expect(await get(await reading, 'one')).toEqual({ n: 1 });
    // Only a change gives the store a log.
    expect([stateOf(directory), formatOf(directory)]).toEqual(['clean-1-2', 1]);
  });

  it('in the midst of a commit says what to do where nothing can be written', async () => {
    const directory = await oldStore();
    const state = join(directory, 'state');
    renameSync(join(state, 'clean-1-1'), join(state, 'dirty-1-1'));
    const cause = Object.assign(new Error('EROFS'), { code: 'EROFS' });
    const spy = vi.spyOn(FileLock.prototype, 'tryHold');
    spy.mockRejectedValue(unavailable('the file system is read-only', { cause }));
    await expect(openWithKey(directory)).rejects.toMatchObject({
      kind: 'unavailable',
      hint: 'make the directory writable, then run the command again',
    });
    spy.mockRestore();
  });
});

it('a backup is of format 1, which older releases restore, and a restored store has a log', async () => {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  await put(store, 'one', 1);
  const [to, location] = ['backup', 'restored'].map((name) => join(temporaryDirectory(), name));
  if (to === undefined || location === undefined) throw new Error('there are two');
  await backupStore({ location: directory, to });
  expect(readFileSync(to, 'latin1')).toContain('"kind":"coffer store","format":1,');
  await restoreStore({ from: to, location });
  expect([stateOf(location), formatOf(location)]).toEqual(['log-1-1', 2]);
  expect(await get(await openWithKey(location), 'one')).toEqual({ n: 1 });
});
