import { expect } from 'vitest';
import { printPlace } from '../../../src/ground/errors.ts';
import type { BlobRef, Change } from '../../../src/store/backends/backend.ts';
import {
  type BackendCase,
  bytes,
  commit,
  cutShort,
  documents,
  first,
  names,
  put,
  remove,
  second,
  slot,
  stream,
  text,
  third,
} from './bench.ts';

type Documents = Readonly<Record<string, string>>;

const CHANGES: readonly (readonly [what: string, changes: readonly Change[], expected: Documents])[] = [
  ['one change', [put(first, 'new')], { aa: 'new' }],
  ['one new blob', [put(second, 'two')], { aa: 'one', bb: 'two' }],
  ['one deletion', [remove(first)], {}],
  [
    'several changes',
    [put(first, 'new'), put(second, 'two'), put(third, '')],
    { aa: 'new', bb: 'two', cc: '' },
  ],
  ['changes and deletions', [remove(first), put(second, 'two')], { bb: 'two' }],
  ['the deletion of what is not there', [remove(second), put(third, 'three')], { aa: 'one', cc: 'three' }],
];

/** Bytes of every value, too many for one page of any backend. */
const LARGE = Uint8Array.from({ length: 300_000 }, (_, index) => index * 7 + (index >> 8));

/** Cases about the content of a store, and the effects of commits. */
export const contentCases: readonly BackendCase[] = [
  {
    title: 'starts with the content that it was made with',
    async check(bench) {
      const backend = await bench.make();
      expect(Buffer.from(await backend.header()).toString()).toBe('header');
      expect(await backend.state()).toEqual({ generation: 3, revision: 7 });
      expect(await text(backend, slot)).toBe('slot');
      expect(await documents(backend)).toEqual({ aa: 'one' });
      expect(await names(backend, 'slots')).toEqual([slot.name]);
      expect(await backend.strays()).toEqual([]);
      expect(await backend.flaws()).toEqual([]);
    },
  },
  {
    title: 'has nothing under a name that was never written',
    async check(bench) {
      const backend = await bench.make();
      expect(await text(backend, second)).toBeUndefined();
      expect(await backend.has(3, second)).toBe(false);
      expect(await backend.has(3, first)).toBe(true);
    },
  },
  ...CHANGES.map(
    ([what, changes, expected]): BackendCase => ({
      title: `commits ${what}`,
      async check(bench) {
        const backend = await bench.make();
        await backend.exclusive(async (session) => {
          expect(await session.commit(changes)).toEqual({ generation: 3, revision: 8 });
          expect(session.version).toEqual({ generation: 3, revision: 8 });
        });
        expect(await backend.state()).toEqual({ generation: 3, revision: 8 });
        for (const from of [backend, await bench.open()]) expect(await documents(from)).toEqual(expected);
        expect(await backend.strays()).toEqual([]);
      },
    }),
  ),
  {
    title: 'changes slots and documents in one commit, and tells them apart where they have the same name',
    async check(bench) {
      const backend = await bench.make();
      const other: BlobRef = { area: 'slots', name: first.name };
      await commit(backend, put(other, 'other'), put(first, 'new'), remove(slot));
      expect(await names(backend, 'slots')).toEqual([other.name]);
      expect([await text(backend, other), await text(backend, first)]).toEqual(['other', 'new']);
    },
  },
  {
    title: 'gives back long blobs of any bytes, under names of any length',
    async check(bench) {
      const backend = await bench.make();
      const long: BlobRef = { area: 'documents', name: '0123456789abcdef'.repeat(4) };
      await commit(backend, { ref: long, bytes: LARGE }, { ref: first, bytes: LARGE.subarray(0, 256) });
      const other = await bench.open();
      expect(Buffer.compare((await other.read(3, long)) ?? Buffer.alloc(0), LARGE)).toBe(0);
      expect(Buffer.compare((await other.read(3, first)) ?? Buffer.alloc(0), LARGE.subarray(0, 256))).toBe(0);
    },
  },
  {
    title: 'writes nothing when nothing is to be changed',
    async check(bench) {
      const backend = await bench.make();
      await commit(backend);
      expect(await backend.state()).toEqual({ generation: 3, revision: 7 });
    },
  },
  {
    title: 'keeps blobs apart from the buffers that they came in',
    async check(bench) {
      const backend = await bench.make();
      const given = bytes('two');
      await commit(backend, { ref: second, bytes: given });
      given.fill(0);
      (await backend.read(3, second))?.fill(0);
      expect(await text(backend, second)).toBe('two');
    },
  },
  {
    title: 'replaces a whole generation',
    async check(bench) {
      const backend = await bench.make();
      await backend.exclusive(async (session) => {
        const next = await session.replaceGeneration(stream(put(slot, 'new slot'), put(second, 'two')));
        expect(next).toEqual({ generation: 4, revision: 8 });
        await session.commit([put(third, 'three')]);
      });
      expect(await backend.state()).toEqual({ generation: 4, revision: 9 });
      expect(await text(backend, slot)).toBe('new slot');
      expect(await documents(await bench.open())).toEqual({ bb: 'two', cc: 'three' });
      expect(await backend.read(3, first)).toBeUndefined();
      expect(await backend.strays()).toEqual([]);
    },
  },
  {
    title: 'stays with the present generation when the next can not be made',
    async check(bench) {
      const backend = await bench.make();
      const failing = backend.exclusive((session) => session.replaceGeneration(cutShort()));
      await expect(failing).rejects.toThrow('on purpose');
      expect(await backend.state()).toEqual({ generation: 3, revision: 7 });
      expect(await documents(backend)).toEqual({ aa: 'one' });
      expect(await backend.strays()).toEqual([]);
    },
  },
  {
    title: 'goes on from a higher revision, with nothing else changed or with changes of the same commit',
    async check(bench) {
      const backend = await bench.make();
      await backend.exclusive(async (session) => {
        await session.raise(1000);
        expect(session.version).toEqual({ generation: 3, revision: 1000 });
        expect(await session.commit([put(second, 'two')])).toEqual({ generation: 3, revision: 1001 });
        await session.raise(2000);
        await session.raise(3000, [put(second, 'three')]);
      });
      for (const from of [backend, await bench.open()]) {
        expect(await from.state()).toEqual({ generation: 3, revision: 3000 });
        expect(await documents(from)).toEqual({ aa: 'one', bb: 'three' });
      }
    },
  },
  {
    title: 'finds nothing to mend in a whole store, and asks nobody which generation is the present one',
    async check(bench) {
      const backend = await bench.make();
      const choose = (): Promise<number> => Promise.reject(new Error('there is one generation only'));
      expect(await backend.repair(choose)).toEqual([]);
      expect(await documents(backend)).toEqual({ aa: 'one' });
    },
  },
  {
    title: 'tells the places of blobs apart in messages',
    async check(bench) {
      const backend = await bench.make();
      const places = [first, second, slot, { area: 'slots', name: first.name } as const].map((ref) =>
        printPlace(backend.locate(3, ref)),
      );
      places.push(
        printPlace(backend.place),
        printPlace(backend.headerPlace),
        printPlace(backend.locate(4, first)),
      );
      expect(new Set(places).size).toBe(places.length);
    },
  },
];
