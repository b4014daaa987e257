import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { asCofferError } from '../../../src/ground/errors.ts';
import type { Chance } from '../../chance.ts';
import { isLong, rounds } from '../../long.ts';
import { sampled } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { attempt, encrypted, MemoryKeys } from './in-memory.ts';

const CHUNK = 65_536;
const STRIDE = CHUNK + 16;
const keys = new MemoryKeys();
const plaintext = randomBytes(3 * CHUNK - 1000);
const envelope = await encrypted(keys, plaintext, { host: 'db-1' });
const headerBytes = envelope.length - plaintext.length - 3 * 16;
const borders = [headerBytes, headerBytes + STRIDE, headerBytes + 2 * STRIDE, envelope.length];
const chunk = (index: number, from = envelope): Buffer => from.subarray(borders[index], borders[index + 1]);
const header = envelope.subarray(0, headerBytes);

/** Every place of the header, and 20 bytes on both sides of each border between chunks. */
const edges = [
  ...Array.from({ length: headerBytes }, (_, place) => place),
  ...borders.flatMap((border) => Array.from({ length: 40 }, (_, i) => border - 20 + i)),
].filter((place, index, all) => place < envelope.length && all.indexOf(place) === index);

/** Places at random in the chunks. */
const elsewhere = (chance: Chance): number[] =>
  Array.from({ length: rounds(300) }, () => headerBytes + chance.below(envelope.length - headerBytes));

/** Each bit of a byte in the long proof, one of them otherwise. */
const bitsBy = (chance: Chance): readonly number[] => (isLong ? [0, 1, 2, 3, 4, 5, 6, 7] : [chance.below(8)]);

/** Refused, and whatever had come out until then are chunks of the plaintext, whole and from its beginning. */
async function expectRefusal(
  changed: Uint8Array,
  kinds: readonly string[] = ['inauthentic', 'corrupt', 'denied'],
): Promise<string> {
  const { plaintext: released, error } = await attempt(keys, changed);
  const refusal = asCofferError(error);
  expect(kinds).toContain(refusal?.kind);
  expect(released.length % CHUNK).toBe(0);
  expect(released.equals(plaintext.subarray(0, released.length))).toBe(true);
  return refusal?.message ?? '';
}

function flipped(place: number, bit: number): Buffer {
  const changed = Buffer.from(envelope);
  changed.writeUInt8(changed.readUInt8(place) ^ (1 << bit), place);
  return changed;
}

describe('an envelope of three chunks', () => {
  it('is refused with any bit of the header flipped, and nothing comes out', async () => {
    const chance = seeded();
    for (let place = 0; place < headerBytes; place++) {
      for (const bit of bitsBy(chance)) {
        const { plaintext: released, error } = await attempt(keys, flipped(place, bit));
        expect(asCofferError(error), `bit ${bit} of byte ${place}`).toBeDefined();
        expect(released.length).toBe(0);
      }
    }
  });

  it('is refused with any bit around the borders of chunks flipped, and with random ones elsewhere', async () => {
    const inChunks = edges.filter((place) => place >= headerBytes);
    const chance = seeded();
    for (const place of inChunks) {
      for (const bit of bitsBy(chance)) await expectRefusal(flipped(place, bit), ['inauthentic']);
    }
    for (const place of elsewhere(chance))
      await expectRefusal(flipped(place, chance.below(8)), ['inauthentic']);
  });

  it('gives out everything before the damage', async () => {
    for (const index of [0, 1, 2]) {
      const { plaintext: released } = await attempt(keys, flipped(headerBytes + index * STRIDE + 5, 0));
      expect(released.length).toBe(index * CHUNK);
    }
  });

  it('names the chunk that was changed', async () => {
    const place = headerBytes + STRIDE + 5;
    expect(await expectRefusal(flipped(place, 0))).toBe(
      'the envelope is damaged: chunk 1 was changed or moved, or is from another file',
    );
  });

  it('is refused when it is cut off anywhere around the edges, and at random places elsewhere', async () => {
    const chance = seeded();
    for (const length of [...sampled(edges, chance), ...elsewhere(chance)]) {
      await expectRefusal(envelope.subarray(0, length), ['inauthentic', 'corrupt']);
    }
  });

  it.each([1, 2])('says that the end is missing when it is cut off after chunk %i', async (chunks) => {
    expect(await expectRefusal(envelope.subarray(0, borders[chunks]))).toBe(
      'the envelope is truncated: its end is missing',
    );
  });

  it('is refused when its beginning is missing', async () => {
    for (const place of edges.filter((place) => place > 0))
      await expectRefusal(envelope.subarray(place), ['corrupt']);
  });

  it('is refused with its chunks in any order or number but the right one', async () => {
    const orders: number[][] = [];
    const choices = [0, 1, 2];
    const extend = (order: number[]): void => {
      orders.push(order);
      if (order.length < 4) for (const next of choices) extend([...order, next]);
    };
    extend([]);
    const wrong = orders.filter((order) => order.join() !== '0,1,2');
    expect(wrong.length).toBe(120);
    for (const order of wrong) {
      await expectRefusal(Buffer.concat([header, ...order.map((index) => chunk(index))]), ['inauthentic']);
    }
  });

  it('is refused with anything appended', async () => {
    for (const length of [1, 15, 16, 17, CHUNK, STRIDE, STRIDE + 1, 2 * STRIDE]) {
      const changed = Buffer.concat([envelope, randomBytes(length)]);
      await expectRefusal(changed, ['inauthentic']);
    }
    const doubled = Buffer.concat([envelope, envelope]);
    await expectRefusal(doubled, ['inauthentic']);
  });

  it('is refused with a chunk, a payload or a header of another file under the same named key', async () => {
    const other = await encrypted(keys, plaintext, { host: 'db-1' });
    for (const index of [0, 1, 2]) {
      const chunks = [0, 1, 2].map((i) => chunk(i, i === index ? other : envelope));
      await expectRefusal(Buffer.concat([header, ...chunks]), ['inauthentic']);
    }
    await expectRefusal(Buffer.concat([other.subarray(0, headerBytes), envelope.subarray(headerBytes)]), [
      'inauthentic',
    ]);
  });

  it('is refused with the wrapped keys of another file', async () => {
    const other = await encrypted(keys, plaintext, { host: 'db-1' });
    const wrappedKeys = headerBytes - 2 * envelope.readUInt16BE(12);
    const changed = Buffer.concat([
      envelope.subarray(0, wrappedKeys),
      other.subarray(wrappedKeys, headerBytes),
      envelope.subarray(headerBytes),
    ]);
    expect(await expectRefusal(changed, ['denied'])).toBe(
      'the header of the envelope was changed, or its data key belongs to another file',
    );
  });

  it('says where the end was when a second file follows a short one', async () => {
    const short = await encrypted(keys, randomBytes(CHUNK));
    const { error } = await attempt(keys, Buffer.concat([short, short]));
    expect(error).toMatchObject({
      kind: 'inauthentic',
      message: 'the envelope is damaged: it has extra data after its end',
    });
  });

  it.each([0, 1])('has one form only: an empty last chunk after %i full ones is not it', async (full) => {
    // The empty chunk of an empty file is authentic, but only there.
    const empty = await encrypted(keys, Buffer.alloc(0));
    const { error } = await attempt(keys, Buffer.concat([empty, ...Array(full).fill(empty.subarray(-16))]));
    expect(error === undefined).toBe(full === 0);
  });
});
