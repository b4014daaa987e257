import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endWork } from '../../../../src/ground/before-exit.ts';
import { pause } from '../../../../src/ground/pause.ts';
import { FileLock } from '../../../../src/store/backends/files/file-lock.ts';
import type { FilesBackend } from '../../../../src/store/backends/files/files-backend.ts';
import {
  commit,
  document,
  logFile,
  logFiles,
  loggedStore,
  nameOf,
  opened,
  put,
  remove,
  seenIn,
} from './logged-store.ts';

/** So long that a change of it fills a file of the log. */
const LONG = 'x'.repeat(1_100_000);
const SLOT = { area: 'slots', name: '00112233aabbccdd' } as const;

const documentsIn = (directory: string, generation = 1): string =>
  join(directory, `generation-${generation}`, 'documents');

/** Runs `work` as a command does: on a handle of its own, and what is left to do is done before it ends. */
async function asCommand<T>(directory: string, work: (backend: FilesBackend) => Promise<T>): Promise<T> {
  const backend = opened(directory);
  const outcome = await work(backend);
  backend.close();
  await endWork();
  return outcome;
}

/** Everything that the files of a log say. */
const saidIn = (directory: string): string =>
  logFiles(directory)
    .map((name) => readFileSync(logFile(directory, Number(name)), 'latin1'))
    .join('');

describe('a store that only commands use', () => {
  it('has no old files in its log, of which each command empties the full ones', async () => {
    const { directory } = await loggedStore();
    for (let i = 0; i < 5; i++) {
      await asCommand(directory, (backend) => commit(backend, put(nameOf(i), LONG)));
      expect(logFiles(directory)).toHaveLength(1);
    }
    expect(Object.keys((await seenIn(directory)).documents)).toHaveLength(5);
  });

  it('has nothing in its log of a document or a slot that was removed', async () => {
    const { directory } = await loggedStore();
    await asCommand(directory, (backend) => commit(backend, put('aa', 'old document'), put('bb', 'kept')));
    const slot = { ref: SLOT, bytes: Buffer.from('old slot') };
    await asCommand(directory, (backend) => commit(backend, slot));
    await asCommand(directory, (backend) => commit(backend, put('bb', 'still kept')));
    await asCommand(directory, (backend) => commit(backend, { ref: SLOT, bytes: undefined }));
    expect(saidIn(directory)).not.toContain('old slot');
    await asCommand(directory, (backend) => commit(backend, remove('aa')));
    expect(saidIn(directory)).not.toContain('old');
    expect((await seenIn(directory)).documents).toEqual({ bb: 'still kept' });
    expect(readdirSync(join(directory, 'generation-1', 'slots'))).toEqual([]);
  });

  it('has nothing in its log of what was removed, whatever else the same process does after it', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', LONG), put('bb', 'secret'));
    await endWork();
    await asCommand(directory, async () => {
      for (const changes of [[remove('bb')], [put('cc', 'other')]]) {
        const another = opened(directory);
        await commit(another, ...changes);
        another.close();
      }
    });
    expect(saidIn(directory)).not.toMatch(/secret|other/);
    expect(readdirSync(documentsIn(directory)).sort()).toEqual(['aa', 'cc']);
  });

  it('has nothing in its log of what was removed once another command changes something, if the one that did could not empty it', async () => {
    const { directory } = await loggedStore();
    await asCommand(directory, (backend) => commit(backend, put('aa', 'secret'), put('bb', 'kept')));
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = FileLock.holdOnce(join(directory, 'log', 'lock'), 1000, () => promise);
    await asCommand(directory, (backend) => commit(backend, remove('aa')));
    resolve();
    await held;
    expect(saidIn(directory)).toContain('secret');
    await asCommand(directory, (backend) => commit(backend, put('bb', 'changed')));
    expect(saidIn(directory)).not.toContain('secret');
    expect((await seenIn(directory)).documents).toEqual({ bb: 'changed' });
  });

  it('has nothing in its log of what was removed beside a busy process, whose other changes stay there', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'removed content'));
    let isOver = false;
    const busy = (async (): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        await commit(backend, put('bb', String(i)));
        await pause(1);
      }
    })();
    const newest = (): number => Math.max(...logFiles(directory).map(Number));
    try {
      for (let i = 0; i < 5; i++) {
        await commit(opened(directory), put('aa', 'removed content'));
        const command = opened(directory);
        await commit(command, remove('aa'));
        command.close();
        const before = newest();
        await endWork();
        expect(newest() - before).toBeLessThanOrEqual(1);
        expect(saidIn(directory)).not.toContain('removed');
      }
    } finally {
      isOver = true;
      await busy;
    }
  });

  it('has nothing in its log of what was under an old root key', async () => {
    const { directory } = await loggedStore();
    await asCommand(directory, (backend) => commit(backend, put('aa', 'old')));
    await asCommand(directory, (backend) =>
      backend.exclusive((session) =>
        session.replaceGeneration(
          (async function* () {
            yield { ref: document('bb'), bytes: Buffer.from('new') };
          })(),
        ),
      ),
    );
    expect([logFiles(directory), saidIn(directory).includes('old')]).toEqual([['2'], false]);
    expect((await seenIn(directory)).documents).toEqual({ bb: 'new' });
    await asCommand(directory, (backend) => commit(backend, put('cc', 'next')));
    expect((await seenIn(directory)).documents).toEqual({ bb: 'new', cc: 'next' });
  });

  it('has at most 32 changes in its log, which the next command empties', async () => {
    const { directory } = await loggedStore();
    for (let i = 1; i <= 33; i++) {
      expect([logFiles(directory), readdirSync(documentsIn(directory))]).toEqual([['1'], []]);
      await asCommand(directory, (backend) => commit(backend, put('aa', `change ${i}`)));
    }
    expect([logFiles(directory), readdirSync(documentsIn(directory))]).toEqual([['2'], ['aa']]);
    expect(saidIn(directory)).not.toContain('change');
    expect(await seenIn(directory)).toMatchObject({ revision: 33, documents: { aa: 'change 33' } });
    await asCommand(directory, (backend) => commit(backend, put('aa', 'short')));
    expect([logFiles(directory), saidIn(directory).includes('short')]).toEqual([['2'], true]);
  });

  it('keeps a long log if another process has changed the store since, which empties it', async () => {
    const { directory } = await loggedStore();
    for (let i = 0; i < 40; i++) await commit(opened(directory), put('aa', `change ${i}`));
    // What is closed empties nothing, as if it were in another process.
    const other = opened(directory);
    other.close();
    await asCommand(directory, async (backend) => {
      await commit(backend, put('bb', 'of the command'));
      await commit(other, put('bb', 'of another process'));
    });
    expect([logFiles(directory), readdirSync(documentsIn(directory))]).toEqual([['1'], []]);
  });

  it('keeps a long log as long as another process empties it, or writes', async () => {
    const { directory } = await loggedStore();
    for (let i = 0; i < 40; i++) await commit(opened(directory), put('aa', `change ${i}`));
    for (const lock of ['lock', join('log', 'lock')]) {
      const backend = opened(directory);
      await commit(backend, put('bb', lock));
      backend.close();
      await FileLock.holdOnce(join(directory, lock), 1000, endWork);
      expect([logFiles(directory), readdirSync(documentsIn(directory))]).toEqual([['1'], []]);
    }
    await asCommand(directory, (backend) => commit(backend, put('bb', 'last')));
    expect([logFiles(directory), readdirSync(documentsIn(directory)).sort()]).toEqual([['2'], ['aa', 'bb']]);
  });

  it('keeps short changes in its log', async () => {
    const { directory } = await loggedStore();
    for (const text of ['one', 'two'])
      await asCommand(directory, (backend) => commit(backend, put('aa', text)));
    expect([logFiles(directory), readdirSync(documentsIn(directory))]).toEqual([['1'], []]);
  });
});
