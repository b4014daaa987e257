import { describe, expect, it } from 'vitest';
import type { Mount } from '../../src/mounts/mount.ts';
import { openCore } from '../../src/operations/core.ts';
import type { Core } from '../../src/operations/declaration/operation.ts';
import { mountEnd } from '../../src/operations/pipeline/store-look.ts';
import { ServedCore } from '../../src/service/served-core.ts';
import { memoryStore } from '../store/memory-store.ts';

/** A core whose store and mounts answer when they are told to. */
async function heldCore() {
  const core = openCore(await memoryStore());
  const [mount] = await core.mounts.list();
  const revisions: PromiseWithResolvers<string>[] = [];
  const lists: PromiseWithResolvers<readonly Mount[]>[] = [];
  const held =
    <T>(queue: PromiseWithResolvers<T>[]) =>
    () => {
      const answer = Promise.withResolvers<T>();
      queue.push(answer);
      return answer.promise;
    };
  const slow = {
    ...core,
    store: { ...core.store, id: core.store.id, revision: held(revisions) },
    mounts: { list: held(lists) },
  } as unknown as Core;
  const at = (path: string): Mount => ({ ...(mount as Mount), path });
  return { served: await ServedCore.over(slow, undefined), revisions, lists, at };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the core behind a server', () => {
  it('looks at the store once for all requests of one turn, and again for those that come later', async () => {
    const { served, revisions, lists } = await heldCore();
    const early = [served.revision(), served.revision(), served.revision()];
    expect(revisions).toHaveLength(0);
    await turn();
    expect(revisions).toHaveLength(1);
    const late = served.revision();
    await turn();
    expect(revisions).toHaveLength(2);
    revisions[0]?.resolve('1');
    revisions[1]?.resolve('2');
    await turn();
    for (const list of lists) list.resolve([]);
    expect(await Promise.all([...early, late])).toEqual(['1', '1', '1', '2']);
  });

  it('does not fall back to mounts that an earlier look found, when that one comes in later', async () => {
    const { served, revisions, lists, at } = await heldCore();
    const first = served.revision();
    await turn();
    const second = served.revision();
    await turn();
    revisions[0]?.resolve('1');
    revisions[1]?.resolve('2');
    await turn();
    lists[1]?.resolve([at('new')]);
    await second;
    lists[0]?.resolve([at('old')]);
    await first;
    expect(served.mountOf('new/keys/x')?.path).toBe('new');
    expect(served.mountOf('old/keys/x')).toBeUndefined();
  });

  it('fails all who wait for a look that fails, and none after them', async () => {
    const { served, revisions, lists } = await heldCore();
    const waiting = Promise.allSettled([served.revision(), served.revision()]);
    await turn();
    revisions[0]?.reject(new Error('gone'));
    expect((await waiting).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = served.revision();
    await turn();
    revisions[1]?.resolve('1');
    await turn();
    lists[0]?.resolve([]);
    expect(await next).toBe('1');
  });
});

describe('the mount of a path', () => {
  it('is looked for as far as a mount may reach, however many slashes there are', () => {
    const ends = (path: string): number[] => {
      const found: number[] = [];
      for (let end = mountEnd(path, 0); end !== -1; end = mountEnd(path, end + 1)) found.push(end);
      return found;
    };
    expect(ends('teams/payments/keys/x')).toEqual([5, 14, 19]);
    expect(ends('nothing')).toEqual([]);
    const longest = 'a'.repeat(512);
    expect(ends(`${longest}/keys/x`)).toEqual([512]);
    expect(ends(`${longest}a/keys/x`)).toEqual([]);
    expect(ends('/'.repeat(15_000))).toHaveLength(513);
  });
});
