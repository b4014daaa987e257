import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  keyVersionOf,
  parseWrappedKeys,
  printWrappedKey,
  type WrappedKey,
  wrappedKeyBytesFor,
} from '../../../src/transit/envelope/envelope.ts';
import { thrownBy } from '../../reference/thrown.ts';

const SIZE = 128;
const empty = Buffer.alloc(SIZE);
const key = (generation: number): WrappedKey => ({ generation, ciphertext: `service:v${generation}:abc=` });
const printed = (generation: number): Buffer => printWrappedKey(key(generation), SIZE);
const torn = (generation: number): Buffer =>
  Buffer.concat([printed(generation).subarray(0, 20), Buffer.alloc(SIZE - 20)]);

/** A half with a right checksum, and something in the room that a later ciphertext may need. */
function behind(text: string): Buffer {
  const half = printed(1);
  half.write(text, SIZE - 33);
  createHash('sha256')
    .update(half.subarray(0, -32))
    .digest()
    .copy(half, SIZE - 32);
  return half;
}

describe('the wrapped keys of a header', () => {
  it.each([
    ['a new file', [printed(1), empty], 1],
    ['a file rewrapped once', [empty, printed(2)], 2],
    ['a rewrap interrupted after its first step', [printed(1), printed(2)], 2],
    ['the same, the other way round', [printed(3), printed(2)], 3],
  ])('of %s give the newest wrapped key', (_, halves, generation) => {
    expect(parseWrappedKeys(Buffer.concat(halves))).toEqual({ current: key(generation), whole: true });
  });

  it.each([
    ['the spare half was being written', [printed(1), torn(2)], 1],
    ['the old half was being erased', [torn(1), printed(2)], 2],
    ['generations that are no neighbours', [printed(1), printed(4)], 4],
  ])('are known not to be whole: %s', (_, halves, generation) => {
    expect(parseWrappedKeys(Buffer.concat(halves))).toEqual({ current: key(generation), whole: false });
  });

  it.each([
    ['both empty', [empty, empty]],
    ['both torn', [torn(1), torn(2)]],
    ['halves that changed places', [empty, printed(1)]],
    ['a ciphertext with a blank', [printWrappedKey({ generation: 1, ciphertext: 'a b' }, SIZE), empty]],
    ['no ciphertext', [printWrappedKey({ generation: 1, ciphertext: '' }, SIZE), empty]],
    ['the generation 0', [printWrappedKey({ generation: 0, ciphertext: 'a' }, SIZE), empty]],
    ['something behind the ciphertext', [behind('x'), empty]],
  ])('are refused: %s', (_, halves) => {
    expect(thrownBy(() => parseWrappedKeys(Buffer.concat(halves)))).toMatchObject({
      kind: 'inauthentic',
      message: 'the envelope is damaged: its header has no valid wrapped data key',
    });
  });

  it('leave room for 32 bytes more, and refuse what is longer', () => {
    const ciphertext = `service:v1:${'x'.repeat(80)}`;
    const size = wrappedKeyBytesFor(ciphertext);
    expect(size % 64).toBe(0);
    expect(
      printWrappedKey({ generation: 1, ciphertext: `${ciphertext}${'x'.repeat(32)}` }, size),
    ).toHaveLength(size);
    expect(
      thrownBy(() => printWrappedKey({ generation: 1, ciphertext: 'x'.repeat(size) }, size)),
    ).toMatchObject({
      kind: 'unsupported',
      message: `the wrapped data key, of ${size} bytes, does not fit into the header of the file`,
    });
    expect(thrownBy(() => printWrappedKey({ generation: 1, ciphertext: 'x' }, 8256))).toMatchObject({
      kind: 'unsupported',
    });
  });

  it('fill a half to its last byte, and reach no further', () => {
    const full = 'x'.repeat(SIZE - 38);
    const half = printWrappedKey({ generation: 1, ciphertext: full }, SIZE);
    expect(parseWrappedKeys(Buffer.concat([half, empty])).current.ciphertext).toBe(full);
    expect(thrownBy(() => printWrappedKey({ generation: 1, ciphertext: `${full}x` }, SIZE))).toMatchObject({
      kind: 'unsupported',
      message: `the wrapped data key, of ${SIZE - 37} bytes, does not fit into the header of the file`,
    });
    expect(printWrappedKey({ generation: 1, ciphertext: 'x' }, 8192)).toHaveLength(8192);
    expect(thrownBy(() => printWrappedKey({ generation: 1, ciphertext: 'x' }, 8193))).toMatchObject({
      kind: 'unsupported',
    });
    // A length that reaches into the checksum, which then cannot tell that half from another.
    const beyond = Buffer.from(half);
    beyond.writeUInt16BE(full.length + 1, 4);
    const checksum = createHash('sha256').update(beyond.subarray(0, -32)).digest();
    checksum.copy(beyond, SIZE - 32);
    expect(thrownBy(() => parseWrappedKeys(Buffer.concat([beyond, empty])))).toMatchObject({
      kind: 'inauthentic',
    });
  });

  it('end with the last generation that has a successor, in writing and in reading', () => {
    const last = printed(0xfffffffe);
    expect(parseWrappedKeys(Buffer.concat([empty, last])).current.generation).toBe(0xfffffffe);
    expect(thrownBy(() => printed(0xffffffff))).toMatchObject({
      kind: 'unsupported',
      message: 'the file was rewrapped as often as its header can count',
      hint: 'decrypt the file and encrypt it again',
    });
    const beyond = Buffer.from(printed(1));
    beyond.writeUInt32BE(0xffffffff);
    createHash('sha256')
      .update(beyond.subarray(0, -32))
      .digest()
      .copy(beyond, SIZE - 32);
    expect(thrownBy(() => parseWrappedKeys(Buffer.concat([beyond, empty])))).toMatchObject({
      kind: 'inauthentic',
      message: 'the envelope is damaged: its header has no valid wrapped data key',
    });
  });

  it.each([
    ['service:v1:abc', 1],
    ['vault:v12:abc', 12],
    ['service:v0:abc', undefined],
    ['gibberish', undefined],
  ])('know the version of the named key: %s', (wrapped, version) => {
    expect(keyVersionOf(wrapped)).toBe(version);
  });
});
