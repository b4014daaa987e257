import { createSecretKey, randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ChunkStage, decryption, encryption } from '../../../src/transit/envelope/chunk-cipher.ts';
import {
  type ByteSink,
  type ByteSource,
  Lookahead,
  type PlainFile,
} from '../../../src/transit/envelope/ports.ts';
import { pump, pumpInTurns } from '../../../src/transit/envelope/pump.ts';
import { isLong } from '../../long.ts';

const CHUNK = 64 * 1024;
const WINDOW = 8 * CHUNK;
/** Enough for threads, whatever there is. */
const LARGE = 2 ** 40;

const directory = mkdtempSync(join(tmpdir(), 'coffer-turns-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const path = (name: string): string => join(directory, name);

const key = createSecretKey(randomBytes(32));
const sealing = encryption(key, CHUNK);
const opening = decryption(key, CHUNK);

const explain = (error: unknown): unknown =>
  new Error(`explained: ${(error as { readonly code?: string }).code}`);

function opened(name: string, flags: 'r' | 'w'): PlainFile {
  const descriptor = openSync(name, flags);
  onTestFinished(() => closeSync(descriptor));
  return { descriptor, explain };
}

const readFrom = (file: PlainFile): ByteSource => ({
  file,
  expectedBytes: LARGE,
  read: async (into) => readSync(file.descriptor, into),
});

/** What came out, why it ended, and what was told of it. */
interface Outcome {
  readonly bytes: Buffer;
  readonly error: unknown;
  readonly progress: number;
}

async function inTurns(input: Uint8Array, stage: ChunkStage, skip = 0): Promise<Outcome> {
  writeFileSync(path('in'), input);
  const to = opened(path('out'), 'w');
  let [progress, written] = [0, 0];
  const sink: ByteSink = {
    write: async (bytes) => void writeSync(to.descriptor, bytes),
    file: {
      ...to,
      wrote(bytes) {
        written += bytes;
      },
    },
  };
  const source = new Lookahead(readFrom(opened(path('in'), 'r')));
  if (skip > 0) await source.read(await source.peek(skip));
  let error: unknown;
  try {
    const done = await pumpInTurns(source, sink, stage, (bytes) => {
      progress += bytes;
    });
    expect(done).toBe(true);
  } catch (thrown) {
    error = thrown;
  }
  const bytes = readFileSync(path('out'));
  expect(written).toBe(bytes.length);
  return { bytes, error, progress };
}

/** The same by one thread. */
async function alone(input: Uint8Array, stage: ChunkStage): Promise<Omit<Outcome, 'progress'>> {
  const pieces: Buffer[] = [];
  let position = 0;
  const source: ByteSource = {
    async read(into) {
      const piece = input.subarray(position, position + into.length);
      into.set(piece);
      position += piece.length;
      return piece.length;
    },
  };
  let error: unknown;
  try {
    await pump(source, { write: async (bytes) => void pieces.push(Buffer.from(bytes)) }, stage);
  } catch (thrown) {
    error = thrown;
  }
  return { bytes: Buffer.concat(pieces), error };
}

const SIZES = [
  0,
  1,
  CHUNK - 1,
  CHUNK,
  CHUNK + 1,
  WINDOW - 1,
  WINDOW,
  WINDOW + 1,
  2 * WINDOW,
  5 * WINDOW + 3 * CHUNK,
  40 * WINDOW + 17,
];

describe.skipIf(availableParallelism() < 2)('a large file, by two threads', () => {
  it.each(SIZES)('becomes what one thread makes of it, and again what it was: %i bytes', async (size) => {
    const plaintext = randomBytes(size);
    const one = await alone(plaintext, sealing);
    const two = await inTurns(plaintext, sealing);
    expect(two.error).toBeUndefined();
    expect(two.bytes.equals(one.bytes)).toBe(true);
    expect(two.progress).toBe(size);
    const back = await inTurns(two.bytes, opening);
    expect(back.error).toBeUndefined();
    expect(back.bytes.equals(plaintext)).toBe(true);
    expect(back.progress).toBe(two.bytes.length);
  });

  it.each([1, 200, 4096, 5000])('begins behind a header that somebody has read: %i bytes', async (header) => {
    const plaintext = randomBytes(3 * WINDOW + 5);
    const sealed = (await alone(plaintext, sealing)).bytes;
    const { bytes, error } = await inTurns(Buffer.concat([Buffer.alloc(header), sealed]), opening, header);
    expect(error).toBeUndefined();
    expect(bytes.equals(plaintext)).toBe(true);
  });

  it('is worked on by the other thread while this one has other things to do', async () => {
    const windows = isLong ? 200 : 80;
    const plaintext = randomBytes(windows * WINDOW);
    const sealedWindow = WINDOW + 8 * 16;
    const all = windows * sealedWindow;
    const written = (): number => statSync(path('out'), { throwIfNoEntry: false })?.size ?? 0;
    // Between two of its windows this thread has to let this go first, which ends when the other one has written two of its own. Or
    // after a while: the other one may itself be waiting for a window that this one has in hand.
    let here = 0;
    let isDone = false;
    const hinder = (): void => {
      if (written() < all) here++;
      const enough = Math.min(written() + 2 * sealedWindow, all);
      for (let waits = 0; written() < enough && waits < 250; waits++) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      }
      if (!isDone) setImmediate(hinder);
    };
    setImmediate(hinder);
    const { bytes, error } = await inTurns(plaintext, sealing);
    isDone = true;
    expect(error).toBeUndefined();
    expect(here).toBeLessThan(windows / 2);
    expect((await alone(bytes, opening)).bytes.equals(plaintext)).toBe(true);
  });

  const sealed = async (size: number) => (await alone(randomBytes(size), sealing)).bytes;
  const changed = (bytes: Buffer, at: number): Buffer => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy;
  };

  it.each([
    ['a bit of the first chunk changed', async () => changed(await sealed(3 * WINDOW), 0)],
    ['a bit in the middle', async () => changed(await sealed(9 * WINDOW), 5 * WINDOW)],
    ['a bit of the last chunk', async () => changed(await sealed(4 * WINDOW + 7), 4 * (WINDOW + 8 * 16) + 3)],
    [
      'the end cut off between chunks',
      async () => (await sealed(4 * WINDOW)).subarray(0, 3 * (WINDOW + 8 * 16)),
    ],
    ['the end cut off within a chunk', async () => (await sealed(4 * WINDOW)).subarray(0, -1)],
    [
      'less than a tag behind the last chunk',
      async () => Buffer.concat([await sealed(WINDOW), Buffer.alloc(3)]),
    ],
    ['more behind the end', async () => Buffer.concat([await sealed(WINDOW), await sealed(WINDOW)])],
    ['nothing', async () => Buffer.alloc(0)],
  ])('is refused as by one thread, with the same bytes before: %s', async (_, make) => {
    const input = await make();
    const one = await alone(input, opening);
    const two = await inTurns(input, opening);
    expect(one.error).toBeInstanceOf(Error);
    expect(two.error).toEqual(one.error);
    expect(two.bytes.equals(one.bytes)).toBe(true);
  });

  it.skipIf(process.platform !== 'linux')('ends with what the system says of either file', async () => {
    writeFileSync(path('in'), randomBytes(10 * WINDOW));
    const source = readFrom(opened(path('in'), 'r'));
    const full = { write: () => expect.unreachable(), file: opened('/dev/full', 'w') };
    await expect(pumpInTurns(source, full, sealing)).rejects.toThrow('explained: ENOSPC');
    const directoryRead = { ...readFrom(opened(directory, 'r')), read: async () => 0 };
    const to = { write: () => expect.unreachable(), file: opened(path('out'), 'w') };
    await expect(pumpInTurns(directoryRead, to, sealing)).rejects.toThrow('explained: EISDIR');
    // Nothing of it stays in the way of the next one.
    expect((await inTurns(randomBytes(CHUNK), sealing)).error).toBeUndefined();
  });

  it('is left to one thread where a second one is of no use', async () => {
    writeFileSync(path('in'), 'small');
    const source = { ...readFrom(opened(path('in'), 'r')), expectedBytes: 5 };
    const to = { write: async () => undefined, file: opened(path('out'), 'w') };
    expect(await pumpInTurns(source, to, sealing)).toBe(false);
    const { file: _, ...pipe } = readFrom(opened(path('in'), 'r'));
    expect(await pumpInTurns(pipe, to, sealing)).toBe(false);
  });
});
