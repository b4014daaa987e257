import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DraftTransaction } from '../../src/store/draft.ts';
import { memoryStore } from './memory-store.ts';

const at = (id: string) => ({ collection: 'things', id });
const ids = fc.integer({ min: 0, max: 30 }).map((n) => `id${n}`);

describe('a draft', () => {
  it('takes no document that JSON cannot carry', async () => {
    const store = await memoryStore();
    for (const value of [undefined, () => 1, { toJSON: () => undefined }])
      await expect(store.transact((tx) => tx.put(at('one'), value as object))).rejects.toMatchObject({
        kind: 'invalid',
        message: 'a document must be data that JSON can carry',
      });
    expect(await store.read((view) => view.list('things'))).toEqual([]);
  });

  it('lists what there would be, from wherever and however much of it', async () => {
    const store = await memoryStore();
    const changes = fc.array(fc.record({ id: ids, puts: fc.boolean() }), { maxLength: 40 });
    const limit = fc.option(fc.nat(5), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(ids, { minLength: 10, maxLength: 31 }),
        changes,
        ids,
        limit,
        async (before, steps, after, most) => {
          await store.transact(async (tx) => {
            for (const id of await tx.list('things')) tx.delete(at(id));
            for (const id of before) tx.put(at(id), {});
          });
          const model = new Set(before);
          await store.read(async (view) => {
            const draft = new DraftTransaction(view);
            for (const { id, puts } of steps) {
              if (puts) draft.put(at(id), { id });
              else draft.delete(at(id));
              if (puts) model.add(id);
              else model.delete(id);
            }
            const expected = [...model].sort();
            expect(await draft.list('things')).toEqual(expected);
            const options = most === undefined ? { after } : { after, limit: most };
            expect(await draft.list('things', options)).toEqual(
              expected.filter((id) => id > after).slice(0, most),
            );
          });
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is changed by what it takes from another over it, and by nothing before', async () => {
    const store = await memoryStore();
    await store.read(async (view) => {
      const draft = new DraftTransaction(view);
      const over = new DraftTransaction(draft);
      over.put(at('one'), { n: 1 });
      expect([draft.isChanged, over.isChanged, over.size]).toEqual([false, true, 1]);
      expect(await draft.get(at('one'))).toBeUndefined();
      const shown = await over.get(at('one'));
      draft.take(over);
      expect(draft.isChanged).toBe(true);
      expect(await draft.get(at('one'))).toBe(shown);
    });
  });
});
