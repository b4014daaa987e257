import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { initStore } from '../../src/store/administration/init.ts';
import { addSlot, listSlots, rekey } from '../../src/store/administration/slots.ts';
import type { BlobIdentity } from '../../src/store/root-key.ts';
import { COLLECTIONS, headOf, PAGE_IDS, pageOf } from '../../src/store/sealed/collection-index.ts';
import { SLOT_LIST } from '../../src/store/slots/slot-list.ts';
import { isLong } from '../long.ts';
import { sampled } from '../sampled.ts';
import { seeded } from '../seeded.ts';
import {
  at,
  contentOf,
  examined,
  fillSmall,
  flip,
  IDS,
  mended,
  pathOf,
  repaired,
  smallStore,
} from './repairing.ts';
import { intoDocuments, KEY, openWithKey, temporaryDirectory } from './temporary-store.ts';

const OTHER_KEY = Uint8Array.from(KEY, (byte) => byte + 100);

/** Documents of a collection whose index has two pages, and of one with a small index. */
const TWO_PAGES = PAGE_IDS + 1;
const FEW = 3;

let directory: string;
const in_ = (...path: string[]) => join(directory, ...path);

describe('the repair of an index', () => {
  /** Small stores with so many documents beside that their index has two pages, or with few: made once, and copied for each test. */
  const stores = new Map<number, { readonly filled: string; readonly before: Record<string, unknown> }>();
  beforeAll(async () => {
    for (const count of [TWO_PAGES, FEW]) {
      const filled = join(mkdtempSync(join(tmpdir(), 'coffer-filled-')), 'store');
      await initStore({ location: filled, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
      const store = await openWithKey(filled);
      await fillSmall(store);
      await store.transact((tx) => {
        for (let i = 0; i < count; i++) tx.put(at(`id-${i}`, 'many'), { i });
      });
      store.close();
      await intoDocuments(filled);
      stores.set(count, { filled, before: await contentOf(filled) });
    }
  });
  afterAll(() => {
    for (const { filled } of stores.values()) rmSync(dirname(filled), { recursive: true, force: true });
  });

  /** @returns what is in it */
  function copyStore(count: number): Record<string, unknown> {
    const { filled, before } = stores.get(count) ?? expect.fail(`no store with ${count} documents`);
    directory = join(temporaryDirectory(), 'store');
    cpSync(filled, directory, { recursive: true });
    return before;
  }

  /** The long proof looks at all of them beside a large index. */
  const few = isLong ? TWO_PAGES : FEW;
  const blobs: readonly (readonly [what: string, identity: BlobIdentity, count: number])[] = [
    ['the index of a collection', headOf('things'), few],
    ['a page of a large index', pageOf('many', 1), TWO_PAGES],
    ['the head of a large index', headOf('many'), TWO_PAGES],
    ['the list of collections', headOf(COLLECTIONS), few],
    ['the list of the only slot', SLOT_LIST, few],
  ];
  const ways: readonly (readonly [string, (path: string) => void])[] = [
    ['was deleted', (path) => rmSync(path)],
    ['has one byte flipped', (path) => flip(path, Math.floor(statSync(path).size / 2))],
    ['is empty', (path) => writeFileSync(path, '')],
  ];

  it.each(blobs.flatMap(([what, ...store]) => ways.map(([how, way]) => [what, how, store, way] as const)))(
    'makes %s anew that %s, with everything in it',
    async (_what, _how, [identity, count], way) => {
      const before = copyStore(count);
      const store = await openWithKey(directory);
      const open = await openWithKey(directory);
      await open.read((view) => view.list('many'));
      way(await pathOf(directory, identity));
      expect(await examined(directory)).not.toEqual([]);
      await mended(directory);
      expect(await contentOf(directory)).toEqual(before);
      expect((await listSlots(store)).length).toBe(1);
      expect(await open.read((view) => view.list('many', { limit: 2 }))).toEqual(['id-0', 'id-1']);
      await open.transact((tx) => tx.put(at('another', 'many'), {}));
      expect(await examined(directory)).toEqual([]);
    },
  );

  it('makes them all anew when all are lost at the same time', async () => {
    const before = copyStore(TWO_PAGES);
    const lost = [headOf('things'), headOf('others'), headOf('many'), headOf(COLLECTIONS), pageOf('many', 0)];
    for (const identity of lost) flip(await pathOf(directory, identity), 40);
    await mended(directory);
    expect(await contentOf(directory)).toEqual(before);
  });
});

describe('the repair of indexes', () => {
  beforeEach(async () => {
    directory = await smallStore();
  });

  it('lists a document again that is there and not listed, and says which', async () => {
    const path = await pathOf(directory, { space: 'document', ...at('one') });
    const bytes = readFileSync(path);
    const store = await openWithKey(directory);
    await store.transact((tx) => tx.delete(at('one')));
    await intoDocuments(directory);
    writeFileSync(path, bytes, { mode: 0o600 });
    expect(await examined(directory)).toMatchObject([
      { file: path, reason: 'is missing from the index of its collection' },
    ]);
    const { mended: done } = await repaired(directory);
    expect(done).toMatchObject([
      {},
      { file: path, done: expect.stringContaining('the index of things and was added to it again (one)') },
    ]);
    expect(await store.read((view) => view.list('things'))).toEqual([...IDS].sort());
  });

  it('goes on missing a document that is lost, says which it was, and keeps all others', async () => {
    const path = await pathOf(directory, { space: 'document', ...at('one') });
    rmSync(path);
    flip(await pathOf(directory, headOf('others')), 50);
    const { mended: done, examination } = await repaired(directory);
    expect(done).toHaveLength(1);
    expect(examination.findings).toMatchObject([
      { file: path, reason: 'is missing', holds: { collection: 'things', id: 'one' } },
    ]);
    const store = await openWithKey(directory);
    await expect(store.read((view) => view.get(at('one')))).rejects.toMatchObject({ kind: 'corrupt' });
    expect(await store.read((view) => view.get(at('two')))).toEqual({ id: 'two' });
  });

  it('names the file of a lost document whose name is lost with its index', async () => {
    const path = await pathOf(directory, { space: 'document', ...at('one') });
    flip(path, 60);
    rmSync(await pathOf(directory, headOf('things')));
    const { examination } = await repaired(directory);
    expect(examination.findings).toMatchObject([
      { file: path, hint: expect.stringContaining('--without-damaged') },
    ]);
    expect(examination.findings[0]?.holds).toBeUndefined();
    const store = await openWithKey(directory);
    expect(await store.read((view) => view.list('things'))).toEqual(['three', 'two']);
  });

  it('makes no list of slots while another slot could have been in it', async () => {
    const store = await openWithKey(directory);
    await addSlot(store, { kind: 'raw', key: Uint8Array.from(OTHER_KEY) });
    await intoDocuments(directory);
    const path = await pathOf(directory, SLOT_LIST);
    rmSync(path);
    const { mended: done, examination } = await repaired(directory);
    expect(done).toEqual([]);
    expect(examination.findings).toMatchObject([{ file: path, reason: 'is missing' }]);
    const { leftOut } = await rekey(store, { withoutDamaged: true });
    expect(leftOut).toHaveLength(1);
    expect(await examined(directory)).toEqual([]);
    expect(await listSlots(store)).toHaveLength(1);
  });
});

/** Bytes of a file of the log that are not zero if it has no records. */
const HEAD_BYTES = 68;

describe('any one file of a store', () => {
  beforeEach(async () => {
    directory = await smallStore();
  });

  it.each(['deleted', 'flipped', 'cut short', 'emptied', 'filled with junk'])(
    'that is %s is found, and mended or named; everything else is as before',
    async (how) => {
      const chance = seeded();
      const before = await contentOf(directory);
      const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) =>
        statSync(in_(path)).isFile(),
      );
      const aside = join(temporaryDirectory(), 'aside');
      for (const file of sampled(files, chance, 5)) {
        rmSync(aside, { recursive: true, force: true });
        cpSync(directory, aside, { recursive: true });
        const path = join(aside, file);
        const size = statSync(path).size;
        if (size === 0 && how !== 'deleted' && how !== 'filled with junk') continue;
        const position = chance.below(size);
        if (how === 'deleted') rmSync(path);
        else if (how === 'flipped') flip(path, position, chance.below(8));
        else if (how === 'cut short') writeFileSync(path, readFileSync(path).subarray(0, position));
        else writeFileSync(path, how === 'emptied' ? '' : chance.bytes(1 + chance.below(200)));
        await checkOne(aside, file, isHarmless(file, how, position), before);
      }
    },
  );

  /**
   * The locks may be missing, and what is in the state file and in the mark of the log's first file does not matter, as
   * their names say all; nor does what is in a file of the log after its head, as it was moved into the documents.
   */
  function isHarmless(file: string, how: string, position: number): boolean {
    if (file.endsWith('lock')) return how === 'deleted';
    const isUnused = position >= HEAD_BYTES && /flipped|cut short/.test(how);
    return /^log\/\d+$/.test(file) ? isUnused : /^(?:state\/|log\/first-)/.test(file) && how !== 'deleted';
  }

  /** Without the mark of the log's first file, the one before it counts as lost. */
  const lostWith = (path: string): string =>
    path.replace(/(?<=\/log\/)first-(\d+)$/, (_, number: string) => String(Number(number) - 1));

  async function checkOne(
    aside: string,
    file: string,
    isHarmless: boolean,
    before: Record<string, unknown>,
  ): Promise<void> {
    const path = join(aside, file);
    const found = await examined(aside);
    if (isHarmless) expect(found).toEqual([]);
    else expect(found, file).not.toEqual([]);
    const { examination: all } = await repaired(aside);
    const findings = all.findings.filter(
      ({ reason }) => reason !== 'is a copy from before the repair of a damaged log',
    );
    const examination = { ...all, findings };
    if (examination.findings.length === 0) {
      expect(await contentOf(aside)).toEqual(before);
      return;
    }
    // The header and the only slot: without them nothing opens the store.
    expect(examination.findings[0]?.file === lostWith(path) || file.includes('slots/'), file).toBe(true);
    if (!examination.unlocked) return expect(file).toMatch(/coffer\.json|slots\//);
    const store = await openWithKey(aside);
    for (const [name, value] of Object.entries(before)) {
      const [collection = '', id = ''] = name.split('/');
      const holds = examination.findings.some((finding) => finding.holds?.id === id);
      const outcome = store.read((view) => view.get(at(id, collection)));
      if (holds) await expect(outcome).rejects.toMatchObject({ kind: 'corrupt' });
      else expect(await outcome).toEqual(value);
    }
    await store.transact((tx) => tx.put(at('next'), {}));
    store.close();
  }
});
