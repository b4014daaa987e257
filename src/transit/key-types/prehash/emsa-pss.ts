import { createHash, timingSafeEqual } from 'node:crypto';
import { type DigestHash, mgf1 } from './digest-hash.ts';

const TRAILER = 0xbc;
const SALT_MARKER = 0x01;
const DIGEST_PREFIX = Buffer.alloc(8);

/** Bytes of an encoded message for a modulus of so many bits. */
const encodedBytes = (modulusBits: number): number => Math.ceil((modulusBits - 1) / 8);

/** The longest salt that fits: the modulus, less the digest and two fixed bytes. Negative when not even none fits. */
export const maximumSaltBytes = (modulusBits: number, hash: DigestHash): number =>
  encodedBytes(modulusBits) - hash.digestBytes - 2;

/** Clears the bits by which the encoded message would be longer than the modulus allows. */
function clearUnusedBits(maskedBlock: Buffer, modulusBits: number): void {
  const unused = 8 * encodedBytes(modulusBits) - (modulusBits - 1);
  maskedBlock.writeUInt8(maskedBlock.readUInt8(0) & (0xff >> unused), 0);
}

const saltedDigest = (hash: DigestHash, digest: Uint8Array, salt: Uint8Array): Buffer =>
  createHash(hash.nodeName).update(DIGEST_PREFIX).update(digest).update(salt).digest();

function xorInto(target: Buffer, mask: Uint8Array): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] ?? 0) ^ (mask[i] ?? 0);
}

/**
 * EMSA-PSS-ENCODE (RFC 8017, 9.1.1) of a digest that is already made, with MGF1 over the same hash.
 * @returns the encoded message, `ceil((modulusBits - 1) / 8)` bytes.
 */
export function encodePss(
  hash: DigestHash,
  digest: Uint8Array,
  salt: Uint8Array,
  modulusBits: number,
): Buffer {
  const length = encodedBytes(modulusBits);
  const h = saltedDigest(hash, digest, salt);
  const block = Buffer.alloc(length - hash.digestBytes - 1);
  const saltStart = block.length - salt.length;
  block[saltStart - 1] = SALT_MARKER;
  block.set(salt, saltStart);
  xorInto(block, mgf1(hash, h, block.length));
  clearUnusedBits(block, modulusBits);
  return Buffer.concat([block, h, Buffer.from([TRAILER])]);
}

/**
 * EMSA-PSS-VERIFY (RFC 8017, 9.1.2) of a digest that is already made.
 * @param saltBytes the only length accepted; undefined takes the length from the padding.
 */
export function pssMatches(
  hash: DigestHash,
  digest: Uint8Array,
  encoded: Buffer,
  modulusBits: number,
  saltBytes: number | undefined,
): boolean {
  const length = encodedBytes(modulusBits);
  if (encoded.length !== length || encoded[length - 1] !== TRAILER) return false;
  const block = Buffer.from(encoded.subarray(0, length - hash.digestBytes - 1));
  const h = encoded.subarray(block.length, length - 1);
  const first = block.readUInt8(0);
  clearUnusedBits(block, modulusBits);
  if (block.readUInt8(0) !== first) return false;
  xorInto(block, mgf1(hash, h, block.length));
  clearUnusedBits(block, modulusBits);
  const marker = block.findIndex((byte) => byte !== 0);
  if (marker < 0 || block[marker] !== SALT_MARKER) return false;
  const salt = block.subarray(marker + 1);
  if (saltBytes !== undefined && salt.length !== saltBytes) return false;
  return timingSafeEqual(saltedDigest(hash, digest, salt), h);
}
