import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { turn } from '../../src/ground/pause.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { newStore } from '../../src/store/administration/init.ts';
import { MemoryBackend } from '../../src/store/backends/memory.ts';
import { openBackend } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { DocumentRef, View } from '../../src/store/store.ts';
import { rounds } from '../long.ts';
import { replacing, withCommits } from './struck-backend.ts';
import { KEY, rawCredential } from './temporary-store.ts';

const IDS = ['a', 'b', 'c', 'd'];
/** Not there until it is put, so that its absence is read from the index. */
const LATE = 'late';

interface Document {
  readonly n: number;
}

const at = (id: string): DocumentRef => ({ collection: 'things', id });
const get = async (view: View, id: string): Promise<number> => (await view.get<Document>(at(id)))?.n ?? -1;

let backend: MemoryBackend;
let own: SealedStore;
let other: SealedStore;

async function put(store: SealedStore, ids: readonly string[], n: number): Promise<void> {
  await store.transact((tx) => {
    for (const id of ids) tx.put(at(id), { n });
  });
}

/** Opens the store again, with an empty cache. */
const open = (): Promise<SealedStore> => openBackend(backend, [rawCredential()]);

/** The same over a backend whose answers to reads are under way for a while, as those of a database are. */
function openSlow(): Promise<SealedStore> {
  let reads = 0;
  const read = async (...asked: Parameters<MemoryBackend['read']>) => {
    const [before, after] = reads++ % 2 === 0 ? [3, 0] : [0, 3];
    for (let turns = 0; turns < before; turns++) await turn();
    const bytes = await backend.read(...asked);
    for (let turns = 0; turns < after; turns++) await turn();
    return bytes;
  };
  return openBackend(replacing(backend, { read }), [rawCredential()]);
}

beforeEach(async () => {
  const { content } = await newStore([{ kind: 'raw', key: KEY }], systemClock, systemRandom);
  backend = await MemoryBackend.create(content);
  own = await open();
  other = await open();
  await put(other, IDS, 0);
});

/** Number of blobs that `work` reads from the backend. */
async function readsDuring(work: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(backend, 'read');
  const before = spy.mock.calls.length;
  await work();
  return spy.mock.calls.length - before;
}

it('a read of documents that nobody changes is not repeated for commits of the same process', async () => {
  let runs = 0;
  const read = async (view: View) => {
    runs++;
    const a = await get(view, 'a');
    await put(own, ['c'], runs);
    return [a, await get(view, 'b')];
  };
  await own.read((view) => get(view, 'c'));
  expect(await readsDuring(async () => expect(await own.read(read)).toEqual([0, 0]))).toBe(2);
  expect(runs).toBe(1);
});

it('a document that was not there is looked for once, though new ones change the index meanwhile', async () => {
  // Also caches the index.
  await put(own, ['new 0'], 0);
  let news = 0;
  const missing = async (view: View) => {
    if (news < 2) await put(own, [`new ${++news}`], 1);
    return view.get<Document>(at('absent'));
  };
  expect(await readsDuring(async () => expect(await own.read(missing)).toBeUndefined())).toBe(1);
  expect(news).toBe(2);
});

it('a look that sees a commit of the same process before its answer does not empty the cache', async () => {
  const slow = await openBackend(
    withCommits(backend, async (commit) => {
      const version = await commit();
      for (let turns = 0; turns < 5; turns++) await turn();
      return version;
    }),
    [rawCredential()],
  );
  await slow.read((view) => Promise.all(IDS.map((id) => get(view, id))));
  const putting = put(slow, ['a'], 1);
  for (let turns = 0; turns < 3; turns++) await turn();
  const reads = await readsDuring(async () => {
    await slow.read((view) => get(view, 'b'));
    await putting;
    expect(await slow.read((view) => Promise.all(IDS.map((id) => get(view, id))))).toEqual([1, 0, 0, 0]);
  });
  expect(reads).toBe(0);
});

/** What happens after a document was read, or beside it. */
interface Meanwhile {
  readonly by: 'nobody' | 'own' | 'other';
  readonly isBeside: boolean;
  readonly ids: readonly string[];
}

const meanwhile = fc.record<Meanwhile>({
  by: fc.constantFrom('nobody', 'own', 'own', 'other'),
  isBeside: fc.boolean(),
  ids: fc.uniqueArray(fc.constantFrom(...IDS, LATE), { minLength: 1, maxLength: 3 }),
});

it('whoever commits during a read, it shows one state of the store that was there since it began', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(meanwhile, { maxLength: 3 }), fc.boolean()), { minLength: 1, maxLength: 8 }),
      async (reads) => {
        own = await openSlow();
        other = await open();
        const all = [...IDS, LATE];
        await other.transact((tx) => {
          for (const id of IDS) tx.put(at(id), { n: 0 });
          tx.delete(at(LATE));
        });
        const states: number[][] = [[0, 0, 0, 0, -1]];
        const commit = async ({ by, ids }: Meanwhile): Promise<void> => {
          if (by === 'nobody') return;
          const n = states.length;
          await put(by === 'own' ? own : other, ids, n);
          states.push(all.map((id, index) => (ids.includes(id) ? n : (states.at(-1)?.[index] ?? -1))));
        };
        for (const [between, isEmpty] of reads) {
          if (isEmpty) own = await openSlow();
          const since = states.length - 1;
          let steps = [...between];
          const shown = await own.read(async (view) => {
            const found: number[] = [];
            for (const id of all) {
              const [next, ...rest] = steps;
              steps = rest;
              const committed = next?.isBeside === true ? commit(next) : undefined;
              const [value] = await Promise.all([get(view, id), committed]);
              found.push(value);
              if (next?.isBeside === false) await commit(next);
            }
            return found;
          });
          expect(states.slice(since)).toContainEqual(shown);
          expect(await own.read((view) => Promise.all(all.map((id) => get(view, id))))).toEqual(
            states.at(-1),
          );
        }
      },
    ),
    { numRuns: rounds(2000) },
  );
});
