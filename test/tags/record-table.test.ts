import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { newKey } from '../../src/tags/names.ts';
import { namesOf, RecordTable, sliceOf, type TableRecord } from '../../src/tags/record-table.ts';
import { RecordTableEdit } from '../../src/tags/record-table-edit.ts';
import { FakeStore } from './fake-store.ts';

const shape = { collection: 'table', perSlice: 8 };

async function emptyTable(): Promise<FakeStore> {
  const store = new FakeStore();
  await store.transact((tx) => RecordTableEdit.create(tx, shape, systemRandom));
  return store;
}

const edit = (
  store: FakeStore,
  change: (table: RecordTableEdit<TableRecord>) => Promise<void>,
): Promise<void> =>
  store.transact(async (tx) => {
    const table = await RecordTableEdit.open<TableRecord>(tx, shape, systemRandom);
    await change(table);
    await table.save();
  });

const read = <T>(store: FakeStore, look: (table: RecordTable<TableRecord>) => Promise<T> | T): Promise<T> =>
  store.read(async (view) => look(await RecordTable.open<TableRecord>(view, shape)));

/** Names long enough that a few dozen fill a leaf, alike enough that separators must tell them apart. */
const longName = (number: number): string => `${'n'.repeat((number * 37) % 200)}-${number}`;

const change = fc.record({
  kind: fc.constantFrom('add', 'remove', 'rename'),
  from: fc.nat(400),
  count: fc.integer({ min: 1, max: 120 }),
});

describe('a table', () => {
  it('finds records by key, by name and in order, whatever came and went', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const store = await emptyTable();
        const model = new Map<string, TableRecord>();
        for (const { kind, from, count } of changes) {
          await edit(store, async (table) => {
            for (let i = from; i < from + count; i++) await apply(kind, i, table, model);
          });
          await compare(store, model);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('keeps its documents small while it grows, and gives their room back', async () => {
    const store = await emptyTable();
    const records = Array.from({ length: 3000 }, (_, i) => ({
      key: newKey(systemRandom),
      name: longName(i),
    }));
    await edit(store, async (table) => {
      for (const record of records) await table.add(record);
    });
    const sizes = [...store.all()].map(({ value }) => JSON.stringify(value).length);
    expect(Math.max(...sizes)).toBeLessThan(32_768);
    await edit(store, async (table) => {
      for (const record of records) await table.remove(record);
    });
    // The directory and one empty leaf.
    expect(store.size).toBe(2);
  });

  it('writes the same few documents for one record, however many there are', async () => {
    const written: number[] = [];
    for (const total of [10, 3000]) {
      const store = await emptyTable();
      await edit(store, async (table) => {
        for (let i = 0; i < total; i++) await table.add({ key: newKey(systemRandom), name: `n${i}` });
      });
      const key = newKey(systemRandom);
      await edit(store, (table) => table.add({ key, name: 'x' }));
      await edit(store, (table) => table.replace({ key, name: 'x' }, { key, name: 'x' }));
      await edit(store, (table) => table.remove({ key, name: 'x' }));
      written.push(...store.written.slice(-2));
      // A new record may make the table split one slice.
      expect(store.written.at(-3)).toBeLessThanOrEqual(5);
    }
    expect(written).toEqual([1, 3, 1, 3]);
  });

  it('passes over names as if they were not there', async () => {
    const store = await emptyTable();
    const all = Array.from({ length: 500 }, (_, i) => longName(i)).sort();
    await edit(store, async (table) => {
      for (const name of all) await table.add({ key: newKey(systemRandom), name });
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...all), { maxLength: 40 }),
        fc.nat(520),
        fc.integer({ min: 1, max: 60 }),
        async (except, offset, count) => {
          const passedOver = new Set(except);
          const names = await read(store, (table) => table.names(offset, count, passedOver));
          const left = all.filter((name) => !passedOver.has(name));
          expect(names.map(({ name }) => name)).toEqual(left.slice(offset, offset + count));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps its stamp unless a name comes or goes', async () => {
    const store = await emptyTable();
    const stamp = () => read(store, (table) => table.stamp);
    const record = { key: newKey(systemRandom), name: 'a' };
    const before = await stamp();
    await edit(store, (table) => table.add(record));
    const added = await stamp();
    expect(added).not.toBe(before);
    await edit(store, (table) => table.replace(record, { ...record }));
    expect(await stamp()).toBe(added);
    await edit(store, (table) => table.remove(record));
    expect(await stamp()).not.toBe(added);
  });
});

describe('linear hashing', () => {
  it('moves keys only from the slice that splits into the new one', () => {
    for (let slices = 1; slices < 70; slices++) {
      for (let i = 0; i < 50; i++) {
        const key = newKey(systemRandom);
        const [before, after] = [sliceOf(key, slices), sliceOf(key, slices + 1)];
        expect(before).toBeLessThan(slices);
        if (after !== before) expect(after).toBe(slices);
      }
    }
  });
});

async function apply(
  kind: string,
  number: number,
  table: RecordTableEdit<TableRecord>,
  model: Map<string, TableRecord>,
): Promise<void> {
  const name = longName(number);
  const record = model.get(name);
  if (kind === 'add' && record === undefined) {
    const added = { key: await table.freshKey(), name };
    model.set(name, added);
    await table.add(added);
  } else if (kind === 'remove' && record !== undefined) {
    model.delete(name);
    await table.remove(record);
  } else if (kind === 'rename' && record !== undefined && !model.has(`m${name}`)) {
    const renamed = { ...record, name: `m${name}` };
    model.delete(name);
    model.set(renamed.name, renamed);
    await table.replace(record, renamed);
  }
}

const sorted = (names: Iterable<string>): string[] => [...names].sort();

async function compare(store: FakeStore, model: ReadonlyMap<string, TableRecord>): Promise<void> {
  await read(store, async (table) => {
    expect(table.total).toBe(model.size);
    const named = await table.names(0, model.size + 1);
    expect(named.map(({ name }) => name)).toEqual(sorted(model.keys()));
    const leaves = await table.leaves();
    expect(leaves.flatMap((leaf) => namesOf(leaf))).toEqual(sorted(model.keys()));
    expect(sorted((await table.all()).map(({ key }) => key))).toEqual(
      sorted([...model.values()].map(({ key }) => key)),
    );
    for (const record of model.values()) {
      expect(await table.keyOf(record.name)).toBe(record.key);
      expect(await table.get(record.key)).toEqual(record);
    }
    expect(await table.keyOf('absent')).toBeUndefined();
    expect(await table.get('111111111111')).toBeUndefined();
  });
}
