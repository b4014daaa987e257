import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type KeySlot,
  keyVersionOf,
  parseSlots,
  printSlot,
  slotBytesFor,
} from '../../../src/transit/envelope/key-slots.ts';
import { thrownBy } from '../../reference/thrown.ts';

const SIZE = 128;
const empty = Buffer.alloc(SIZE);
const slot = (generation: number): KeySlot => ({ generation, wrapped: `service:v${generation}:abc=` });
const printed = (generation: number): Buffer => printSlot(slot(generation), SIZE);
const torn = (generation: number): Buffer =>
  Buffer.concat([printed(generation).subarray(0, 20), Buffer.alloc(SIZE - 20)]);

describe('the key slots', () => {
  it.each([
    ['a new file', [printed(1), empty], 1],
    ['a file rewrapped once', [empty, printed(2)], 2],
    ['a rewrap interrupted after its first step', [printed(1), printed(2)], 2],
    ['the same, the other way round', [printed(3), printed(2)], 3],
  ])('of %s give the newest wrapped key', (_, slots, generation) => {
    expect(parseSlots(Buffer.concat(slots))).toEqual({ current: slot(generation), whole: true });
  });

  it.each([
    ['the spare slot was being written', [printed(1), torn(2)], 1],
    ['the old slot was being erased', [torn(1), printed(2)], 2],
    ['generations that are no neighbours', [printed(1), printed(4)], 4],
  ])('are known not to be whole: %s', (_, slots, generation) => {
    expect(parseSlots(Buffer.concat(slots))).toEqual({ current: slot(generation), whole: false });
  });

  it.each([
    ['both empty', [empty, empty]],
    ['both torn', [torn(1), torn(2)]],
    ['slots that changed places', [empty, printed(1)]],
  ])('are refused: %s', (_, slots) => {
    expect(thrownBy(() => parseSlots(Buffer.concat(slots)))).toMatchObject({
      kind: 'corrupt',
      message: 'the envelope is damaged: its header holds no wrapped data key',
    });
  });

  it('leave room for 32 bytes more, and refuse what is longer', () => {
    const wrapped = `service:v1:${'x'.repeat(80)}`;
    const size = slotBytesFor(wrapped);
    expect(size % 64).toBe(0);
    expect(printSlot({ generation: 1, wrapped: `${wrapped}${'x'.repeat(32)}` }, size)).toHaveLength(size);
    expect(thrownBy(() => printSlot({ generation: 1, wrapped: 'x'.repeat(size) }, size))).toMatchObject({
      kind: 'unsupported',
      message: `a wrapped data key of ${size} bytes does not fit into the header`,
    });
    expect(thrownBy(() => printSlot({ generation: 1, wrapped: 'x' }, 8256))).toMatchObject({
      kind: 'unsupported',
    });
  });

  it('end with the last generation that has a successor, in writing and in reading', () => {
    const last = printed(0xfffffffe);
    expect(parseSlots(Buffer.concat([empty, last])).current.generation).toBe(0xfffffffe);
    expect(thrownBy(() => printed(0xffffffff))).toMatchObject({
      kind: 'unsupported',
      message: 'the data key was wrapped as often as the header can count',
      hint: 'decrypt the envelope and encrypt it again',
    });
    const beyond = Buffer.from(printed(1));
    beyond.writeUInt32BE(0xffffffff);
    createHash('sha256')
      .update(beyond.subarray(0, -32))
      .digest()
      .copy(beyond, SIZE - 32);
    expect(thrownBy(() => parseSlots(Buffer.concat([beyond, empty])))).toMatchObject({
      kind: 'corrupt',
      message: 'the envelope is damaged: its header holds no wrapped data key',
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
