import type { DigestHashName } from '../../../src/transit/key-types/prehash/digest-hash.ts';

/** Longest salts for 2048 bits, from the sizes that Go's crypto/rsa computes. */
export const LONGEST_SALT: Readonly<Record<DigestHashName, number>> = {
  sha1: 234,
  'sha2-224': 226,
  'sha2-256': 222,
  'sha2-384': 206,
  'sha2-512': 190,
  'sha3-224': 226,
  'sha3-256': 222,
  'sha3-384': 206,
  'sha3-512': 190,
};
