import { createHash } from 'node:crypto';
import { unsupported } from '../../ground/errors.ts';
import { MAX_SLOT_BYTES } from './header.ts';
import { damaged } from './refusals.ts';

/**
 * The two places of a header that take turns in holding the wrapped data key, so that a rewrap that is cut short leaves
 * the old one or the new one. A slot carries a checksum and not a MAC: whoever rewraps does not see the data key.
 * What it holds is itself authenticated, by the named key that opens it and by the header's MAC that only the right
 * data key verifies.
 */

export interface KeySlot {
  /** 1 when the file is written, one more with every rewrap; odd ones lie in the first slot, even ones in the second. */
  readonly generation: number;
  /** A ciphertext of transit. */
  readonly wrapped: string;
}

const LENGTH_AT = 4;
const WRAPPED_AT = 6;
const CHECKSUM_BYTES = 32;
const OVERHEAD_BYTES = WRAPPED_AT + CHECKSUM_BYTES;
/** A later key version has more digits, another dialect a longer prefix. */
const ROOM_TO_GROW_BYTES = 32;
const GRANULARITY_BYTES = 64;
/** The last one whose successor still fits into its 32 bits; only somebody who means harm writes a higher one. */
const LAST_GENERATION = 0xfffffffe;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** The slot size for a wrapped data key, with room for those that replace it. */
export const slotBytesFor = (wrapped: string): number =>
  Math.ceil((OVERHEAD_BYTES + wrapped.length + ROOM_TO_GROW_BYTES) / GRANULARITY_BYTES) * GRANULARITY_BYTES;

/** 0 for the first slot, 1 for the second. */
export const placeOf = (generation: number): 0 | 1 => (generation % 2 === 1 ? 0 : 1);

/** @throws `unsupported` when the wrapped data key does not fit, or the generation would be the last to be read. */
export function printSlot({ generation, wrapped }: KeySlot, slotBytes: number): Buffer {
  if (slotBytes > MAX_SLOT_BYTES || OVERHEAD_BYTES + wrapped.length > slotBytes) {
    throw unsupported(`a wrapped data key of ${wrapped.length} bytes does not fit into the header`, {
      hint: 'decrypt the envelope and encrypt it again',
    });
  }
  if (generation > LAST_GENERATION) {
    throw unsupported('the data key was wrapped as often as the header can count', {
      hint: 'decrypt the envelope and encrypt it again',
    });
  }
  const slot = Buffer.alloc(slotBytes);
  slot.writeUInt32BE(generation);
  slot.writeUInt16BE(wrapped.length, LENGTH_AT);
  slot.write(wrapped, WRAPPED_AT, 'latin1');
  checksumOf(slot).copy(slot, slotBytes - CHECKSUM_BYTES);
  return slot;
}

const checksumOf = (slot: Buffer): Buffer =>
  createHash('sha256')
    .update(slot.subarray(0, slot.length - CHECKSUM_BYTES))
    .digest();

/** What a slot holds, or undefined when it is empty or broken. */
function parseSlot(slot: Buffer, place: 0 | 1): KeySlot | undefined {
  const generation = slot.readUInt32BE(0);
  const end = WRAPPED_AT + slot.readUInt16BE(LENGTH_AT);
  if (generation === 0 || generation > LAST_GENERATION || placeOf(generation) !== place) return undefined;
  if (end > slot.length - CHECKSUM_BYTES) return undefined;
  if (!checksumOf(slot).equals(slot.subarray(slot.length - CHECKSUM_BYTES))) return undefined;
  const wrapped = slot.toString('latin1', WRAPPED_AT, end);
  const rest = slot.subarray(end, slot.length - CHECKSUM_BYTES);
  return PRINTABLE.test(wrapped) && isEmpty(rest) ? { generation, wrapped } : undefined;
}

const isEmpty = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0);

export interface KeySlots {
  readonly current: KeySlot;
  /** False when the other slot is neither empty nor a good predecessor: a rewrap was cut short by a loss of power. */
  readonly whole: boolean;
}

/**
 * Reads both slots.
 * @throws `corrupt` when neither holds a wrapped data key.
 */
export function parseSlots(bytes: Buffer): KeySlots {
  const half = bytes.length / 2;
  const [first, second] = [bytes.subarray(0, half), bytes.subarray(half)];
  const found = [parseSlot(first, 0), parseSlot(second, 1)].filter((slot) => slot !== undefined);
  const current = found.reduce<KeySlot | undefined>(
    (newest, slot) => (newest !== undefined && newest.generation > slot.generation ? newest : slot),
    undefined,
  );
  if (current === undefined) throw damaged('its header holds no wrapped data key');
  const predecessor = found.find((slot) => slot !== current);
  const spare = placeOf(current.generation) === 0 ? second : first;
  const whole =
    predecessor === undefined ? isEmpty(spare) : predecessor.generation === current.generation - 1;
  return { current, whole };
}

const KEY_VERSION = /^[a-z]+:v([1-9][0-9]*):/;

/** The version of the named key that wrapped a data key, or undefined for a ciphertext of an unknown form. */
export function keyVersionOf(wrapped: string): number | undefined {
  const digits = KEY_VERSION.exec(wrapped)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
