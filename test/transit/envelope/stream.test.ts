import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { decryptEnvelope } from '../../../src/transit/envelope/decrypt.ts';
import { encryptEnvelope } from '../../../src/transit/envelope/encrypt.ts';
import type { ByteSink, ByteSource } from '../../../src/transit/envelope/ports.ts';
import { isLong } from '../../long.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { attempt, Collected, encrypted, KEY, MemoryKeys, sourceOf } from './in-memory.ts';

const CHUNK = 65_536;
const READ = 1_048_576;
const keys = new MemoryKeys();

const aroundBorders = (border: number): number[] =>
  [-17, -16, -15, -1, 0, 1, 15, 16, 17].map((distance) => border + distance);

describe('a stream', () => {
  const sizes = [
    0,
    1,
    15,
    16,
    17,
    ...[1, 2, 3].flatMap((n) => aroundBorders(n * CHUNK)),
    ...aroundBorders(READ),
  ];

  it.each(sizes)('of %i bytes comes back as it was, in chunks of 64 KiB with a tag each', async (size) => {
    const plaintext = randomBytes(size);
    const envelope = await encrypted(keys, plaintext);
    const header = (await encrypted(keys, Buffer.alloc(0))).length - 16;
    expect(envelope.length).toBe(header + size + 16 * Math.max(1, Math.ceil(size / CHUNK)));
    const { plaintext: back, error } = await attempt(keys, envelope);
    expect(error).toBeUndefined();
    expect(back.equals(plaintext)).toBe(true);
  });

  it.each([1, 7, 4096, 65_535, 65_552, 65_553, 1_048_575])(
    'gives the same envelope whether it comes whole or in pieces of %i bytes',
    async (pieceBytes) => {
      const plaintext = randomBytes(pieceBytes === 1 ? CHUNK + 3 : 3 * CHUNK + 5);
      const sink = new Collected();
      const source = sourceOf(plaintext, pieceBytes);
      await encryptEnvelope({ key: KEY, keys, random: systemRandom, source, sink });
      const { plaintext: back, error } = await attempt(keys, sink.bytes, pieceBytes);
      expect(error).toBeUndefined();
      expect(back.equals(plaintext)).toBe(true);
    },
  );

  it('comes back whatever its length and however it is cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 4 * CHUNK }),
        fc.array(fc.integer({ min: 1, max: 2 * CHUNK }), { minLength: 1, maxLength: 8 }),
        async (size, pieces) => {
          const plaintext = randomBytes(size);
          const envelope = await encrypted(keys, plaintext);
          const sink = new Collected();
          await decryptEnvelope({ keys, source: cutInto(envelope, pieces), sink });
          expect(sink.bytes.equals(plaintext)).toBe(true);
        },
      ),
      { numRuns: isLong ? 50 : 20 },
    );
  });

  it('hands out a chunk as soon as the next one has begun, without waiting for the end', async () => {
    const plaintext = randomBytes(3 * CHUNK);
    const envelope = await encrypted(keys, plaintext);
    const tail = envelope.length - (CHUNK + 16) + 1;
    const source = stalledAfter(envelope.subarray(0, tail));
    const sink = new Collected();
    const pending = decryptEnvelope({ keys, source, sink });
    await source.stalled;
    await vi.waitUntil(() => sink.bytes.length >= 2 * CHUNK, { timeout: 20_000 });
    expect(sink.bytes.equals(plaintext.subarray(0, 2 * CHUNK))).toBe(true);
    source.resume(envelope.subarray(tail));
    await pending;
    expect(sink.bytes.equals(plaintext)).toBe(true);
  });

  it('is written in whole units of 64 KiB after the header, so that no pipe is overrun by a tag', async () => {
    const writes: number[] = [];
    const sink: ByteSink = {
      write(bytes) {
        writes.push(bytes.length);
        return Promise.resolve();
      },
    };
    const source = sourceOf(randomBytes(40 * CHUNK), CHUNK);
    await encryptEnvelope({ key: KEY, keys, random: systemRandom, source, sink });
    expect(writes.slice(1, -1).filter((length) => length % CHUNK !== 0)).toEqual([]);
    expect(writes.slice(1).reduce((sum, length) => sum + length, 0)).toBe(40 * (CHUNK + 16));
  });

  it('reports how many bytes went in, header included', async () => {
    const plaintext = randomBytes(READ + 5);
    const envelope = await encrypted(keys, plaintext);
    let seen = 0;
    const onProgress = (bytes: number): void => {
      seen += bytes;
    };
    await decryptEnvelope({ keys, source: sourceOf(envelope), sink: new Collected(), onProgress });
    expect(seen).toBe(envelope.length);
    seen = 0;
    const source = sourceOf(plaintext);
    await encryptEnvelope({
      key: KEY,
      keys,
      random: systemRandom,
      source,
      sink: new Collected(),
      onProgress,
    });
    expect(seen).toBe(plaintext.length);
  });

  it('ends with the error of a source or sink that fails, while the other is still at work', async () => {
    const envelope = await encrypted(keys, randomBytes(5 * READ));
    const broken = new Error('the disk is full');
    const sink: ByteSink = { write: () => setImmediate().then(() => Promise.reject(broken)) };
    expect(await rejectionOf(decryptEnvelope({ keys, source: sourceOf(envelope), sink }))).toBe(broken);
    const source: ByteSource = { read: () => Promise.reject(broken) };
    expect(await rejectionOf(decryptEnvelope({ keys, source, sink: new Collected() }))).toBe(broken);
  });

  it('uses a fresh data key and a fresh salt for every file', async () => {
    const plaintext = randomBytes(100);
    const [one, other] = [await encrypted(keys, plaintext), await encrypted(keys, plaintext)];
    expect(one.subarray(16, 48).equals(other.subarray(16, 48))).toBe(false);
    expect(one.subarray(-116).equals(other.subarray(-116))).toBe(false);
  });
});

function cutInto(bytes: Buffer, pieces: readonly number[]): ByteSource {
  let position = 0;
  let turn = 0;
  return {
    read(into) {
      const length = Math.min(into.length, pieces[turn++ % pieces.length] ?? 1);
      const piece = bytes.subarray(position, position + length);
      into.set(piece);
      position += piece.length;
      return Promise.resolve(piece.length);
    },
  };
}

/** A pipe whose writer pauses after `first`. */
function stalledAfter(
  first: Buffer,
): ByteSource & { readonly stalled: Promise<void>; resume(rest: Buffer): void } {
  const beginning = sourceOf(first);
  const stalled = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<ByteSource>();
  return {
    stalled: stalled.promise,
    resume: (bytes) => rest.resolve(sourceOf(bytes)),
    async read(into) {
      const bytes = await beginning.read(into);
      if (bytes > 0) return bytes;
      stalled.resolve();
      return (await rest.promise).read(into);
    },
  };
}
