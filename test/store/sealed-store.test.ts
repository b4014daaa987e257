import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { newStore } from '../../src/store/administration/init.ts';
import { MemoryBackend } from '../../src/store/backends/memory.ts';
import { openBackend } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { DocumentRef } from '../../src/store/store.ts';
import { KEY, newStoreDirectory, openWithKey, rawCredential } from './temporary-store.ts';

const at = (id: string, collection = 'things'): DocumentRef => ({ collection, id });
const get = <T>(store: SealedStore, ref: DocumentRef) => store.read((view) => view.get<T>(ref));
const put = (store: SealedStore, ref: DocumentRef, value: object) =>
  store.transact((tx) => tx.put(ref, value));

function signal(): { give(): void; readonly given: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { give: resolve, given: promise };
}

const places = [
  {
    name: 'files',
    make: async () => {
      const directory = await newStoreDirectory();
      return () => openWithKey(directory);
    },
  },
  {
    name: 'memory',
    make: async () => {
      const { content } = await newStore([{ kind: 'raw', key: KEY }], systemClock, systemRandom);
      const backend = await MemoryBackend.create(content);
      return () => openBackend(backend, [rawCredential()]);
    },
  },
];

describe.each(places)('a sealed store in $name', ({ make }) => {
  let open: () => Promise<SealedStore>;
  let store: SealedStore;
  beforeEach(async () => {
    open = await make();
    store = await open();
  });

  it('gives back what was put, to whoever opens it', async () => {
    const value = { text: 'é\u{1F512}\u0000', number: 1.5, list: [1, [2, null]], empty: {}, yes: true };
    await put(store, at('one'), value);
    expect(await get(store, at('one'))).toEqual(value);
    expect(await get(await open(), at('one'))).toEqual(value);
    expect((await open()).id).toBe(store.id);
  });

  it('knows nothing of what was never put, or was deleted', async () => {
    expect(await get(store, at('one'))).toBeUndefined();
    await put(store, at('one'), { n: 1 });
    await store.transact((tx) => tx.delete(at('one')));
    expect(await get(store, at('one'))).toBeUndefined();
    expect(await store.read((view) => view.list('things'))).toEqual([]);
  });

  it('keeps collections apart, whatever their names', async () => {
    const refs = [
      at('b/c', 'a'),
      at('c', 'a/b'),
      at('1:c', 'a'),
      at('c', 'a1:'),
      at('\u0000', 'a'),
      at('é', 'a'),
    ];
    for (const [n, ref] of refs.entries()) await put(store, ref, { n });
    const reopened = await open();
    for (const [n, ref] of refs.entries()) expect(await get(reopened, ref)).toEqual({ n });
    expect(await reopened.read((view) => view.list('a'))).toEqual(['\u0000', '1:c', 'b/c', 'é']);
  });

  it.each([
    ['no id', at('')],
    ['no collection', at('x', '')],
    ['half a surrogate pair', at('\ud800')],
  ])('refuses a document with %s', async (_, ref) => {
    const refusal = {
      kind: 'invalid',
      message: expect.stringContaining('a document needs a collection and an id'),
    };
    await expect(get(store, ref)).rejects.toMatchObject(refusal);
    await expect(put(store, ref, {})).rejects.toMatchObject(refusal);
  });

  it('returns one frozen object for as long as a document is unchanged, by whomever', async () => {
    await put(store, at('one'), { deep: { list: [1] } });
    const first = await get<{ deep: { list: number[] } }>(store, at('one'));
    expect(Object.isFrozen(first?.deep.list)).toBe(true);
    expect(await get(store, at('one'))).toBe(first);
    await put(store, at('two'), {});
    await put(await open(), at('three'), {});
    expect(await get(store, at('one'))).toBe(first);
    await put(await open(), at('one'), { deep: { list: [2] } });
    expect(await get(store, at('one'))).toEqual({ deep: { list: [2] } });
  });

  it('opens a document once, though it is read after a look at the revision through a view that did not have it', async () => {
    const other = await open();
    await other.transact((tx) => {
      for (const id of ['one', 'two']) tx.put(at(id), { id });
    });
    const seen = async (id: string) => {
      await store.revision();
      return get(store, at(id));
    };
    for (let round = 0; round < 3; round++) await seen('one');
    const opened = vi.spyOn(store.backend, 'read');
    const first = await seen('two');
    expect(first).toEqual({ id: 'two' });
    expect(await seen('two')).toBe(first);
    expect(opened).toHaveBeenCalledTimes(1);
  });

  it('takes no document for one of an earlier version while several read through the same view', async () => {
    const other = await open();
    const putAll = (of: string) =>
      other.transact((tx) => {
        for (const id of ['one', 'two', 'three']) tx.put(at(id), { of });
      });
    await putAll('before');
    await get(store, at('one'));
    const committed = signal();
    const opened = signal();
    const confirmed = signal();
    const compared = signal();
    // Begins before the commit and finds all in the cache, if that holds what it should not.
    const compares = store.read(async (view) => {
      const one = await view.get(at('one'));
      await confirmed.given;
      const three = await view.get(at('three'));
      compared.give();
      return [one, three];
    });
    await store.revision();
    await get(store, at('one'));
    const state = store.backend.state.bind(store.backend);
    await store.revision();
    vi.spyOn(store.backend, 'state').mockImplementationOnce(async () => {
      const seen = await state();
      await putAll('after');
      committed.give();
      await opened.given;
      return seen;
    });
    const opens = get(store, at('two')).then(confirmed.give);
    const opensLate = store.read(async (view) => {
      await committed.given;
      const three = await view.get(at('three'));
      opened.give();
      await compared.given;
      return three;
    });
    await opens;
    expect(await compares).toEqual([{ of: 'after' }, { of: 'after' }]);
    expect(await opensLate).toEqual({ of: 'after' });
  });

  it('sees at once what another has committed, deletions and new documents included', async () => {
    const other = await open();
    await put(other, at('one'), { n: 1 });
    expect(await get(store, at('one'))).toEqual({ n: 1 });
    await put(other, at('one'), { n: 2 });
    expect(await get(store, at('one'))).toEqual({ n: 2 });
    await other.transact((tx) => tx.delete(at('one')));
    expect(await get(store, at('one'))).toBeUndefined();
    await put(other, at('one'), { n: 3 });
    expect(await get(store, at('one'))).toEqual({ n: 3 });
    expect(await store.read((view) => view.list('things'))).toEqual(['one']);
  });

  it('changes its revision with every commit, and only then', async () => {
    const before = await store.revision();
    expect(await store.revision()).toBe(before);
    await store.transact(async (tx) => void (await tx.get(at('one'))));
    expect(await store.revision()).toBe(before);
    await put(await open(), at('one'), {});
    const after = await store.revision();
    expect(after).not.toBe(before);
    await put(store, at('one'), {});
    expect(await store.revision()).not.toBe(after);
  });

  it('shows a transaction its own changes, and nobody else before they are committed', async () => {
    await put(store, at('b'), { n: 1 });
    await store.transact(async (tx) => {
      tx.put(at('a'), { n: 2 });
      tx.delete(at('b'));
      expect(await tx.get(at('a'))).toEqual({ n: 2 });
      expect(await tx.get(at('b'))).toBeUndefined();
      expect(await tx.list('things')).toEqual(['a']);
      tx.put(at('c'), { n: 3 });
      expect(await tx.list('things', { after: 'a', limit: 1 })).toEqual(['c']);
      expect(await get(store, at('a'))).toBeUndefined();
      expect(await store.read((view) => view.list('things'))).toEqual(['b']);
    });
    expect(await store.read((view) => view.list('things'))).toEqual(['a', 'c']);
  });

  it('takes the value as it is when it is put', async () => {
    const value = { n: 1 };
    await store.transact((tx) => {
      tx.put(at('one'), value);
      value.n = 2;
    });
    expect(await get(store, at('one'))).toEqual({ n: 1 });
  });

  it('writes nothing when a transaction throws', async () => {
    await put(store, at('one'), { n: 1 });
    const revision = await store.revision();
    const failing = store.transact((tx) => {
      tx.put(at('one'), { n: 2 });
      tx.put(at('two'), { n: 2 });
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect(await store.revision()).toBe(revision);
    expect(await get(store, at('one'))).toEqual({ n: 1 });
    expect(await get(store, at('two'))).toBeUndefined();
  });

  it('refuses changes after the end of a transaction', async () => {
    const tx = await store.transact((transaction) => transaction);
    expect(() => tx.put(at('one'), {})).toThrow('a transaction was used after its end');
  });

  it('loses no update of many at once, from several handles', async () => {
    const handles = [store, await open(), await open()];
    await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        handles[i % handles.length]?.transact(async (tx) => {
          const { n } = (await tx.get<{ n: number }>(at('count'))) ?? { n: 0 };
          tx.put(at('count'), { n: n + 1 });
          if (i % 5 === 0) tx.put(at(`extra${i}`), { n });
        }),
      ),
    );
    for (const handle of handles) expect(await get(handle, at('count'))).toEqual({ n: 60 });
    expect(await store.read((view) => view.list('things'))).toHaveLength(13);
  });

  it('never shows half of a commit', async () => {
    const writer = await open();
    const pair = [at('left'), at('right')];
    await writer.transact((tx) => {
      for (const ref of pair) tx.put(ref, { n: 0 });
    });
    let writing = true;
    const writes = (async () => {
      for (let n = 1; n <= 40; n++)
        await writer.transact((tx) => {
          for (const ref of pair) tx.put(ref, { n });
        });
      writing = false;
    })();
    while (writing) {
      const [left, right] = await store.read(async (view) => {
        const one = await view.get<{ n: number }>(at('left'));
        await new Promise(setImmediate);
        return [one, await view.get<{ n: number }>(at('right'))];
      });
      expect(left).toEqual(right);
    }
    await writes;
    expect(await get(store, at('left'))).toEqual({ n: 40 });
  });

  it('reads several documents together while others commit between any two reads, and waits for nobody', async () => {
    const writer = await open();
    await writer.transact((tx) => {
      for (const id of ['left', 'right', 'other']) tx.put(at(id), { n: 0 });
    });
    const exclusive = vi.spyOn(store.backend, 'exclusive');
    let commits = 0;
    const found = await store.read(async (view) => {
      const left = await view.get(at('left'));
      await put(writer, at('other'), { n: ++commits });
      if (commits === 1) await put(writer, at('left'), { n: 1 });
      return [left, await view.get(at('right')), await view.list('things')];
    });
    expect(found).toEqual([{ n: 1 }, { n: 0 }, ['left', 'other', 'right']]);
    expect(commits).toBeLessThan(6);
    const own = exclusive.mock.calls.length - (writer.backend === store.backend ? commits + 1 : 0);
    expect(own).toBe(0);
    exclusive.mockRestore();
  });

  it('is sealed once it is closed', async () => {
    await put(store, at('one'), {});
    store.close();
    const refusal = { kind: 'sealed', message: 'the store is locked' };
    await expect(get(store, at('one'))).rejects.toMatchObject(refusal);
    await expect(put(store, at('one'), {})).rejects.toMatchObject(refusal);
    await expect(store.revision()).rejects.toMatchObject(refusal);
  });

  it('lists as a sorted set of ids would, however it grows and shrinks', async () => {
    const ids = fc.integer({ min: 0, max: 2500 }).map((n) => `id${n}`);
    const step = fc.record({
      puts: fc.oneof(fc.array(ids, { maxLength: 5 }), fc.array(ids, { minLength: 700, maxLength: 1500 })),
      deletes: fc.oneof(fc.array(ids, { maxLength: 5 }), fc.array(ids, { minLength: 700, maxLength: 1500 })),
    });
    let collection = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 4 }), ids, fc.nat(50), async (steps, after, limit) => {
        const name = `collection ${collection++}`;
        const model = new Set<string>();
        for (const { puts, deletes } of steps) {
          await store.transact((tx) => {
            for (const id of puts) tx.put(at(id, name), {});
            for (const id of deletes) tx.delete(at(id, name));
          });
          for (const id of puts) model.add(id);
          for (const id of deletes) model.delete(id);
        }
        const expected = [...model].sort();
        const list = (options?: object) => store.read((view) => view.list(name, options));
        expect(await list()).toEqual(expected);
        expect(await list({ after, limit })).toEqual(expected.filter((id) => id > after).slice(0, limit));
      }),
      { numRuns: 6 },
    );
  });

  it('forgets every trace of a collection that has been emptied', async () => {
    const files = async () => store.backend.names((await store.backend.state()).generation, 'documents');
    const before = await files();
    const ids = Array.from({ length: 1200 }, (_, i) => `id${i}`);
    await store.transact((tx) => {
      for (const id of ids) tx.put(at(id), {});
    });
    expect((await files()).length).toBeGreaterThan(before.length + 1200);
    await store.transact((tx) => {
      for (const id of ids) tx.delete(at(id));
    });
    expect((await files()).sort()).toEqual(before.sort());
  });
});
