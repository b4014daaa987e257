import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteQueue } from '../../src/ground/byte-queue.ts';

/** Around the length from which on a piece is kept as it came. */
const piece = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.nat({ max: 3000 }).map((length) => Uint8Array.from({ length }, (_, index) => index * 7)),
);

describe('a queue of bytes', () => {
  it('gives back what came in, in whichever pieces both are', () => {
    const step = fc.record({
      piece,
      count: fc.nat({ max: 4000 }),
      how: fc.constantFrom('take', 'pieces', 'drop'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const queue = new ByteQueue();
        let expected = Buffer.alloc(0);
        for (const { piece: bytes, count, how } of steps) {
          queue.add(Buffer.from(bytes));
          expected = Buffer.concat([expected, bytes]);
          const isThere = count <= expected.length;
          const next = isThere ? expected.subarray(0, count) : undefined;
          expect(queue.peek(count)).toEqual(next);
          if (how === 'take') expect(queue.take(count)).toEqual(next);
          const pieces = how === 'pieces' ? queue.takePieces(count) : undefined;
          if (how === 'pieces') expect(pieces && Buffer.concat(pieces)).toEqual(next);
          const dropped = Math.min(count, expected.length);
          if (how === 'drop') expect(queue.drop(count)).toBe(dropped);
          expected = expected.subarray(how === 'drop' ? dropped : isThere ? count : 0);
          expect(queue.length).toBe(expected.length);
        }
      }),
    );
  });

  it('hands on large pieces as they came', () => {
    const queue = new ByteQueue();
    const large = Buffer.alloc(5000, 1);
    queue.add(large);
    queue.add(Buffer.from('x'));
    expect(queue.take(3000)?.buffer).toBe(large.buffer);
    const [rest] = queue.takePieces(2001) ?? [];
    expect([rest?.buffer, rest?.length]).toEqual([large.buffer, 2000]);
  });

  it('changes nothing that was taken out when more comes in', () => {
    const queue = new ByteQueue();
    const taken: (Buffer | undefined)[] = [];
    for (let i = 0; i < 100; i++) {
      queue.add(Buffer.alloc(9, i));
      taken.push(queue.take(9));
    }
    expect(taken).toEqual(Array.from({ length: 100 }, (_, i) => Buffer.alloc(9, i)));
  });

  it('keeps single bytes together, which would be large as pieces of their own', () => {
    const queue = new ByteQueue();
    const count = 200_000;
    for (let i = 0; i < count; i++) queue.add(Buffer.from([i]));
    const pieces = queue.takePieces(count) ?? [];
    expect(pieces.length).toBeLessThan(30);
    expect(Buffer.concat(pieces).equals(Buffer.from(Array.from({ length: count }, (_, i) => i)))).toBe(true);
  });
});
