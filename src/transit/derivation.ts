import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { wipe } from '../ground/bytes.ts';

const HASH = 'sha256';
const HASH_BYTES = 32;
/** RFC 5869, 2.2: an absent salt is as many zeros as the hash has bytes. */
const NO_SALT = createSecretKey(Buffer.alloc(HASH_BYTES));

/** 32-bit big-endian numbers of the counter mode: the round, which starts at 0, and the 256 bits asked for. */
const FIRST_ROUND = Buffer.from('00000000', 'hex');
const BITS_WANTED = Buffer.from('00000100', 'hex');

/**
 * NIST SP 800-108 in counter mode as the Vault family has it: HMAC-SHA256, one round, no label and no separator.
 * @returns 32 bytes.
 */
export function counterMode(inputKey: Uint8Array, context: Uint8Array): Buffer {
  return createHmac(HASH, inputKey).update(FIRST_ROUND).update(context).update(BITS_WANTED).digest();
}

/** The first half of HKDF-SHA256 (RFC 5869, 2.2) without salt. What it gives serves every context of one key. */
export function hkdfExtract(inputKey: Uint8Array): KeyObject {
  const pseudorandomKey = createHmac(HASH, NO_SALT).update(inputKey).digest();
  const key = createSecretKey(pseudorandomKey);
  wipe(pseudorandomKey);
  return key;
}

/**
 * The second half (RFC 5869, 2.3). `node:crypto` has HKDF, but takes no `info` of more than 1024 bytes,
 * and contexts may be longer.
 * @param bytes at most 64.
 * @see docs/decisions/0015
 */
export function hkdfExpand(pseudorandomKey: KeyObject, info: Uint8Array, bytes: number): Buffer {
  const first = createHmac(HASH, pseudorandomKey)
    .update(info)
    .update(Buffer.from([1]))
    .digest();
  if (bytes <= HASH_BYTES) return first.subarray(0, bytes);
  const second = createHmac(HASH, pseudorandomKey)
    .update(first)
    .update(info)
    .update(Buffer.from([2]))
    .digest();
  const both = Buffer.concat([first, second], bytes);
  wipe(first, second);
  return both;
}
