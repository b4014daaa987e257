import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { printPlace } from '../../src/ground/errors.ts';
import { type Examination, examineStore } from '../../src/store/administration/repair.ts';
import { addSlot, listSlots } from '../../src/store/administration/slots.ts';
import { storeStatus } from '../../src/store/administration/status.ts';
import type { BlobIdentity } from '../../src/store/root-key.ts';
import { headOf } from '../../src/store/sealed/collection-index.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { sampledBelow } from '../sampled.ts';
import { seeded } from '../seeded.ts';
import { becomeFormat1 } from './format-1.ts';
import {
  intoDocuments,
  KEY,
  newStoreDirectory,
  openWithKey,
  rawCredential,
  temporaryDirectory,
} from './temporary-store.ts';

const OTHER_KEY = Uint8Array.from(KEY, (byte) => byte + 100);
const at = (id: string, collection = 'things') => ({ collection, id });
const get = (store: SealedStore, id: string, collection?: string) =>
  store.read((view) => view.get(at(id, collection)));

describe('a damaged store', () => {
  let directory: string;
  /** Where the file of each identity is. */
  let fileOf: (identity: BlobIdentity) => string;
  const documentFile = (id: string, collection?: string) =>
    fileOf({ space: 'document', ...at(id, collection) });
  const slotFile = (id: string) => join(directory, 'generation-1', 'slots', `${id}.json`);

  const examine = (key = KEY): Promise<Examination> =>
    examineStore({ location: directory, credentials: [rawCredential(key)] });
  const damagedFiles = async (key = KEY) => (await examine(key)).findings.map(({ file }) => file);

  /** Runs `check` for positions all over a file, with one bit of the byte there flipped, then mends it. */
  async function withEachByteFlipped(path: string, check: () => Promise<void>): Promise<void> {
    const intact = readFileSync(path);
    for (const i of sampledBelow(intact.length, seeded())) {
      const flipped = Buffer.from(intact);
      flipped.writeUInt8(flipped.readUInt8(i) ^ (1 << (i % 8)), i);
      writeFileSync(path, flipped);
      await check();
    }
    writeFileSync(path, intact);
  }

  beforeEach(async () => {
    directory = await newStoreDirectory();
    const store = await openWithKey(directory);
    await addSlot(store, { kind: 'raw', key: Uint8Array.from(OTHER_KEY) });
    await store.transact((tx) => {
      tx.put(at('one'), { n: 1 });
      tx.put(at('two'), { n: 2 });
      tx.put(at('solo', 'others'), { n: 3 });
    });
    const root = await store.keyring.root(store.backend, 1);
    fileOf = (identity) => printPlace(store.backend.locate(1, root.refOf(identity)));
    store.close();
    await intoDocuments(directory);
    expect(await examine()).toMatchObject({ findings: [], unlocked: true });
  });

  it('names a document with any byte flipped; all others stay readable and writable', async () => {
    const path = documentFile('one');
    const message = expect.stringContaining(`${path} is damaged`);
    await withEachByteFlipped(path, async () => {
      const store = await openWithKey(directory);
      await expect(get(store, 'one')).rejects.toMatchObject({ kind: 'corrupt', message });
      expect(await get(store, 'two')).toEqual({ n: 2 });
      expect(await store.read((view) => view.list('things'))).toEqual(['one', 'two']);
      expect(await damagedFiles()).toEqual([path]);
    });
    const store = await openWithKey(directory);
    await store.transact((tx) => tx.put(at('three'), {}));
    expect(await get(store, 'one')).toEqual({ n: 1 });
  });

  it('names an index file with any byte flipped; documents stay readable', async () => {
    const path = fileOf(headOf('things'));
    const message = expect.stringContaining(`${path} is damaged`);
    await withEachByteFlipped(path, async () => {
      const store = await openWithKey(directory);
      await expect(store.read((view) => view.list('things'))).rejects.toMatchObject({
        kind: 'corrupt',
        message,
      });
      expect(await get(store, 'one')).toEqual({ n: 1 });
      expect(await store.read((view) => view.list('others'))).toEqual(['solo']);
      expect(await damagedFiles()).toEqual([path]);
    });
  });

  it('names the list of slots with any byte flipped; everything else works', async () => {
    const path = fileOf({ space: 'slots', collection: '', id: 'list' });
    const message = expect.stringContaining(`${path} is damaged`);
    await withEachByteFlipped(path, async () => {
      const store = await openWithKey(directory);
      await expect(listSlots(store)).rejects.toMatchObject({ kind: 'corrupt', message });
      expect(await get(store, 'one')).toEqual({ n: 1 });
      expect(await damagedFiles()).toEqual([path]);
    });
  });

  it('names a slot with any byte flipped; other slots open the store', async () => {
    const { keyring } = await openWithKey(directory);
    const path = slotFile(keyring.slotId);
    await withEachByteFlipped(path, async () => {
      await expect(openWithKey(directory)).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} is damaged`,
      });
      const store = await openWithKey(directory, OTHER_KEY);
      expect(await get(store, 'one')).toEqual({ n: 1 });
      expect(await damagedFiles(OTHER_KEY)).toEqual([path]);
      expect(await examine()).toMatchObject({
        unlocked: false,
        findings: [{ file: path, reason: 'is damaged' }],
      });
      expect((await storeStatus(directory)).damaged).toMatchObject([{ file: path }]);
    });
  });

  it('names the header with any byte flipped', async () => {
    const path = join(directory, 'coffer.json');
    await withEachByteFlipped(path, async () => {
      await expect(openWithKey(directory)).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} is damaged`,
      });
      expect(await examine()).toMatchObject({
        unlocked: false,
        findings: [{ file: path, reason: 'is damaged' }],
      });
    });
    expect(await get(await openWithKey(directory), 'one')).toEqual({ n: 1 });
  });

  it('names a file that is cut short, empty or longer than it was', async () => {
    const path = documentFile('one');
    const intact = readFileSync(path);
    const wrong = [0, 1, 33, 48, intact.length - 1].map((length) => intact.subarray(0, length));
    for (const bytes of [...wrong, Buffer.concat([intact, Buffer.alloc(1)])]) {
      writeFileSync(path, bytes);
      const store = await openWithKey(directory);
      await expect(get(store, 'one')).rejects.toMatchObject({ kind: 'corrupt' });
      expect(await damagedFiles()).toEqual([path]);
    }
  });

  it('names both of two documents that were swapped', async () => {
    const [one, two] = [documentFile('one'), documentFile('two')];
    const aside = join(temporaryDirectory(), 'aside');
    cpSync(one, aside);
    cpSync(two, one);
    cpSync(aside, two);
    const store = await openWithKey(directory);
    for (const [id, path] of [
      ['one', one],
      ['two', two],
    ] as const) {
      await expect(get(store, id)).rejects.toMatchObject({
        kind: 'corrupt',
        message: `${path} is damaged: its content was changed, or is that of another file`,
      });
    }
    expect(await damagedFiles()).toEqual([one, two].sort());
  });

  it('opens no document under the name of another', async () => {
    renameSync(documentFile('one'), documentFile('nobody'));
    const store = await openWithKey(directory);
    await expect(get(store, 'nobody')).rejects.toMatchObject({ kind: 'corrupt' });
    await expect(get(store, 'one')).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${documentFile('one')} is missing`,
    });
    expect(await damagedFiles()).toEqual([documentFile('nobody'), documentFile('one')].sort());
  });

  it('opens no document of another store, not even with the same key and names', async () => {
    const other = await newStoreDirectory();
    const otherStore = await openWithKey(other);
    await otherStore.transact((tx) => tx.put(at('one'), { n: 'foreign' }));
    await intoDocuments(other);
    const root = await otherStore.keyring.root(otherStore.backend, 1);
    const foreign = otherStore.backend.locate(1, root.refOf({ space: 'document', ...at('one') }));
    cpSync(printPlace(foreign), documentFile('one'));
    await expect(get(await openWithKey(directory), 'one')).rejects.toMatchObject({ kind: 'corrupt' });
    expect(await damagedFiles()).toEqual([documentFile('one')]);
  });

  it.each([
    ['document', () => documentFile('one')],
    ['index', () => fileOf(headOf('things'))],
    ['list of collections', () => fileOf(headOf(''))],
    ['list of slots', () => fileOf({ space: 'slots', collection: '', id: 'list' })],
  ])('misses a %s that was deleted', async (_, path) => {
    rmSync(path());
    const store = await openWithKey(directory);
    expect(await get(store, 'two')).toEqual({ n: 2 });
    const missing = { kind: 'corrupt', message: `${path()} is missing` };
    const attempts = await Promise.allSettled([
      get(store, 'one'),
      store.read((view) => view.list('things')),
      store.read((view) => view.list('unheard of')),
      listSlots(store),
    ]);
    const refusals = attempts.filter((attempt) => attempt.status === 'rejected');
    expect(refusals.length).toBeGreaterThan(0);
    for (const { reason } of refusals) expect(reason).toMatchObject(missing);
    expect(await damagedFiles()).toContain(path());
  });

  it('reports what does not belong there', async () => {
    const strays = [
      'notes.txt',
      'generation-1/documents/notes.txt',
      'generation-1/slots/abc',
      'generation-9',
    ];
    for (const stray of strays) writeFileSync(join(directory, stray), 'mine');
    const { findings } = await examine();
    expect(findings.map(({ file }) => file)).toEqual(strays.map((stray) => join(directory, stray)).sort());
    for (const { reason } of findings) expect(reason).toBe('does not belong to the store');
  });

  it('is looked at without being changed', async () => {
    const documents = join(directory, 'generation-1', 'documents');
    writeFileSync(documentFile('one'), 'damaged');
    const before = readdirSync(directory, { recursive: true });
    await examine();
    expect(readdirSync(directory, { recursive: true })).toEqual(before);
    expect(readFileSync(documentFile('one'), 'utf8')).toBe('damaged');
    expect(existsSync(documents)).toBe(true);
  });

  it('names a damaged journal of format 1', async () => {
    await becomeFormat1(directory);
    renameSync(join(directory, 'state', 'clean-1-2'), join(directory, 'state', 'dirty-1-2'));
    cpSync(documentFile('one'), join(directory, 'state', 'commit', 'journal'), { recursive: true });
    const { findings } = await examine();
    expect(findings).toMatchObject([
      { reason: expect.stringContaining(`${join(directory, 'state', 'commit', 'journal')} is damaged`) },
    ]);
  });

  it('throws for a wrong key, as opening does', async () => {
    await expect(examine(new Uint8Array(32))).rejects.toMatchObject({ kind: 'denied' });
    await expect(examineStore({ location: directory, credentials: [] })).rejects.toMatchObject({
      kind: 'sealed',
    });
    await expect(
      examineStore({ location: join(directory, 'nowhere'), credentials: [] }),
    ).rejects.toMatchObject({ kind: 'not-found' });
  });
});
