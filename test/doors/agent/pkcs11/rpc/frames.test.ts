import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FrameReader,
  MOST_BODY_BYTES,
  writeFrame,
} from '../../../../../src/doors/agent/pkcs11/rpc/frames.ts';

const head = (code: number, options: number, body: number): Buffer => {
  const bytes = Buffer.alloc(12);
  for (const [index, value] of [code, options, body].entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
};

describe('frames of the remote protocol', () => {
  it('are found however the stream is cut, and whatever options stand in front', () => {
    const frame = fc.record({
      code: fc.nat(),
      options: fc.uint8Array({ maxLength: 9 }),
      body: fc.uint8Array({ maxLength: 40 }),
    });
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 30 })),
        (frames, cuts) => {
          let stream = Buffer.concat(
            frames.flatMap(({ code, options, body }) => [
              head(code, options.length, body.length),
              options,
              body,
            ]),
          );
          const reader = new FrameReader();
          const found = [];
          for (const cut of [...cuts, stream.length]) {
            found.push(...reader.push(stream.subarray(0, cut)));
            stream = stream.subarray(cut);
          }
          expect(found).toEqual(frames.map(({ code, body }) => ({ code, body: Buffer.from(body) })));
        },
      ),
    );
  });

  it('are written without options', () => {
    expect(writeFrame(5, Buffer.from('abc'))).toEqual(Buffer.concat([head(5, 0, 3), Buffer.from('abc')]));
  });

  it('are read past when they are too large, and the next one is found', () => {
    const reader = new FrameReader();
    const piece = Buffer.alloc(64 * 1024);
    const large = MOST_BODY_BYTES + 1;
    expect([...reader.push(head(1, 3, large))]).toEqual([]);
    let left = large + 3;
    while (left > piece.length) {
      expect([...reader.push(piece)]).toEqual([]);
      left -= piece.length;
    }
    const next = writeFrame(2, Buffer.from('x'));
    expect([...reader.push(Buffer.concat([piece.subarray(0, left), next]))]).toEqual([
      { code: 1, body: undefined },
      { code: 2, body: Buffer.from('x') },
    ]);
  });

  it('take no memory for what a head only promises', () => {
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 200 }, () => new FrameReader());
    for (const reader of readers) expect([...reader.push(head(1, 0, MOST_BODY_BYTES))]).toEqual([]);
    for (const reader of readers) expect([...reader.push(Buffer.alloc(100))]).toEqual([]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20);
  });
});
