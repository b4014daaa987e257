/**
 * Hash functions of signatures over a caller's digest, which `node:crypto` does not offer.
 * @see docs/decisions/0021
 */

import { createHash } from 'node:crypto';

/** Hash function with its parameters for RSA paddings. */
export interface DigestHash {
  /** Name in `node:crypto`. */
  readonly nodeName: string;
  readonly digestBytes: number;
  /**
   * DER `DigestInfo` (RFC 8017, appendix A.2.4) up to the digest: the algorithm with NULL parameters and the header of
   * the octet string.
   */
  readonly digestInfoPrefix: Buffer;
}

/** DER of the object identifiers, without tag and length. */
const OID_SHA1 = '2b0e03021a';
const nistHashOid = (last: number): string => `60864801650304020${last.toString(16)}`;

function digestHash(nodeName: string, digestBytes: number, oidHex: string): DigestHash {
  const oid = Buffer.from(oidHex, 'hex');
  const algorithm = Buffer.concat([Buffer.from([0x06, oid.length]), oid, Buffer.from([0x05, 0x00])]);
  const sequenceBytes = 2 + algorithm.length + 2 + digestBytes;
  const digestInfoPrefix = Buffer.concat([
    Buffer.from([0x30, sequenceBytes, 0x30, algorithm.length]),
    algorithm,
    Buffer.from([0x04, digestBytes]),
  ]);
  return { nodeName, digestBytes, digestInfoPrefix };
}

/**
 * Hash functions by their transit API names. Object identifiers: RFC 8017, appendix B.1, and NIST's register
 * (2.16.840.1.101.3.4.2.1 to .10).
 */
export const DIGEST_HASHES = {
  sha1: digestHash('sha1', 20, OID_SHA1),
  'sha2-224': digestHash('sha224', 28, nistHashOid(4)),
  'sha2-256': digestHash('sha256', 32, nistHashOid(1)),
  'sha2-384': digestHash('sha384', 48, nistHashOid(2)),
  'sha2-512': digestHash('sha512', 64, nistHashOid(3)),
  'sha3-224': digestHash('sha3-224', 28, nistHashOid(7)),
  'sha3-256': digestHash('sha3-256', 32, nistHashOid(8)),
  'sha3-384': digestHash('sha3-384', 48, nistHashOid(9)),
  'sha3-512': digestHash('sha3-512', 64, nistHashOid(10)),
} as const satisfies Record<string, DigestHash>;

export type DigestHashName = keyof typeof DIGEST_HASHES;

/** Mask generation function MGF1 of RFC 8017, appendix B.2.1. */
export function mgf1(hash: DigestHash, seed: Uint8Array, maskBytes: number): Buffer {
  const blocks: Buffer[] = [];
  const counter = Buffer.alloc(4);
  for (let made = 0; made < maskBytes; made += hash.digestBytes) {
    counter.writeUInt32BE(blocks.length);
    blocks.push(createHash(hash.nodeName).update(seed).update(counter).digest());
  }
  return Buffer.concat(blocks).subarray(0, maskBytes);
}
