import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { elapsedMs } from '../../../../src/ground/clock.ts';
import { unavailable } from '../../../../src/ground/errors.ts';
import { FileLock } from '../../../../src/store/backends/files/file-lock.ts';
import { bootOf, isOfThisBoot } from '../../../../src/store/backends/files/log/boot.ts';
import { checkpoint } from '../../../../src/store/backends/files/log/checkpoint.ts';
import { Damage } from '../../../../src/store/backends/files/log/first-look.ts';
import { nextPlace } from '../../../../src/store/backends/files/log/format.ts';
import { withoutGap } from '../../../../src/store/backends/files/log/log.ts';
import { LogBytes } from '../../../../src/store/backends/files/log/log-bytes.ts';
import { sampledBelow } from '../../../sampled.ts';
import { seeded } from '../../../seeded.ts';
import { temporaryDirectory } from '../../temporary-store.ts';
import {
  commit,
  commitMany,
  commitQuietly,
  document,
  logFile,
  logFiles,
  loggedStore,
  makeOlder,
  nameOf,
  nameState,
  opened,
  put,
  recordsIn,
  remove,
  seenBy,
  seenIn,
  stateOf,
} from './logged-store.ts';

/** Runs `work` while another process, so to speak, has the write lock. */
const withLockHeld = <T>(directory: string, work: () => Promise<T>): Promise<T> =>
  FileLock.holdOnce(join(directory, 'lock'), 1000, work);

const READER_MS = 500;

describe('the log of a store', () => {
  it('has what was changed last, which other handles see, and write after', async () => {
    const { directory, backend } = await loggedStore();
    const other = opened(directory);
    await commit(backend, put('aa', 'one'), put('bb', 'two'));
    expect(await seenBy(other)).toEqual({ revision: 1, documents: { aa: 'one', bb: 'two' } });
    await commit(other, put('aa', 'three'), remove('bb'));
    await commit(backend, put('cc', 'four'));
    for (const each of [backend, other, opened(directory)])
      expect(await seenBy(each)).toEqual({ revision: 3, documents: { aa: 'three', cc: 'four' } });
    expect(await other.has(1, document('bb'))).toBe(false);
    expect(recordsIn(logFile(directory))).toHaveLength(3);
  });

  it('keeps of a long change only where it is, and reads it from there', async () => {
    const { directory, backend } = await loggedStore();
    const long = 'x'.repeat(3 * 1024 * 1024);
    await commit(backend, put('aa', long), put('bb', 'short'));
    const other = opened(directory);
    await other.state();
    await commit(backend, put('cc', 'next'));
    for (const each of [backend, other])
      expect(await seenBy(each)).toEqual({ revision: 2, documents: { aa: long, bb: 'short', cc: 'next' } });
    expect(logFiles(directory)).toEqual(['1', '2']);
  });

  it('goes on in the next file after 256 changes', async () => {
    const { directory, backend } = await loggedStore();
    await commitMany(backend, 256);
    expect(logFiles(directory)).toEqual(['1']);
    await commit(backend, put('aa', 'next'));
    expect(recordsIn(logFile(directory, 2))).toHaveLength(1);
    const { revision, documents } = await seenIn(directory);
    expect([revision, Object.keys(documents).length]).toEqual([257, 257]);
  });

  it('has no files below a number that is missing', () => {
    expect([[], [3], [1, 2], [1, 3], [1, 2, 4, 5], [1, 3, 5]].map(withoutGap)).toEqual([
      [],
      [3],
      [1, 2],
      [3],
      [4, 5],
      [5],
    ]);
  });
});

describe('a log whose last record is torn at any byte', () => {
  it('ends before it if the state has not been renamed, and the next writer writes over it', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    await commit(backend, put('aa', 'two'), put('bb', 'x'.repeat(300)));
    // Otherwise it empties the log after a while.
    backend.close();
    const bytes = readFileSync(logFile(directory));
    const { begin = 0, end = 0 } = recordsIn(logFile(directory))[1] ?? {};
    for (const length of sampledBelow(end - begin, seeded())) {
      const copy = join(temporaryDirectory(), 'store');
      cpSync(directory, copy, { recursive: true });
      const torn = Buffer.from(bytes);
      torn.fill(0, begin + length, end);
      if (torn.equals(bytes)) continue;
      writeFileSync(logFile(copy), torn);
      nameState(copy, 'log-1-1');
      expect(await seenIn(copy)).toEqual({ revision: 1, documents: { aa: 'one' } });
      await commit(opened(copy), put('cc', 'three'));
      expect(await seenIn(copy)).toEqual({ revision: 2, documents: { aa: 'one', cc: 'three' } });
    }
  });

  it('is damaged if the state was renamed, and says at which revision', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    await commit(backend, put('aa', 'two'));
    backend.close();
    const bytes = readFileSync(logFile(directory));
    const { begin = 0, end = 0 } = recordsIn(logFile(directory))[1] ?? {};
    const damaged = `${logFile(directory)} is damaged at offset ${begin}`;
    const content = end - begin - 'two'.length;
    for (const position of sampledBelow(end - begin, seeded())) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(begin + position) ^ (1 << (position % 8)), begin + position);
      writeFileSync(logFile(directory), flipped);
      const isOfList = position < content;
      const refusal = {
        kind: 'corrupt',
        message: isOfList ? `${damaged}: it ends at revision 1, but the store was at revision 2` : damaged,
      };
      if (isOfList) await expect(opened(directory).state()).rejects.toMatchObject(refusal);
      else {
        const { generation } = await opened(directory).state();
        await expect(opened(directory).read(generation, document('aa'))).rejects.toMatchObject({
          kind: 'corrupt',
          message: expect.stringContaining(`in a damaged change at offset ${begin}`),
        });
      }
      await expect(commit(opened(directory), put('bb', 'more'))).rejects.toMatchObject(refusal);
    }
    expect(stateOf(directory)).toBe('log-1-2');
  });

  it.each([
    ['is gone', (path: string) => rmSync(path), 'log contains no log file'],
    [
      'is gone with its directory',
      (path: string) => rmSync(dirname(path), { recursive: true }),
      'log is missing',
    ],
    ['is empty', (path: string) => writeFileSync(path, ''), 'is damaged'],
  ])('is damaged if its only file %s', async (_, change, message) => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    change(logFile(directory));
    await expect(opened(directory).state()).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining(message),
    });
  });

  it('is damaged if its only file has another number, but can still be read', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    renameSync(logFile(directory), logFile(directory, 4));
    expect(await seenIn(directory)).toEqual({ revision: 1, documents: { aa: 'one' } });
    await expect(commit(opened(directory), put('bb', 'two'))).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringContaining('was renamed'),
    });
  });

  it('is damaged if the file before the newest ends too soon', async () => {
    const { directory, backend } = await loggedStore();
    await commitMany(backend, 257);
    const bytes = readFileSync(logFile(directory));
    const last = recordsIn(logFile(directory)).at(-1);
    writeFileSync(logFile(directory), bytes.fill(0, last?.begin, last?.end));
    await expect(commit(opened(directory), put('aa', 'more'))).rejects.toMatchObject({
      kind: 'corrupt',
      message: `${logFile(directory)} is damaged at offset ${last?.begin}: it ends at revision 255, but the next file begins at revision 256`,
    });
  });

  it('is repaired: what is whole stays, and the revision goes on above all that were used', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    await commit(backend, put('bb', 'two'));
    const bytes = readFileSync(logFile(directory));
    const last = recordsIn(logFile(directory)).at(-1);
    writeFileSync(logFile(directory), bytes.fill(0xff, last?.begin, last?.end));
    const damaged = opened(directory);
    const mended = await damaged.repair(async () => 1);
    expect(mended).toMatchObject([
      { place: { file: join(directory, 'log') }, done: expect.stringContaining('was replaced') },
      { place: { file: logFile(directory) }, done: expect.stringContaining(`at offset ${last?.begin}`) },
      { place: { file: `${logFile(directory)}.damaged` }, done: expect.stringContaining('a copy of') },
    ]);
    const { revision, documents } = await seenIn(directory);
    expect(documents).toEqual({ aa: 'one' });
    expect(revision).toBeGreaterThan(2);
    await commit(backend, put('cc', 'three'));
    expect((await seenIn(directory)).documents).toEqual({ aa: 'one', cc: 'three' });
    expect(await opened(directory).repair(async () => 1)).toEqual([]);
  });
});

describe('a record above the state', () => {
  /** A store whose second change is in the log, but not in the name of the state. */
  async function unnamed(): Promise<string> {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    await commit(backend, put('aa', 'two'));
    nameState(directory, 'log-1-1');
    return directory;
  }

  const before = { revision: 1, documents: { aa: 'one' } };
  const after = { revision: 2, documents: { aa: 'two' } };

  it('becomes part of it when anybody looks who can have the lock', async () => {
    const directory = await unnamed();
    expect(await seenIn(directory)).toEqual(after);
    expect(stateOf(directory)).toBe('log-1-2');
  });

  it('is not shown while its writer may be at work on it, and nobody waits for that writer', async () => {
    const directory = await unnamed();
    await withLockHeld(directory, async () => {
      const start = elapsedMs();
      const reader = opened(directory);
      expect(await seenBy(reader)).toEqual(before);
      expect(elapsedMs() - start).toBeLessThan(READER_MS);
      nameState(directory, 'log-1-2');
      expect(await seenBy(reader)).toEqual(after);
    });
  });

  it('of another boot is shown, after its holder was given time to settle it', async () => {
    const directory = await unnamed();
    makeOlder(logFile(directory));
    await withLockHeld(directory, async () => {
      const reader = opened(directory);
      expect(await seenBy(reader)).toEqual(after);
      expect(await seenBy(reader)).toEqual(after);
      expect(stateOf(directory)).toBe('log-1-1');
      nameState(directory, 'log-1-2');
      expect(await seenBy(reader)).toEqual(after);
    });
  });

  it.each([
    ['of another boot is shown', true, after],
    ['of this boot is not shown', false, before],
  ])('%s at once where nothing can be written', async (_, isOlder, expected) => {
    const directory = await unnamed();
    if (isOlder) makeOlder(logFile(directory));
    const spy = vi.spyOn(FileLock.prototype, 'tryHold');
    spy.mockRejectedValue(unavailable('the file system is read-only'));
    try {
      const start = elapsedMs();
      expect(await seenIn(directory)).toEqual(expected);
      expect(elapsedMs() - start).toBeLessThan(READER_MS);
    } finally {
      spy.mockRestore();
    }
    expect(stateOf(directory)).toBe('log-1-1');
  });

  it('is shown when a file begins above it, even if its records are gone into the documents', async () => {
    const { directory } = await loggedStore();
    await commitQuietly(directory, 257);
    expect(await checkpoint(directory)).toBe('done');
    nameState(directory, 'log-1-3');
    const spy = vi.spyOn(FileLock.prototype, 'tryHold').mockRejectedValue(unavailable('read-only'));
    expect((await opened(directory).state()).revision).toBe(256);
    spy.mockRestore();
    expect((await opened(directory).state()).revision).toBe(257);
    expect(stateOf(directory)).toBe('log-1-257');
  });

  it('is not shown where the log before it is damaged and nothing can be written', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'), put('long', 'x'.repeat(1_100_000)));
    await commit(backend, put('bb', 'two'));
    nameState(directory, 'log-1-0');
    const damaged = readFileSync(logFile(directory));
    damaged.writeUInt8(damaged.readUInt8(5000) ^ 1, 5000);
    writeFileSync(logFile(directory), damaged);
    const spy = vi.spyOn(FileLock.prototype, 'tryHold').mockRejectedValue(unavailable('read-only'));
    await expect(seenIn(directory)).rejects.toMatchObject({ kind: 'corrupt' });
    spy.mockRestore();
  });

  it('that is torn may claim any length, and costs a look no memory', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    const bytes = readFileSync(logFile(directory));
    bytes.writeUInt32BE(255 * 1024 * 1024, nextPlace(recordsIn(logFile(directory)).at(-1)?.end ?? 0));
    writeFileSync(logFile(directory), bytes);
    const spy = vi.spyOn(Buffer, 'allocUnsafe');
    expect(await seenIn(directory)).toEqual({ revision: 1, documents: { aa: 'one' } });
    expect(Math.max(...spy.mock.calls.map(([size]) => size))).toBeLessThan(1024 * 1024);
    spy.mockRestore();
  });

  it('is shown beside a damaged lock as if nothing could be written, and not as a damaged log', async () => {
    const directory = await unnamed();
    makeOlder(logFile(directory));
    writeFileSync(join(directory, 'lock'), 'not empty');
    const salvaging = vi.spyOn(Damage.prototype, 'rescue');
    onTestFinished(() => salvaging.mockRestore());
    expect(await seenIn(directory)).toEqual({ revision: 2, documents: { aa: 'two' } });
    expect(salvaging).not.toHaveBeenCalled();
    await expect(commit(opened(directory), put('bb', 'three'))).rejects.toMatchObject({
      message: `${join(directory, 'lock')} is damaged: it must be empty`,
    });
  });

  it('is written again before another one is added', async () => {
    const directory = await unnamed();
    await commit(opened(directory), put('bb', 'three'));
    expect(await seenIn(directory)).toEqual({ revision: 3, documents: { aa: 'two', bb: 'three' } });
  });

  it('of a rekey makes the next generation', async () => {
    const { directory, backend } = await loggedStore();
    await commit(backend, put('aa', 'one'));
    await backend.exclusive((session) =>
      session.replaceGeneration(
        (async function* () {
          yield { ref: document('bb'), bytes: Buffer.from('re-encrypted') };
        })(),
      ),
    );
    nameState(directory, 'log-1-1');
    expect(await seenIn(directory)).toEqual({ revision: 2, documents: { bb: 're-encrypted' } });
    expect(stateOf(directory)).toBe('log-2-2');
    await commit(opened(directory), put('cc', 'next'));
    expect(await seenIn(directory)).toEqual({ revision: 3, documents: { bb: 're-encrypted', cc: 'next' } });
  });
});

describe('a change of thousands of documents', () => {
  it('is compared with the file open once by whoever writes next', async () => {
    const { directory, backend } = await loggedStore();
    const text = 'x'.repeat(400);
    await commit(backend, ...Array.from({ length: 3000 }, (_, i) => put(nameOf(i), text)));
    backend.close();
    const opening = vi.spyOn(LogBytes, 'of');
    onTestFinished(() => opening.mockRestore());
    await commit(opened(directory), put('aa', 'next'));
    expect(opening.mock.calls.length).toBeLessThan(20);
  });
});

describe('a boot of the machine', () => {
  it('is told from others by what the system says, and unknown where it says nothing', () => {
    const id = '1b4e28ba-2fa1-11d2-883f-0016d3cca427';
    const [one, two] = [id, id.replace('1b', '2c')].map((each) => bootOf(() => `${each}\n`));
    const unknown = bootOf(() => {
      throw new Error('ENOENT');
    });
    if (one === undefined || two === undefined) throw new Error('there are two');
    expect(isOfThisBoot(one, one)).toBe(true);
    expect(isOfThisBoot(one, two)).toBe(false);
    expect(isOfThisBoot(unknown, unknown)).toBe(false);
    for (const odd of ['', 'none', '00000000-0000-0000-0000-000000000000', `${id}0`])
      expect(bootOf(() => odd)).toEqual(unknown);
    expect(unknown).toEqual(new Uint8Array(8));
  });
});

it('the names of many documents are those of the log and the files together', async () => {
  const { directory, backend } = await loggedStore();
  await commitMany(backend, 20);
  await commit(backend, ...Array.from({ length: 10 }, (_, i) => remove(nameOf(i))));
  expect(Object.keys((await seenIn(directory)).documents).sort()).toEqual(
    Array.from({ length: 10 }, (_, i) => nameOf(i + 10)),
  );
});
