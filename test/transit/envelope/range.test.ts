import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ByteRange,
  decryptEnvelope,
  decryptRange,
  payloadOf,
} from '../../../src/transit/envelope/decrypt.ts';
import { isLong } from '../../long.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { Collected, encrypted, MemoryFile, MemoryKeys, sourceOf } from './in-memory.ts';

const CHUNK = 65_536;
const STRIDE = CHUNK + 16;
const keys = new MemoryKeys();
const plaintext = randomBytes(40 * CHUNK + 123);
const envelope = await encrypted(keys, plaintext);
const headerBytes = envelope.length - plaintext.length - 41 * 16;

async function rangeOf(file: MemoryFile, range: ByteRange): Promise<Buffer> {
  const sink = new Collected();
  await decryptRange({ keys, file, sink, range });
  return sink.bytes;
}

const sliceOf = ({ offset, length = plaintext.length }: ByteRange): Buffer =>
  plaintext.subarray(offset, offset + length);

describe('a range', () => {
  it('is the same part of the plaintext wherever it lies, from a file and from a pipe', async () => {
    const place = fc.oneof(
      fc.nat(plaintext.length),
      fc
        .tuple(fc.nat(40), fc.integer({ min: -2, max: 2 }))
        .map(([chunks, distance]) => Math.max(0, chunks * CHUNK + distance)),
    );
    await fc.assert(
      fc.asyncProperty(place, fc.option(place, { nil: undefined }), async (offset, length) => {
        const range: ByteRange = { offset, length };
        expect((await rangeOf(new MemoryFile(envelope), range)).equals(sliceOf(range))).toBe(true);
        const sink = new Collected();
        await decryptEnvelope({ keys, source: sourceOf(envelope), sink, range });
        expect(sink.bytes.equals(sliceOf(range))).toBe(true);
      }),
      { numRuns: isLong ? 100 : 30 },
    );
  });

  it.each([
    ['one byte', { offset: 5 * CHUNK + 7, length: 1 }, 2 * STRIDE],
    ['two chunks', { offset: 6 * CHUNK - 1, length: 2 }, 3 * STRIDE],
    ['nothing', { offset: 3, length: 0 }, STRIDE],
    ['nothing at the end', { offset: plaintext.length }, STRIDE],
  ])('of %s reads the header, the chunks it touches and the last one', async (_, range, most) => {
    const file = new MemoryFile(envelope);
    await rangeOf(file, range);
    expect(file.bytesRead).toBeLessThanOrEqual(headerBytes + most);
  });

  it('that begins behind the end is refused, and the message tells the size', async () => {
    const range = { offset: plaintext.length + 1 };
    const message = `offset ${range.offset} is past the end of the decrypted data, which has ${plaintext.length} bytes`;
    const refusal = { kind: 'invalid', field: 'offset', message };
    expect(await rejectionOf(rangeOf(new MemoryFile(envelope), range))).toMatchObject(refusal);
    const sink = new Collected();
    const whole = decryptEnvelope({ keys, source: sourceOf(envelope), sink, range });
    expect(await rejectionOf(whole)).toMatchObject(refusal);
    expect(sink.bytes.length).toBe(0);
  });

  it('notices a file that was cut off or lengthened, although it does not read it all', async () => {
    const lengths = [
      headerBytes,
      headerBytes + 15,
      headerBytes + STRIDE,
      envelope.length - 1,
      envelope.length - 139,
    ];
    for (const length of [...lengths, headerBytes + 20 * STRIDE, headerBytes + 20 * STRIDE + 16]) {
      const file = new MemoryFile(envelope.subarray(0, length));
      expect(await rejectionOf(rangeOf(file, { offset: 0, length: 10 }))).toMatchObject({
        kind: 'inauthentic',
      });
    }
    for (const more of [1, 16, CHUNK, STRIDE]) {
      const file = new MemoryFile(Buffer.concat([envelope, Buffer.alloc(more)]));
      expect(await rejectionOf(rangeOf(file, { offset: 0, length: 10 }))).toMatchObject({
        kind: 'inauthentic',
      });
    }
  });

  it('hands out nothing of a changed chunk', async () => {
    const changed = new MemoryFile(envelope);
    const place = headerBytes + 3 * STRIDE + 9;
    changed.bytes.writeUInt8(changed.bytes.readUInt8(place) ^ 1, place);
    const sink = new Collected();
    const range = { offset: CHUNK, length: 5 * CHUNK };
    expect(await rejectionOf(decryptRange({ keys, file: changed, sink, range }))).toMatchObject({
      kind: 'inauthentic',
    });
    expect(sink.bytes.equals(plaintext.subarray(CHUNK, CHUNK + sink.bytes.length))).toBe(true);
    expect(sink.bytes.length).toBeLessThanOrEqual(2 * CHUNK);
  });

  it('does not see a changed chunk that it does not touch', async () => {
    const changed = new MemoryFile(envelope);
    changed.bytes.writeUInt8(changed.bytes.readUInt8(headerBytes) ^ 1, headerBytes);
    const range = { offset: 2 * CHUNK, length: 10 };
    expect((await rangeOf(changed, range)).equals(sliceOf(range))).toBe(true);
  });

  it('of an empty plaintext is empty', async () => {
    const sink = new Collected();
    const file = new MemoryFile(await encrypted(keys, Buffer.alloc(0)));
    await decryptRange({ keys, file, sink, range: { offset: 0, length: 5 } });
    expect(sink.bytes.length).toBe(0);
  });
});

describe('the size of a payload', () => {
  it.each([
    [16, 1, 0],
    [17, 1, 1],
    [STRIDE, 1, CHUNK],
    [STRIDE + 17, 2, CHUNK + 1],
    [2 * STRIDE, 2, 2 * CHUNK],
  ])('of %i bytes tells %i chunks and %i bytes of plaintext', (bytes, chunks, size) => {
    expect(payloadOf(bytes, CHUNK)).toMatchObject({ chunks, size });
  });

  it.each([-1, 0, 15, STRIDE + 1, STRIDE + 16])('cannot be %i bytes', (bytes) => {
    expect(() => payloadOf(bytes, CHUNK)).toThrow('the envelope is truncated: its end is missing');
  });
});
