import {
  constants,
  createHash,
  type KeyObject,
  privateEncrypt,
  publicDecrypt,
  timingSafeEqual,
} from 'node:crypto';
import { attempt, invalid, ownWords } from '../../../ground/errors.ts';
import type { Random } from '../../../ground/random.ts';
import { DIGEST_HASHES, type DigestHash, type DigestHashName, mgf1 } from './digest-hash.ts';

/**
 * Salt length. `auto`: the longest that fits when signing, any when verifying. `hash`: as long as the digest. Otherwise
 * exact bytes.
 */
export type SaltLength = 'auto' | 'hash' | number;

const { RSA_NO_PADDING, RSA_PKCS1_PADDING } = constants;

/** Minimum overhead of PKCS#1 v1.5 padding, in bytes: two fixed bytes, eight padding bytes, one separator. */
const PKCS1_OVERHEAD_BYTES = 11;

function modulusBitsOf(key: KeyObject): number {
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits === undefined) throw new TypeError('an RSA key is needed');
  return bits;
}

/**
 * Whether a signature is as long as the modulus. OpenSSL would treat a shorter one as the same number.
 * @see RFC 8017, sections 8.1.2 and 8.2.2
 */
export const hasModulusLength = (key: KeyObject, signature: Uint8Array): boolean =>
  signature.length === Math.ceil(modulusBitsOf(key) / 8);

/** Performs the RSA public operation; undefined if the signature is not a number that this key could have produced. */
const recover = (key: KeyObject, padding: number, signature: Uint8Array): Buffer | undefined =>
  hasModulusLength(key, signature) ? attempt(() => publicDecrypt({ key, padding }, signature)) : undefined;

const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Data to pad: the DigestInfo of the hash, or the raw digest for `none`. */
const pkcs1Block = (hash: DigestHashName | 'none', digest: Uint8Array): Uint8Array =>
  hash === 'none' ? digest : Buffer.concat([DIGEST_HASHES[hash].digestInfoPrefix, digest]);

const hasDigestLength = (hash: DigestHashName | 'none', digest: Uint8Array): boolean =>
  hash === 'none' || digest.length === DIGEST_HASHES[hash].digestBytes;

/**
 * Signs a caller's digest with RSASSA-PKCS1-v1_5 (RFC 8017, 8.2.1). With `none`, any bytes that fit are padded without
 * naming a hash.
 * @throws `invalid` if the digest does not have the length of the hash, or is too long for the key
 * @see docs/decisions/0021
 */
export function signPkcs1Digest(key: KeyObject, hash: DigestHashName | 'none', digest: Uint8Array): Buffer {
  if (!hasDigestLength(hash, digest))
    throw wrongDigestLength(ownWords('crypto/rsa: input must be hashed message'), hash);
  const block = pkcs1Block(hash, digest);
  if (block.length > Math.ceil(modulusBitsOf(key) / 8) - PKCS1_OVERHEAD_BYTES) {
    throw invalid(ownWords('crypto/rsa: message too long for RSA key size'), {
      field: 'input',
      hint: `use at least ${PKCS1_OVERHEAD_BYTES} bytes less than the key size`,
    });
  }
  return privateEncrypt({ key, padding: RSA_PKCS1_PADDING }, block);
}

/** Verifies, the counterpart of {@link signPkcs1Digest}; a digest of the wrong length is simply not valid. */
export function verifyPkcs1Digest(
  key: KeyObject,
  hash: DigestHashName | 'none',
  digest: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (!hasDigestLength(hash, digest)) return false;
  const block = recover(key, RSA_PKCS1_PADDING, signature);
  return block !== undefined && equal(block, pkcs1Block(hash, digest));
}

/**
 * Returns the exact salt length in bytes; undefined for `auto`.
 * @throws `invalid` if it does not fit
 */
export function exactSaltBytes(
  key: KeyObject,
  hash: DigestHashName,
  saltLength: SaltLength,
): number | undefined {
  if (saltLength === 'auto') return undefined;
  const bytes = saltLength === 'hash' ? DIGEST_HASHES[hash].digestBytes : saltLength;
  const most = maximumSaltBytes(modulusBitsOf(key), DIGEST_HASHES[hash]);
  if (bytes > most) {
    throw invalid(`requested salt length ${bytes} is invalid`, {
      field: 'salt_length',
      hint: `this key and hash allow at most ${most} bytes`,
    });
  }
  return bytes;
}

interface PssSigning {
  readonly hash: DigestHashName;
  readonly digest: Uint8Array;
  readonly saltLength: SaltLength;
  readonly random: Random;
}

/**
 * Signs a caller's digest with RSASSA-PSS (RFC 8017, 8.1.1), MGF1 with the same hash.
 * @throws `invalid` if the digest does not have the length of the hash, or the salt does not fit
 */
export function signPssDigest(key: KeyObject, { hash, digest, saltLength, random }: PssSigning): Buffer {
  const digestHash = DIGEST_HASHES[hash];
  const modulusBits = modulusBitsOf(key);
  const saltBytes =
    exactSaltBytes(key, hash, saltLength) ?? Math.max(0, maximumSaltBytes(modulusBits, digestHash));
  if (digest.length !== digestHash.digestBytes) {
    throw wrongDigestLength(ownWords('crypto/rsa: input must be hashed with given hash'), hash);
  }
  const encoded = encodePss(digestHash, digest, random.bytes(saltBytes), modulusBits);
  const block = Buffer.alloc(Math.ceil(modulusBits / 8));
  block.set(encoded, block.length - encoded.length);
  return privateEncrypt({ key, padding: RSA_NO_PADDING }, block);
}

interface PssVerification {
  readonly hash: DigestHashName;
  readonly digest: Uint8Array;
  readonly signature: Uint8Array;
  readonly saltLength: SaltLength;
}

/**
 * Verifies, the counterpart of {@link signPssDigest}; a digest of the wrong length is simply not valid.
 * @throws `invalid` if the requested salt cannot fit the key
 */
export function verifyPssDigest(
  key: KeyObject,
  { hash, digest, signature, saltLength }: PssVerification,
): boolean {
  const saltBytes = exactSaltBytes(key, hash, saltLength);
  if (digest.length !== DIGEST_HASHES[hash].digestBytes) return false;
  const block = recover(key, RSA_NO_PADDING, signature);
  if (block === undefined) return false;
  const modulusBits = modulusBitsOf(key);
  const leading = block.length - Math.ceil((modulusBits - 1) / 8);
  if (block.subarray(0, leading).some((byte) => byte !== 0)) return false;
  return pssMatches(DIGEST_HASHES[hash], {
    digest,
    encoded: block.subarray(leading),
    modulusBits,
    saltBytes,
  });
}

const wrongDigestLength = (message: string, hash: string) =>
  invalid(message, {
    field: 'input',
    hint: `use the binary ${hash} digest, or add --base64 if it is in base64`,
  });

const TRAILER = 0xbc;
const SALT_MARKER = 0x01;
const DIGEST_PREFIX = Buffer.alloc(8);

/** Returns the length of an encoded message, in bytes. */
const encodedBytes = (modulusBits: number): number => Math.ceil((modulusBits - 1) / 8);

/**
 * Returns the longest salt that fits, in bytes: the modulus, less the digest and two fixed bytes. Negative if even an
 * empty salt does not fit.
 */
const maximumSaltBytes = (modulusBits: number, hash: DigestHash): number =>
  encodedBytes(modulusBits) - hash.digestBytes - 2;

/** Clears the bits by which the encoded message would exceed the modulus. */
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
 * EMSA-PSS-ENCODE (RFC 8017, 9.1.1) of an existing digest, with MGF1 over the same hash.
 * @returns the encoded message, `ceil((modulusBits - 1) / 8)` bytes
 */
function encodePss(hash: DigestHash, digest: Uint8Array, salt: Uint8Array, modulusBits: number): Buffer {
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

interface PssEncoding {
  readonly digest: Uint8Array;
  readonly encoded: Buffer;
  readonly modulusBits: number;
  readonly saltBytes: number | undefined;
}

/**
 * EMSA-PSS-VERIFY (RFC 8017, 9.1.2) of an existing digest.
 * @param saltBytes the only accepted length; undefined takes the length from the padding
 */
function pssMatches(hash: DigestHash, { digest, encoded, modulusBits, saltBytes }: PssEncoding): boolean {
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
