import { beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { NameSearches } from '../../src/tags/name-search.ts';
import type { WorkspaceRecord } from '../../src/tags/organization.ts';
import { RecordTable, type TableRecord } from '../../src/tags/record-table.ts';
import { RecordTableEdit } from '../../src/tags/record-table-edit.ts';
import { WorkspaceIndexes } from '../../src/tags/workspace-index.ts';
import { refused } from '../refusal.ts';
import { FakeStore } from './fake-store.ts';

const shape = { collection: 'table', perSlice: 8 };
const record = (key: string, name: string): TableRecord => ({ key: key.padEnd(12, '1'), name });

let store: FakeStore;
beforeEach(async () => {
  store = new FakeStore();
  await store.transact((tx) => RecordTableEdit.create(tx, shape, systemRandom));
});

const edit = <T>(
  change: (table: RecordTableEdit<TableRecord>) => Promise<T>,
  random = systemRandom,
): Promise<T> =>
  store.transact(async (tx) => {
    const table = await RecordTableEdit.open<TableRecord>(tx, shape, random);
    const result = await change(table);
    await table.save();
    return result;
  });
const read = <T>(look: (table: RecordTable<TableRecord>) => Promise<T> | T): Promise<T> =>
  store.read(async (view) => look(await RecordTable.open<TableRecord>(view, shape)));
const lose = (part: RegExp): Promise<void> =>
  store.transact((tx) => {
    for (const { collection, id } of store.all()) if (part.test(id)) tx.delete({ collection, id });
  });

describe('a table of which a part is missing', () => {
  it('is damaged for those who read and those who write if it is the index', async () => {
    await lose(/^directory$/);
    const message = 'the index of table is missing';
    for (const damaged of [() => edit(async () => {}), () => read(() => {})]) {
      expect(await refused(damaged())).toMatchObject({
        kind: 'corrupt',
        message: expect.stringContaining(message),
      });
    }
  });

  it('is damaged for those who read and those who write if it is names, and nothing is written', async () => {
    await edit((table) => table.add(record('a', 'one')));
    await lose(/^names-/);
    store.written.length = 0;
    const message = expect.stringMatching(/^part \w+ of the index of table is missing/);
    for (const damaged of [
      () => edit((table) => table.add(record('b', 'two'))),
      () => read((table) => table.keyOf('one')),
      () => read((table) => table.names(0, 1)),
    ]) {
      expect(await refused(damaged())).toMatchObject({ kind: 'corrupt', message });
    }
    expect(store.written).toEqual([]);
  });
});

describe('a key of a new record', () => {
  it('is another one if chance gives that of an existing record', async () => {
    const taken = { bytes: (count: number) => Buffer.alloc(count, 0) };
    const key = await edit((table) => table.freshKey(), taken);
    await edit((table) => table.add({ key, name: 'one' }));
    let calls = 0;
    const bytes = (count: number) => Buffer.alloc(count, calls++ === 0 ? 0 : 1);
    expect(await edit((table) => table.freshKey(), { bytes })).not.toBe(key);
  });
});

describe('a record that is not in its table', () => {
  it('takes nothing away with it when it is removed', async () => {
    await edit((table) => table.add(record('a', 'one')));
    await edit((table) => table.remove(record('b', 'two')));
    expect(await read((table) => [table.total, table.getAll(['a'.padEnd(12, '1')])])).toHaveLength(2);
    expect(await read((table) => table.total)).toBe(1);
    expect(await read((table) => table.all())).toEqual([record('a', 'one')]);
  });
});

describe('what a process remembers of tables', () => {
  const tableAt = async (number: number) => {
    const other = { collection: `table-${number}`, perSlice: 8 };
    await store.transact((tx) => RecordTableEdit.create(tx, other, systemRandom));
    return store.read((view) => RecordTable.open<WorkspaceRecord>(view, other));
  };

  it('is that of the sixteen that were last looked at', async () => {
    const [searches, indexes] = [new NameSearches(), new WorkspaceIndexes()];
    const tables = await Promise.all(Array.from({ length: 17 }, (_, number) => tableAt(number)));
    const look = (table: RecordTable<WorkspaceRecord>) =>
      Promise.all([searches.of(table), indexes.of(table, '1', 'usual')]);
    const seen: (readonly unknown[])[] = [];
    for (const table of tables.slice(0, 16)) seen.push(await look(table));
    const [first, second, ...others] = tables;
    if (first === undefined || second === undefined) throw new Error('there are 17');
    const isKept = async (table: RecordTable<WorkspaceRecord>, at: number) =>
      (await look(table)).map((known, kind) => known === seen[at]?.[kind]);
    expect(await isKept(first, 0)).toEqual([true, true]);
    // The second one is now the one that nobody has looked at for longest.
    for (const table of others.slice(-1)) await look(table);
    expect(await isKept(first, 0)).toEqual([true, true]);
    expect(await isKept(second, 1)).toEqual([false, false]);
  });
});
