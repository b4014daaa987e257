import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { newKey } from '../../src/tags/identifiers.ts';
import { Roster } from '../../src/tags/roster.ts';
import { RosterEdit } from '../../src/tags/roster-edit.ts';
import { namesOf, type RosterRecord, sliceOf } from '../../src/tags/roster-format.ts';
import { FakeStore } from './fake-store.ts';

const shape = { collection: 'roster', perSlice: 8 };

async function emptyRoster(): Promise<FakeStore> {
  const store = new FakeStore();
  await store.transact((tx) => RosterEdit.create(tx, shape, systemRandom));
  return store;
}

const edit = (store: FakeStore, change: (roster: RosterEdit<RosterRecord>) => Promise<void>): Promise<void> =>
  store.transact(async (tx) => {
    const roster = await RosterEdit.open<RosterRecord>(tx, shape, systemRandom);
    await change(roster);
    await roster.save();
  });

const read = <T>(store: FakeStore, look: (roster: Roster<RosterRecord>) => Promise<T> | T): Promise<T> =>
  store.read(async (view) => look(await Roster.open<RosterRecord>(view, shape)));

/** Names long enough that a few dozen fill a leaf, alike enough that separators must tell them apart. */
const longName = (number: number): string => `${'n'.repeat((number * 37) % 200)}-${number}`;

const change = fc.record({
  kind: fc.constantFrom('add', 'remove', 'rename'),
  from: fc.nat(400),
  count: fc.integer({ min: 1, max: 120 }),
});

describe('a roster', () => {
  it('finds records by key, by name and in order, whatever came and went', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const store = await emptyRoster();
        const model = new Map<string, RosterRecord>();
        for (const { kind, from, count } of changes) {
          await edit(store, async (roster) => {
            for (let i = from; i < from + count; i++) await apply(kind, i, roster, model);
          });
          await compare(store, model);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('keeps its documents small while it grows, and gives their room back', async () => {
    const store = await emptyRoster();
    const records = Array.from({ length: 3000 }, (_, i) => ({
      key: newKey(systemRandom),
      name: longName(i),
    }));
    await edit(store, async (roster) => {
      for (const record of records) await roster.add(record);
    });
    const sizes = [...store.all()].map(({ value }) => JSON.stringify(value).length);
    expect(Math.max(...sizes)).toBeLessThan(32_768);
    await edit(store, async (roster) => {
      for (const record of records) await roster.remove(record);
    });
    // The directory and one empty leaf.
    expect(store.size).toBe(2);
  });

  it('writes the same few documents for one record, however many there are', async () => {
    const written: number[] = [];
    for (const total of [10, 3000]) {
      const store = await emptyRoster();
      await edit(store, async (roster) => {
        for (let i = 0; i < total; i++) await roster.add({ key: newKey(systemRandom), name: `n${i}` });
      });
      const key = newKey(systemRandom);
      await edit(store, (roster) => roster.add({ key, name: 'x' }));
      await edit(store, (roster) => roster.replace({ key, name: 'x' }, { key, name: 'x' }));
      await edit(store, (roster) => roster.remove({ key, name: 'x' }));
      written.push(...store.written.slice(-2));
      // A new record may make the roster split one slice.
      expect(store.written.at(-3)).toBeLessThanOrEqual(5);
    }
    expect(written).toEqual([1, 3, 1, 3]);
  });

  it('passes over names as if they were not there', async () => {
    const store = await emptyRoster();
    const all = Array.from({ length: 500 }, (_, i) => longName(i)).sort();
    await edit(store, async (roster) => {
      for (const name of all) await roster.add({ key: newKey(systemRandom), name });
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.constantFrom(...all), { maxLength: 40 }),
        fc.nat(520),
        fc.integer({ min: 1, max: 60 }),
        async (except, offset, count) => {
          const passedOver = new Set(except);
          const names = await read(store, (roster) => roster.names(offset, count, passedOver));
          const left = all.filter((name) => !passedOver.has(name));
          expect(names.map(({ name }) => name)).toEqual(left.slice(offset, offset + count));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps its stamp unless a name comes or goes', async () => {
    const store = await emptyRoster();
    const stamp = () => read(store, (roster) => roster.stamp);
    const record = { key: newKey(systemRandom), name: 'a' };
    const before = await stamp();
    await edit(store, (roster) => roster.add(record));
    const added = await stamp();
    expect(added).not.toBe(before);
    await edit(store, (roster) => roster.replace(record, { ...record }));
    expect(await stamp()).toBe(added);
    await edit(store, (roster) => roster.remove(record));
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
  roster: RosterEdit<RosterRecord>,
  model: Map<string, RosterRecord>,
): Promise<void> {
  const name = longName(number);
  const record = model.get(name);
  if (kind === 'add' && record === undefined) {
    const added = { key: await roster.freshKey(), name };
    model.set(name, added);
    await roster.add(added);
  } else if (kind === 'remove' && record !== undefined) {
    model.delete(name);
    await roster.remove(record);
  } else if (kind === 'rename' && record !== undefined && !model.has(`m${name}`)) {
    const renamed = { ...record, name: `m${name}` };
    model.delete(name);
    model.set(renamed.name, renamed);
    await roster.replace(record, renamed);
  }
}

const sorted = (names: Iterable<string>): string[] => [...names].sort();

async function compare(store: FakeStore, model: ReadonlyMap<string, RosterRecord>): Promise<void> {
  await read(store, async (roster) => {
    expect(roster.total).toBe(model.size);
    const named = await roster.names(0, model.size + 1);
    expect(named.map(({ name }) => name)).toEqual(sorted(model.keys()));
    const leaves = await roster.leaves();
    expect(leaves.flatMap((leaf) => namesOf(leaf))).toEqual(sorted(model.keys()));
    expect(sorted((await roster.all()).map(({ key }) => key))).toEqual(
      sorted([...model.values()].map(({ key }) => key)),
    );
    for (const record of model.values()) {
      expect(await roster.keyOf(record.name)).toBe(record.key);
      expect(await roster.get(record.key)).toEqual(record);
    }
    expect(await roster.keyOf('absent')).toBeUndefined();
    expect(await roster.get('111111111111')).toBeUndefined();
  });
}
