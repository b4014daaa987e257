import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend, Blob, BlobRef, InitialContent } from '../../src/store/backends/backend.ts';

/** Makes a backend with this content, and another handle on the same place. */
export type MakeBackend = (content: InitialContent) => Promise<{ backend: Backend; reopen: () => Backend }>;

const slot: BlobRef = { area: 'slots', name: '0011223344556677' };
const first: BlobRef = { area: 'documents', name: 'aa' };
const second: BlobRef = { area: 'documents', name: 'bb' };
const third: BlobRef = { area: 'documents', name: 'cc' };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (ref: BlobRef, text: string) => ({ ref, bytes: bytes(text) });
const remove = (ref: BlobRef) => ({ ref, bytes: undefined });

async function* stream(...blobs: Blob[]): AsyncGenerator<Blob> {
  yield* blobs;
}

/** What every backend must do; each implementation's test hands in how it is made. */
export function describeBackend(name: string, make: MakeBackend): void {
  describe(`${name} as a store backend`, () => {
    let backend: Backend;
    let reopen: () => Backend;

    const text = async (ref: BlobRef, from = backend): Promise<string | undefined> => {
      const { generation } = await from.state();
      const found = await from.read(generation, ref);
      return found === undefined ? undefined : Buffer.from(found).toString();
    };
    const names = async (area: BlobRef['area']): Promise<string[]> =>
      (await backend.names((await backend.state()).generation, area)).sort();

    beforeEach(async () => {
      ({ backend, reopen } = await make({
        header: bytes('header'),
        version: { generation: 3, revision: 7 },
        blobs: stream(put(slot, 'slot'), put(first, 'one')),
      }));
    });

    it('starts with the content that it was made with', async () => {
      expect(Buffer.from(await backend.header()).toString()).toBe('header');
      expect(await backend.state()).toEqual({ generation: 3, revision: 7, settled: true });
      expect(await text(slot)).toBe('slot');
      expect(await text(first)).toBe('one');
      expect(await names('slots')).toEqual([slot.name]);
      expect(await names('documents')).toEqual([first.name]);
      expect(await backend.strays()).toEqual([]);
    });

    it('has nothing under a name that was never written', async () => {
      expect(await text(second)).toBeUndefined();
      expect(await backend.has(3, second)).toBe(false);
      expect(await backend.has(3, first)).toBe(true);
    });

    it.each([
      ['one change', [put(first, 'new')], { aa: 'new' }],
      ['one new blob', [put(second, 'two')], { aa: 'one', bb: 'two' }],
      ['one deletion', [remove(first)], {}],
      [
        'several changes',
        [put(first, 'new'), put(second, 'two'), put(third, '')],
        { aa: 'new', bb: 'two', cc: '' },
      ],
      ['changes and deletions', [remove(first), put(second, 'two')], { bb: 'two' }],
      [
        'the deletion of what is not there',
        [remove(second), put(third, 'three')],
        { aa: 'one', cc: 'three' },
      ],
    ])('commits %s', async (_, changes, expected) => {
      await backend.exclusive(async (session) => {
        expect(await session.commit(changes)).toEqual({ generation: 3, revision: 8 });
        expect(session.version).toEqual({ generation: 3, revision: 8 });
      });
      expect(await backend.state()).toEqual({ generation: 3, revision: 8, settled: true });
      for (const from of [backend, reopen()]) {
        const found = new Map<string, string | undefined>();
        for (const ref of [first, second, third]) found.set(ref.name, await text(ref, from));
        for (const [key, value] of [...found]) if (value === undefined) found.delete(key);
        expect(Object.fromEntries(found)).toEqual(expected);
      }
      expect(await names('documents')).toEqual(Object.keys(expected));
      expect(await backend.strays()).toEqual([]);
    });

    it('changes slots and documents in one commit', async () => {
      const other: BlobRef = { area: 'slots', name: '8899aabbccddeeff' };
      await backend.exclusive((session) =>
        session.commit([put(other, 'other'), put(first, 'new'), remove(slot)]),
      );
      expect(await names('slots')).toEqual([other.name]);
      expect(await text(first)).toBe('new');
    });

    it('writes nothing when nothing is to be changed', async () => {
      await backend.exclusive((session) => session.commit([]));
      expect(await backend.state()).toEqual({ generation: 3, revision: 7, settled: true });
    });

    it('commits more than once in one session', async () => {
      await backend.exclusive(async (session) => {
        await session.commit([put(first, 'a')]);
        await session.commit([put(first, 'b'), put(second, 'c')]);
        await session.commit([put(first, 'd')]);
      });
      expect((await backend.state()).revision).toBe(10);
      expect(await text(first)).toBe('d');
    });

    it('keeps a commit that was said to be the last, and lets the next session run', async () => {
      for (const [i, content] of ['a', 'b'].entries()) {
        await backend.exclusive(async (session) => {
          await session.commit([put(second, content)]);
          expect(await session.commit([put(first, content)], { isLast: true })).toEqual({
            generation: 3,
            revision: 9 + 2 * i,
          });
        });
        expect(await text(first, reopen())).toBe(content);
      }
    });

    it('returns the same state object while nothing changes', async () => {
      const before = await backend.state();
      expect(await backend.state()).toBe(before);
      await backend.exclusive((session) => session.commit([put(first, 'new')]));
      expect(await backend.state()).not.toBe(before);
    });

    it('lets one session run at a time, whichever handle it comes from', async () => {
      const handles = [backend, reopen(), reopen()];
      let running = 0;
      const counts = await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          handles[i % handles.length]?.exclusive(async (session) => {
            running++;
            expect(running).toBe(1);
            const count = Number((await text(second)) ?? '0') + 1;
            await session.commit([put(second, String(count))]);
            running--;
            return count;
          }),
        ),
      );
      expect(counts.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, i) => i + 1));
      expect((await backend.state()).revision).toBe(31);
    });

    it('lets the next session run after one that failed, and keeps what that one had committed', async () => {
      const failing = backend.exclusive(async (session) => {
        await session.commit([put(first, 'kept')]);
        throw new Error('on purpose');
      });
      await expect(failing).rejects.toThrow('on purpose');
      expect(await backend.exclusive(async ({ version }) => version.revision)).toBe(8);
      expect(await text(first)).toBe('kept');
    });

    it('replaces a whole generation', async () => {
      await backend.exclusive(async (session) => {
        const next = await session.replaceGeneration(stream(put(slot, 'new slot'), put(second, 'two')));
        expect(next).toEqual({ generation: 4, revision: 8 });
        await session.commit([put(third, 'three')]);
      });
      expect(await backend.state()).toEqual({ generation: 4, revision: 9, settled: true });
      expect(await text(slot)).toBe('new slot');
      expect(await names('documents')).toEqual([second.name, third.name]);
      expect(await backend.read(3, first)).toBeUndefined();
      expect(await backend.strays()).toEqual([]);
    });

    it('stays with the present generation when the next can not be made', async () => {
      const failing = backend.exclusive((session) =>
        session.replaceGeneration(
          (async function* () {
            yield put(second, 'two');
            throw new Error('on purpose');
          })(),
        ),
      );
      await expect(failing).rejects.toThrow('on purpose');
      expect(await backend.state()).toEqual({ generation: 3, revision: 7, settled: true });
      expect(await names('documents')).toEqual([first.name]);
      expect(await backend.strays()).toEqual([]);
    });

    it('keeps blobs apart from the buffers that they came in', async () => {
      const content = bytes('two');
      await backend.exclusive((session) => session.commit([{ ref: second, bytes: content }]));
      content.fill(0);
      expect(await text(second)).toBe('two');
    });
  });
}
