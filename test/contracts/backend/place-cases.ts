import { statSync } from 'node:fs';
import { expect } from 'vitest';
import { WentBack } from '../../../src/store/backends/witness.ts';
import {
  type BackendCase,
  type Bench,
  commit,
  content,
  cutShort,
  documents,
  expectUntouched,
  first,
  put,
  second,
  slot,
  text,
} from './bench.ts';
import { able } from './subject.ts';

/** Kinds of errors that report an existing store. */
const THERE: readonly unknown[] = ['exists', 'conflict'];

const expectNoStore = async (bench: Bench): Promise<void> => {
  const backend = await bench.open();
  await expect(backend.header()).rejects.toMatchObject({ kind: 'not-found' });
  expect(await backend.flaws()).toEqual([]);
};

/** Cases about creation, location, and a store that was replaced by an older copy of itself. */
export const placeCases: readonly BackendCase[] = [
  {
    title: 'finds no store where none was made',
    needs: 'places',
    check: expectNoStore,
  },
  {
    title: 'makes no store where there is one, and leaves that one as it is',
    needs: 'places',
    async check(bench) {
      await bench.make();
      const other = { ...content(put(first, 'other')), header: Buffer.from('another header') };
      const outcome = await bench.create(other).catch((error: unknown) => error);
      expect(THERE).toContain((outcome as { readonly kind?: string } | undefined)?.kind);
      expect(Buffer.from(await (await bench.open()).header()).toString()).toBe('header');
      await expectUntouched(bench);
    },
  },
  {
    title: 'makes one store where two are begun at once',
    needs: 'places',
    async check(bench) {
      const outcomes = await Promise.allSettled([bench.create(content()), bench.create(content())]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const reasons = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason.kind] : [],
      );
      expect(THERE).toEqual(expect.arrayContaining(reasons));
      await expectUntouched(bench);
    },
  },
  {
    title:
      'leaves no store when one can not be made to the end, and nothing that would be in the way of another',
    needs: 'places',
    async check(bench) {
      await expect(bench.create({ ...content(), blobs: cutShort() })).rejects.toThrow('on purpose');
      await expectNoStore(bench);
      await bench.create(content());
      await expectUntouched(bench);
    },
  },
  {
    title: 'goes on with a store whose making was cut short',
    needs: 'places',
    async check(bench) {
      const failing = bench.create({ ...content(), blobs: cutShort() }, { resume: true });
      await expect(failing).rejects.toThrow('on purpose');
      await expectNoStore(bench);
      await bench.create(content(put(slot, 'slot'), put(first, 'one')), { resume: true });
      await expectUntouched(bench);
    },
  },
  {
    title: 'brings a new store to the disk, with the name it is found by, before that is acknowledged',
    needs: 'creationReachesDisk',
    async check(bench) {
      const reachesDisk = able(bench.subject, 'creationReachesDisk');
      expect(await reachesDisk(bench.location, () => bench.create(content()))).toBe(true);
      await expectUntouched(bench);
    },
  },
  {
    title: 'finds no store where a process died that was making one, and has it made by the next',
    needs: 'exported',
    async check(bench) {
      await bench.die('dieInCreation');
      await expectNoStore(bench);
      await bench.create(content());
      await expectUntouched(bench);
    },
  },
  {
    title: 'keeps its files from everybody else, whatever the process would let them do',
    needs: 'files',
    async check(bench) {
      const files = able(bench.subject, 'files');
      expect(await bench.start('writeOpenly').ended).toBe(0);
      const paths = files(bench.location);
      expect(paths.length).toBeGreaterThan(0);
      for (const path of paths) {
        const stats = statSync(path);
        const mode = (stats.mode & 0o777).toString(8);
        expect([path, mode]).toEqual([path, stats.isDirectory() ? '700' : '600']);
      }
    },
  },
  {
    title: 'refuses a store that went back, to readers and writers, until its owner takes it up',
    needs: 'copy',
    async check(bench) {
      const backend = await bench.make();
      const bringBack = await able(bench.subject, 'copy')(bench.location);
      await commit(backend, put(first, 'new'));
      await backend.exclusive((session) => session.commit([put(second, 'two')]));
      expect((await backend.state()).revision).toBe(9);
      await bringBack();
      const refused = await backend.state().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(WentBack);
      let ran = false;
      const writing = backend.exclusive(async (session) => {
        ran = true;
        await session.commit([put(second, 'lost')]);
      });
      await expect(writing).rejects.toBeInstanceOf(WentBack);
      expect(ran).toBe(false);
      expect(await documents(await bench.open())).toEqual({ aa: 'one' });
      backend.witness.takeUp(refused as WentBack);
      expect((await backend.state()).revision).toBe(7);
      await commit(backend, put(second, 'after'));
      expect(await text(backend, second)).toBe('after');
    },
  },
  {
    title: 'refuses a store that went back and then on again, beyond what was seen of it',
    needs: 'copy',
    async check(bench) {
      const backend = await bench.make();
      const bringBack = await able(bench.subject, 'copy')(bench.location);
      await commit(backend, put(first, 'new'));
      await bringBack();
      await expect(backend.state()).rejects.toBeInstanceOf(WentBack);
      const innocent = await bench.open();
      for (const number of [1, 2, 3]) await commit(innocent, put(first, String(number)));
      await expect(backend.state()).rejects.toBeInstanceOf(WentBack);
      await expect(backend.exclusive(async () => 'in')).rejects.toBeInstanceOf(WentBack);
    },
  },
  {
    title: 'refuses what lies behind that which another process has seen of it',
    needs: 'copy',
    async check(bench) {
      const backend = await bench.make();
      const bringBack = await able(bench.subject, 'copy')(bench.location);
      await commit(backend, put(first, 'new'));
      await backend.state();
      const { seen } = backend.witness;
      await bringBack();
      const other = await bench.open();
      if (seen !== undefined) other.witness.expect(seen);
      await expect(other.exclusive(async () => 'in')).rejects.toBeInstanceOf(WentBack);
    },
  },
];
