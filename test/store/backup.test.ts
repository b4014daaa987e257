import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backupStore, restoreStore } from '../../src/store/administration/backup.ts';
import { type BackupRecord, BackupWriter } from '../../src/store/administration/backup-file.ts';
import { examineStore } from '../../src/store/administration/repair.ts';
import { rekey } from '../../src/store/administration/slots.ts';
import { withFormat } from '../../src/store/backends/files/header-format.ts';
import { printChecked } from '../../src/store/checked-json.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { isLong } from '../long.ts';
import { sampled } from '../sampled.ts';
import { seeded } from '../seeded.ts';
import type { Counter } from './processes/child.ts';
import { childProcesses } from './processes/child-process.ts';
import { newStoreDirectory, openWithKey, rawCredential, temporaryDirectory } from './temporary-store.ts';

const start = childProcesses();
/** How many are made while others write. */
const BACKUPS = isLong ? 4 : 2;
const at = (id: string) => ({ collection: 'things', id });

async function filledStore(documents = 20): Promise<{ directory: string; store: SealedStore }> {
  const directory = await newStoreDirectory();
  const store = await openWithKey(directory);
  await store.transact((tx) => {
    for (let i = 0; i < documents; i++) tx.put(at(`id${i}`), { i, text: 'x'.repeat(i * 50) });
  });
  return { directory, store };
}

/** Aborts work between two of its files: at the look after `after` others, which sees what is there then. */
function interruptionBetween(after: number, see: () => void) {
  const controller = new AbortController();
  const throwIfAborted = controller.signal.throwIfAborted.bind(controller.signal);
  let looks = 0;
  controller.signal.throwIfAborted = () => {
    if (looks++ === after) {
      see();
      controller.abort();
    }
    throwIfAborted();
  };
  return { begin: () => undefined, ended: controller.signal };
}

describe('a backup or a restore that is interrupted', () => {
  it('leaves nothing behind', async () => {
    const { directory } = await filledStore(60);
    const place = temporaryDirectory();
    const to = join(place, 'backup');
    let seen: string[] = [];
    const interruption = (after: number) =>
      interruptionBetween(after, () => {
        seen = readdirSync(place);
      });
    await expect(backupStore({ location: directory, to, interruption: interruption(30) })).rejects.toThrow(
      'aborted',
    );
    expect(seen).toEqual([expect.stringMatching(/^backup\.[0-9a-f]+\.new$/)]);
    expect(readdirSync(place)).toEqual([]);
    await backupStore({ location: directory, to });
    const restored = join(place, 'restored');
    await expect(
      restoreStore({ from: to, location: restored, interruption: interruption(30) }),
    ).rejects.toThrow('aborted');
    expect(seen).toEqual(['backup', 'restored']);
    expect(readdirSync(place)).toEqual(['backup']);
  });
});

describe('a backup', () => {
  it('brings the whole store back, elsewhere, opened by the same secrets', async () => {
    const { directory, store } = await filledStore();
    await rekey(store);
    const to = join(temporaryDirectory(), 'backup');
    const summary = await backupStore({ location: directory, to });
    expect(summary).toEqual({ id: store.id, files: 24, bytes: statSync(to).size });
    expect(statSync(to).mode & 0o777).toBe(0o600);
    const restored = join(temporaryDirectory(), 'restored');
    expect(await restoreStore({ from: to, location: restored })).toMatchObject({ id: store.id, files: 24 });
    const copy = await openWithKey(restored);
    expect(copy.id).toBe(store.id);
    expect(await copy.revision()).toBe(await store.revision());
    const all = (from: SealedStore) =>
      from.read(async (view) => Promise.all((await view.list('things')).map((id) => view.get(at(id)))));
    expect(await all(copy)).toEqual(await all(store));
    expect(await examineStore({ location: restored, credentials: [rawCredential()] })).toMatchObject({
      findings: [],
      unlocked: true,
    });
    await copy.transact((tx) => tx.put(at('new'), {}));
    expect(await store.read((view) => view.get(at('new')))).toBeUndefined();
  });

  it('is of one moment, while other processes write', async () => {
    const { directory } = await filledStore(300);
    const writers = [start(directory, 'everything', 'a'), start(directory, 'everything', 'b')];
    await Promise.all([writers[0]?.said('created a-2'), writers[1]?.said('created b-2')]);
    const folder = temporaryDirectory();
    for (let i = 0; i < BACKUPS; i++) {
      const to = join(folder, `backup${i}`);
      const restored = join(folder, `restored${i}`);
      await backupStore({ location: directory, to });
      await restoreStore({ from: to, location: restored });
      const copy = await openWithKey(restored);
      const count = (id: string) =>
        copy.read(async (view) => (await view.get<Counter>({ collection: 'counters', id }))?.n);
      expect(await count('left')).toBeGreaterThan(0);
      expect(await count('left')).toBe(await count('right'));
      const { findings } = await examineStore({ location: restored, credentials: [rawCredential()] });
      expect(findings).toEqual([]);
    }
    for (const writer of writers) writer.process.kill('SIGKILL');
    await Promise.all(writers.map(({ ended }) => ended));
  });

  it('is refused where something is already', async () => {
    const { directory } = await filledStore();
    const folder = temporaryDirectory();
    const to = join(folder, 'backup');
    await backupStore({ location: directory, to });
    const first = readFileSync(to);
    await expect(backupStore({ location: directory, to })).rejects.toMatchObject({
      kind: 'exists',
      message: `${to} already exists`,
    });
    expect(readFileSync(to)).toEqual(first);
    await expect(restoreStore({ from: to, location: directory })).rejects.toMatchObject({
      kind: 'exists',
      message: `a store already exists in ${directory}`,
    });
    await expect(restoreStore({ from: to, location: folder })).rejects.toMatchObject({
      kind: 'conflict',
      message: `${folder} is not empty`,
    });
  });

  it('leaves nothing where it cannot be written', async () => {
    const { directory } = await filledStore();
    const folder = temporaryDirectory();
    await expect(
      backupStore({ location: directory, to: join(folder, 'no', 'backup') }),
    ).rejects.toMatchObject({
      kind: 'unavailable',
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that was damaged anywhere is refused, and nothing is made of it', async () => {
    const { directory } = await filledStore(2);
    const folder = temporaryDirectory();
    const from = join(folder, 'backup');
    await backupStore({ location: directory, to: from });
    const intact = readFileSync(from);
    const target = join(folder, 'restored');
    const attempt = async (bytes: Uint8Array) => {
      writeFileSync(from, bytes);
      await expect(restoreStore({ from, location: target })).rejects.toMatchObject({
        kind: 'corrupt',
        message: expect.stringContaining(from),
      });
      expect(existsSync(target)).toBe(false);
    };
    const positions = [...Array(intact.length).keys()].filter((position) => position % 5 === 0);
    for (const i of sampled(positions, seeded(), 30)) {
      const flipped = Buffer.from(intact);
      flipped.writeUInt8(flipped.readUInt8(i) ^ (1 << (i % 8)), i);
      await attempt(flipped);
    }
    for (const length of [0, 8, 9, 100, intact.length - 33, intact.length - 1])
      await attempt(intact.subarray(0, length));
    await attempt(Buffer.concat([intact, Buffer.alloc(1)]));
    writeFileSync(from, intact);
    await restoreStore({ from, location: target });
  });

  it.each([
    [0, 1],
    [1.5, 1],
    [1e10, 1],
    [1, -1],
    [1, 1e15],
    ['1/../..', 1],
  ])('that says it is of generation %s and revision %s is refused', async (generation, revision) => {
    const { directory } = await filledStore(0);
    const from = join(temporaryDirectory(), 'backup');
    const writer = await BackupWriter.create(from);
    await writer.write({ kind: 'info', bytes: printChecked({ generation, revision }) });
    await writer.write({
      kind: 'header',
      bytes: withFormat(readFileSync(join(directory, 'coffer.json')), 1),
    });
    await writer.finish();
    await writer.close();
    const target = join(temporaryDirectory(), 'restored');
    await expect(restoreStore({ from, location: target })).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${from} is damaged`,
    });
    expect(existsSync(target)).toBe(false);
  });

  it('has its records in their order, nothing in place of another, and its end', async () => {
    const { directory } = await filledStore(0);
    const from = join(temporaryDirectory(), 'backup');
    const location = join(temporaryDirectory(), 'restored');
    const info = { kind: 'info', bytes: printChecked({ generation: 1, revision: 1 }) } as const;
    const header = {
      kind: 'header',
      bytes: withFormat(readFileSync(join(directory, 'coffer.json')), 1),
    } as const;
    const blob = {
      kind: 'blob',
      ref: { area: 'documents', name: 'ab' },
      bytes: Buffer.from('sealed'),
    } as const;
    const orders: readonly (readonly BackupRecord[])[] = [
      [],
      [info],
      [header, info],
      [{ ...header, bytes: info.bytes }, header],
      [info, info, header],
      [info, { ...blob, bytes: header.bytes }],
      [info, blob, header],
      [blob, info, header],
      [info, header, info],
      [info, header, blob, header],
    ];
    for (const [index, records] of orders.entries()) {
      const path = `${from}${index}`;
      const writer = await BackupWriter.create(path);
      for (const record of records) await writer.write(record);
      await writer.finish();
      await writer.close();
      await expect(restoreStore({ from: path, location })).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} is damaged`,
      });
      expect(existsSync(location)).toBe(false);
    }
  });

  it('claims no record that is larger than any, for which memory would be taken', async () => {
    const from = join(temporaryDirectory(), 'backup');
    const size = Buffer.alloc(4);
    size.writeUInt32BE(1024 ** 3 + 1);
    writeFileSync(from, Buffer.concat([Buffer.from('COFFERBK\x01\x01', 'latin1'), size, Buffer.alloc(64)]));
    await expect(restoreStore({ from, location: temporaryDirectory() })).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${from} is damaged`,
    });
  });

  it('is told apart from other files, and from a backup of a newer format', async () => {
    const folder = temporaryDirectory();
    const from = join(folder, 'file');
    const restore = () => restoreStore({ from, location: join(folder, 'restored') });
    writeFileSync(from, 'a letter to somebody');
    await expect(restore()).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${from} is not a store backup`,
    });
    writeFileSync(from, 'COFFERBK\x02 and more');
    await expect(restore()).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${from} was written by a newer Coffer (format 2), or is damaged`,
    });
    await expect(restoreStore({ from: join(folder, 'nowhere'), location: folder })).rejects.toMatchObject({
      kind: 'unavailable',
      message: `cannot read ${join(folder, 'nowhere')}: no such file or directory`,
    });
  });
});

it('a backup is written over no file unless that is wanted, and into no directory', async () => {
  const { directory, store } = await filledStore(1);
  await store.close();
  const to = join(temporaryDirectory(), 'backup');
  const backup = (path: string) =>
    backupStore({ location: directory, to: path, credentials: [rawCredential()] });
  await backup(to);
  const before = readFileSync(to);
  await expect(backup(to)).rejects.toMatchObject({ kind: 'exists', message: `${to} already exists` });
  expect(readFileSync(to)).toEqual(before);
  const folder = temporaryDirectory();
  await expect(backup(folder)).rejects.toMatchObject({
    kind: 'exists',
    message: `${folder} is a directory`,
    hint: 'use the name of a file in it',
  });
  expect(readdirSync(folder)).toEqual([]);
});
