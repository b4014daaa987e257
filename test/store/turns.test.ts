import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { notFound, unavailable, unconfirmed } from '../../src/ground/errors.ts';
import { turn } from '../../src/ground/pause.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { newStore } from '../../src/store/administration/init.ts';
import type { Change } from '../../src/store/backends/backend.ts';
import { MemoryBackend } from '../../src/store/backends/memory.ts';
import { openBackend } from '../../src/store/open.ts';
import { headOf } from '../../src/store/sealed/collection-index.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { DocumentRef, Transaction } from '../../src/store/store.ts';
import { type AroundCommit, withCommits } from './struck-backend.ts';
import { KEY, rawCredential } from './temporary-store.ts';

let store: SealedStore;
/** What each commit changes. */
let commits: (readonly Change[])[];
let around: AroundCommit;
/** Of the clock by which turns are measured. */
let seconds: number;
beforeEach(async () => {
  seconds = 0;
  vi.spyOn(process, 'uptime').mockImplementation(() => seconds);
  const { content } = await newStore([{ kind: 'raw', key: KEY }], systemClock, systemRandom);
  commits = [];
  around = (commit) => commit();
  const backend = withCommits(await MemoryBackend.create(content), (commit, changes) => {
    commits.push(changes);
    return around(commit, changes);
  });
  store = await openBackend(backend, [rawCredential()]);
});

afterEach(() => vi.restoreAllMocks());

const ref = (id: string, collection = 'c'): DocumentRef => ({ collection, id });
const read = (id: string) => store.read((view) => view.get(ref(id)));

/** Adds one to a count, and puts a document of its own. */
const add = (own: string) =>
  store.transact(async (tx) => {
    const { count = 0 } = (await tx.get<{ count: number }>(ref('count'))) ?? {};
    tx.put(ref('count'), { count: count + 1 });
    tx.put(ref(own), { at: count });
    return count;
  });

/** Holds up every commit until it is called. */
function holdCommits(): { release(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  around = async (commit) => {
    await promise;
    return commit();
  };
  return { release: resolve };
}

/** Lets go on whatever can. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn();
}

const outcomesOf = async (promises: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(promises)).map((outcome) =>
    outcome.status === 'fulfilled'
      ? outcome.value
      : `${outcome.reason.kind ?? 'Error'}: ${outcome.reason.message}`,
  );

describe('changes that come together', () => {
  it('are made one after the other, in far fewer transactions', async () => {
    const counts = await Promise.all(Array.from({ length: 100 }, (_, index) => add(`own-${index}`)));
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(await read('count')).toEqual({ count: 100 });
    expect(commits.length).toBeLessThanOrEqual(3);
  });

  it('wait for the commit under way and their own, and for no other', async () => {
    const held = holdCommits();
    const first = add('first');
    await settle();
    const others = Array.from({ length: 20 }, (_, index) => add(`own-${index}`));
    held.release();
    await Promise.all([first, ...others]);
    expect(commits).toHaveLength(2);
  });

  it('share a commit with the next change of a caller who was just answered, if they waited meanwhile', async () => {
    const held = holdCommits();
    const again = add('first').then(async () => {
      await turn();
      return add('third');
    });
    await settle();
    const second = add('second');
    held.release();
    expect(await Promise.all([second, again])).toEqual([1, 2]);
    expect(commits.length).toBe(2);
  });

  it('leave nothing of one that fails, and go on', async () => {
    const failing = store.transact(async (tx) => {
      tx.put(ref('count'), { count: 1000 });
      tx.put(ref('mine'), {});
      tx.delete(ref('own-a'));
      throw new Error('refused');
    });
    const outcomes = await Promise.allSettled([add('own-a'), failing, add('own-b')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect([await read('count'), await read('mine'), await read('own-a')]).toEqual([
      { count: 2 },
      undefined,
      { at: 0 },
    ]);
  });

  it('are told of nothing before it is durable, whatever they came to, and then in their order', async () => {
    const held = holdCommits();
    const told: string[] = [];
    const tell = async (name: string, change: (tx: Transaction) => unknown) => {
      await store.transact(change).catch(() => undefined);
      told.push(name);
    };
    const all = Promise.all([
      tell('puts', (tx) => tx.put(ref('one'), { n: 1 })),
      tell('sees it', (tx) => tx.get(ref('one'))),
      tell('is refused for it', async (tx) => {
        if ((await tx.get(ref('one'))) !== undefined) throw notFound('there is one');
      }),
      tell('deletes it', (tx) => tx.delete(ref('one'))),
    ]);
    await settle();
    expect(commits).toHaveLength(1);
    expect(told).toEqual([]);
    expect(await read('one')).toBeUndefined();
    held.release();
    await all;
    expect(told).toEqual(['puts', 'sees it', 'is refused for it', 'deletes it']);
  });

  it('read and list what those before them have put and deleted', async () => {
    await store.transact((tx) => tx.put(ref('b'), {}));
    const lists = await Promise.all([
      store.transact((tx) => tx.put(ref('a'), { n: 1 })),
      store.transact((tx) => tx.list('c')),
      store.transact((tx) => tx.delete(ref('b'))),
      store.transact(async (tx) => [await tx.list('c'), await tx.get(ref('a'))]),
      store.transact(async (tx) => {
        for (const id of ['d', 'e']) tx.put(ref(id), {});
        tx.delete(ref('a'));
        return [
          await tx.list('c'),
          await tx.list('c', { after: 'd', limit: 5 }),
          await tx.list('c', { limit: 1 }),
        ];
      }),
    ]);
    expect(lists).toEqual([undefined, ['a', 'b'], undefined, [['a'], { n: 1 }], [['d', 'e'], ['e'], ['d']]]);
    expect(commits).toHaveLength(2);
    expect(await store.read((view) => view.list('c'))).toEqual(['d', 'e']);
  });

  it('put again what one of them deletes, so that it is listed again as well', async () => {
    await store.transact((tx) => tx.put(ref('one'), { n: 1 }));
    await Promise.all([
      store.transact((tx) => tx.delete(ref('one'))),
      store.transact((tx) => tx.put(ref('one'), { n: 2 })),
    ]);
    expect([await store.read((view) => view.list('c')), await read('one')]).toEqual([['one'], { n: 2 }]);
  });

  it('leave no trace of what one of them puts and another deletes', async () => {
    const names = async () => store.backend.names((await store.backend.state()).generation, 'documents');
    const before = await names();
    await Promise.all([
      store.transact((tx) => tx.put(ref('one', 'fleeting'), {})),
      store.transact((tx) => tx.delete(ref('one', 'fleeting'))),
    ]);
    expect(await names()).toEqual(before);
  });

  it('all fail when they can not be made durable, and later ones do not', async () => {
    around = () => Promise.reject(unavailable('the disk is gone'));
    expect(await outcomesOf([add('a'), add('b')])).toEqual([
      'unavailable: the disk is gone',
      'unavailable: the disk is gone',
    ]);
    around = (commit) => commit();
    expect(await add('c')).toBe(0);
  });

  it('keep their own refusal whatever becomes of others, if they have seen nothing of them', async () => {
    around = () => Promise.reject(unavailable('the disk is gone'));
    const refused = () => store.transact(() => Promise.reject(notFound('no such thing')));
    expect(await outcomesOf([refused(), add('a'), refused()])).toEqual([
      'not-found: no such thing',
      'unavailable: the disk is gone',
      'unavailable: the disk is gone',
    ]);
  });

  it('are to be made again when they changed nothing, and nobody knows what became of others that they saw', async () => {
    around = async (commit) => {
      await commit();
      throw unconfirmed('the change is made, but the disk is gone', {
        cause: unavailable('the disk is gone'),
      });
    };
    const sees = store.transact.bind(store, async (tx: Transaction) => {
      if ((await tx.get(ref('a'))) !== undefined) throw notFound('there is one');
    });
    expect(await outcomesOf([add('a'), sees(), add('b')])).toEqual([
      'unconfirmed: the change is made, but the disk is gone',
      'unavailable: nothing was changed: the disk is gone',
      'unconfirmed: the change is made, but the disk is gone',
    ]);
  });

  it('are nothing to those whose own collection has a damaged index, who fail alone', async () => {
    await store.transact((tx) => tx.put(ref('one', 'damaged'), {}));
    const { generation } = await store.backend.state();
    const root = await store.keyring.root(store.backend, generation);
    await store.backend.exclusive((session) =>
      session.commit([{ ref: root.refOf(headOf('damaged')), bytes: new Uint8Array(100) }]),
    );
    const outcomes = await Promise.allSettled([
      add('a'),
      store.transact((tx) => {
        tx.put(ref('mine'), {});
        tx.put(ref('two', 'damaged'), {});
      }),
      add('b'),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toMatchObject({ reason: { kind: 'corrupt' } });
    expect([await read('count'), await read('mine')]).toEqual([{ count: 2 }, undefined]);
    expect(await store.read((view) => view.list('c'))).toEqual(['a', 'b', 'count']);
  });

  it('are durable before one of many documents is, which has a commit of its own', async () => {
    around = (commit) => (commits.length === 2 ? Promise.reject(unavailable('the disk is full')) : commit());
    const many = () =>
      store.transact(async (tx) => {
        expect(await tx.get(ref('count'))).toEqual({ count: 1 });
        for (let n = 0; n <= 256; n++) tx.put(ref(String(n), 'many'), {});
      });
    expect(await outcomesOf([add('a'), many(), add('b')])).toEqual([0, 'unavailable: the disk is full', 1]);
    expect(commits.map((changes) => changes.length > 256)).toEqual([false, true, false]);
    expect(await store.read((view) => view.list('many'))).toEqual([]);
  });

  it('share no commit with one of very long documents', async () => {
    const long = { text: 'x'.repeat(1024 * 1024) };
    await Promise.all([add('a'), store.transact((tx) => tx.put(ref('long'), long)), add('b')]);
    expect(commits).toHaveLength(3);
  });

  it('share no turn with one that wants none', async () => {
    const alone = () => store.transact((tx) => tx.put(ref('alone'), {}), { alone: true });
    await Promise.all([add('a'), add('b'), alone(), add('c'), add('d')]);
    expect(commits).toHaveLength(3);
  });

  it('are not held up by those behind one that took long', async () => {
    const slow = () =>
      store.transact((tx) => {
        seconds += 0.03;
        tx.put(ref('slow'), {});
      });
    await Promise.all([add('a'), slow(), add('b'), add('c')]);
    expect(commits).toHaveLength(2);
  });

  it('are all refused when the right to write is not to be had, and later ones are not', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const exclusive = vi.spyOn(store.backend, 'exclusive').mockReturnValueOnce(promise);
    const waiting = Array.from({ length: 100 }, (_, index) => add(`own-${index}`));
    reject(unavailable('it is held by another process'));
    expect(new Set(await outcomesOf(waiting))).toEqual(
      new Set(['unavailable: it is held by another process']),
    );
    expect(exclusive).toHaveBeenCalledTimes(1);
    expect(await add('a')).toBe(0);
  });

  it('are refused at once within one another, where both would wait for ever', async () => {
    await expect(store.transact(() => add('inner'))).rejects.toThrow(
      'two changes of a store wait for each other',
    );
    expect(await add('a')).toBe(0);
  });

  it('may be begun by what another has left running', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let left: Promise<number> | undefined;
    await store.transact(() => {
      left = promise.then(() => add('later'));
    });
    resolve();
    expect(await left).toBe(0);
  });

  it('are refused by a store that is closed', async () => {
    store.close();
    await expect(Promise.all([add('a'), add('b')])).rejects.toThrow('the store is locked');
  });

  it('are refused by a store that is closed while they wait', async () => {
    const held = holdCommits();
    const first = add('a');
    await settle();
    const second = add('b');
    store.close();
    held.release();
    expect(await outcomesOf([first, second])).toEqual([0, 'sealed: the store is locked']);
  });
});
