import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { rounds } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import { type BackendCase, commit, documents, expectUntouched, first, put, second, text } from './bench.ts';

const EACH = 6;
const KILLS = rounds(20);
/** Number of documents, more than are written before a kill arrives. */
const DOCUMENTS = 100;
const LONGEST_MOMENT_MS = 8;

/** Fails if it is called to choose between generations: there is only one. */
const oneOnly = (): Promise<number> => Promise.reject(new Error('there is one generation only'));
/** Number of documents of the commit that is killed when the last one is read. */
const SEVERAL = 5;

/** Cases about a store that several processes use, some of which are killed. */
export const processCases: readonly BackendCase[] = [
  {
    title: 'keeps others out while a process has the right to write, until it is killed, and lets them read',
    needs: 'exported',
    async check(bench) {
      const backend = await bench.make();
      const impatient = await bench.open({ lockWaitMs: 100 });
      const child = bench.start('hold');
      await child.said('holding');
      const attempt = impatient.exclusive(async () => 'in');
      await expect(bench.inTime(attempt)).rejects.toMatchObject({ kind: 'unavailable' });
      await expect(bench.inTime(backend.exclusive(async () => 'in', { waitMs: 100 }))).rejects.toMatchObject({
        kind: 'unavailable',
      });
      expect(await documents(backend)).toEqual({ aa: 'one' });
      const waiting = backend.exclusive(async () => 'in');
      child.process.kill('SIGKILL');
      expect(await bench.inTime(waiting)).toBe('in');
    },
  },
  {
    title: 'loses no change when several processes write at once, and shows each the changes of the others',
    needs: 'exported',
    async check(bench) {
      const backend = await bench.make();
      const children = [bench.start('count', EACH), bench.start('count', EACH)];
      for (let i = 0; i < EACH; i++) {
        await backend.exclusive(async (session) => {
          const count = Number((await text(backend, second)) ?? '0') + 1;
          await session.commit([put(second, String(count))]);
        });
      }
      expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0]);
      expect(await backend.state()).toEqual({ generation: 3, revision: 7 + 3 * EACH });
      expect(await text(backend, second)).toBe(String(3 * EACH));
    },
  },
  {
    title: 'holds all of a commit or nothing when its process dies over the last change',
    needs: 'exported',
    async check(bench) {
      await bench.make();
      await bench.die('dieInCommit', SEVERAL);
      await expectUntouched(bench);
    },
  },
  {
    title:
      'holds all of a commit or nothing, and what was acknowledged, when its process is killed at any moment',
    needs: 'exported',
    async check(bench) {
      const backend = await bench.make();
      const chance = seeded();
      for (let round = 0; round < KILLS; round++) {
        const child = bench.start('rewrite', DOCUMENTS);
        await child.said('round 2');
        await sleep(chance.below(LONGEST_MOMENT_MS));
        child.process.kill('SIGKILL');
        expect(await child.ended).toBe('SIGKILL');
        expect(await backend.repair(oneOnly)).toBeDefined();
        // Read in a session of its own: by then, the last changes of the killed process are complete, or never will be.
        const found = await backend.exclusive(() => documents(backend));
        const texts = Object.entries(found).flatMap(([name, each]) => (name === first.name ? [] : [each]));
        expect(texts.length).toBe(DOCUMENTS);
        expect(new Set(texts).size).toBe(1);
        const acknowledged = child.lines.length;
        expect([acknowledged, acknowledged + 1]).toContain(Number(texts[0]));
        expect([await backend.strays(), await backend.flaws()]).toEqual([[], []]);
        await commit(backend, put(first, 'next'));
      }
    },
  },
  {
    title: 'stays with the present generation when the process is killed that makes the next',
    needs: 'exported',
    async check(bench) {
      await bench.make();
      await bench.die('dieInGeneration');
      await expectUntouched(bench);
    },
  },
];
