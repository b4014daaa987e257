import { expect } from 'vitest';
import { type BackendCase, commit, documents, first, put, second, text } from './bench.ts';
import { able } from './subject.ts';

/** Cases about exclusive writing, and its visibility to others, within one process. */
export const sessionCases: readonly BackendCase[] = [
  {
    title: 'commits more than once in one session',
    async check(bench) {
      const backend = await bench.make();
      await backend.exclusive(async (session) => {
        await session.commit([put(first, 'a')]);
        await session.commit([put(first, 'b'), put(second, 'c')]);
        await session.commit([put(first, 'd')]);
      });
      expect((await backend.state()).revision).toBe(10);
      expect(await text(backend, first)).toBe('d');
    },
  },
  {
    title: 'keeps a commit that was said to be the last, and lets the next session run',
    async check(bench) {
      const backend = await bench.make();
      for (const [i, content] of ['a', 'b'].entries()) {
        await backend.exclusive(async (session) => {
          await session.commit([put(second, content)]);
          expect(await session.commit([put(first, content)], { isLast: true })).toEqual({
            generation: 3,
            revision: 9 + 2 * i,
          });
        });
        expect(await text(await bench.open(), first)).toBe(content);
      }
    },
  },
  {
    title: 'returns the same state object while nothing changes',
    async check(bench) {
      const backend = await bench.make();
      const before = await backend.state();
      expect(await backend.state()).toBe(before);
      await commit(backend, put(first, 'new'));
      expect(await backend.state()).not.toBe(before);
    },
  },
  {
    title: 'lets one session run at a time, whichever handle it comes from',
    async check(bench) {
      const backend = await bench.make();
      const handles = [backend, await bench.open(), await bench.open()];
      let running = 0;
      const counts = await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          handles[i % handles.length]?.exclusive(async (session) => {
            running++;
            expect(running).toBe(1);
            const count = Number((await text(backend, second)) ?? '0') + 1;
            await session.commit([put(second, String(count))]);
            running--;
            return count;
          }),
        ),
      );
      expect(counts.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
      expect((await backend.state()).revision).toBe(31);
    },
  },
  {
    title: 'lets the next session run after one that failed, and keeps what that one had committed',
    async check(bench) {
      const backend = await bench.make();
      const failing = backend.exclusive(async (session) => {
        await session.commit([put(first, 'kept')]);
        throw new Error('on purpose');
      });
      await expect(failing).rejects.toThrow('on purpose');
      expect(await backend.exclusive(async ({ version }) => version.revision)).toBe(8);
      expect(await text(backend, first)).toBe('kept');
    },
  },
  {
    title: 'goes on when another handle on the same store is closed',
    async check(bench) {
      const backend = await bench.make();
      const other = await bench.open();
      await commit(other, put(second, 'two'));
      other.close();
      await commit(backend, put(first, 'new'));
      expect(await documents(backend)).toEqual({ aa: 'new', bb: 'two' });
    },
  },
  {
    title: 'gives up in time where a session of the same process does not end',
    needs: 'waits',
    async check(bench) {
      const backend = await bench.make();
      const impatient = await bench.open({ lockWaitMs: 100 });
      await backend.exclusive(async () => {
        let ran = false;
        const waiting = impatient.exclusive(async () => {
          ran = true;
        });
        await expect(bench.inTime(waiting)).rejects.toMatchObject({ kind: 'unavailable' });
        expect(ran).toBe(false);
      });
      expect(await impatient.exclusive(async ({ version }) => version.revision)).toBe(7);
    },
  },
  {
    title: 'brings a commit to the disk before it is acknowledged',
    needs: 'reachesDisk',
    async check(bench) {
      const reachesDisk = able(bench.subject, 'reachesDisk');
      const backend = await bench.make();
      for (const changes of [[put(first, 'new')], [put(first, 'newer'), put(second, 'two')]]) {
        expect(await reachesDisk(backend, () => commit(backend, ...changes))).toBe(true);
      }
    },
  },
];
