import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { wipe, wiping } from '../ground/bytes.ts';

const HASH = 'sha256';
const HASH_BYTES = 32;
/** RFC 5869, 2.2: an absent salt is as many zeros as the hash has bytes. */
const NO_SALT = createSecretKey(Buffer.alloc(HASH_BYTES));

/** 32-bit big-endian numbers of the counter mode: the counter, which starts at 0, and the length of 256 bits. */
const FIRST_ROUND = Buffer.from('00000000', 'hex');
const BITS_WANTED = Buffer.from('00000100', 'hex');

/**
 * Derives a key by NIST SP 800-108 in counter mode as Vault and OpenBao use it: HMAC-SHA256, one round, no label and no
 * separator.
 * @returns 32 bytes
 */
export function counterMode(inputKey: Uint8Array, context: Uint8Array): Buffer {
  return createHmac(HASH, inputKey).update(FIRST_ROUND).update(context).update(BITS_WANTED).digest();
}

/** HKDF-Extract with SHA-256 (RFC 5869, 2.2) without salt. Its result serves every context of one key. */
export function hkdfExtract(inputKey: Uint8Array): KeyObject {
  return wiping(createHmac(HASH, NO_SALT).update(inputKey).digest(), createSecretKey);
}

/**
 * HKDF-Expand (RFC 5869, 2.3). `node:crypto` has HKDF, but limits `info` to 1024 bytes, and contexts may be longer.
 * @param bytes at most 64
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
