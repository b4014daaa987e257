import { createECDH, ECDH } from 'node:crypto';
import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';

/** P-256 (FIPS 186-5) as recipients of age have it: points, scalars, and Diffie-Hellman with them. */

const CURVE = 'prime256v1';
export const COMPRESSED_BYTES = 33;
export const POINT_BYTES = 65;
/** What the uncompressed form begins with (SEC 1, 2.3.3). */
const UNCOMPRESSED = 4;
/** How many points there are: scalars are from 1 to one less. */
const ORDER = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');

const noPoint = (cause?: unknown) =>
  invalid(ownWords('the recipient is not a valid P-256 public key'), cause === undefined ? {} : { cause });

/** Whether 32 bytes are a private key: one number in 2^32 is none. */
export const isScalar = (bytes: Uint8Array): boolean =>
  bytes.length === ORDER.length && Buffer.compare(bytes, ORDER) < 0 && bytes.some((byte) => byte !== 0);

/** @returns the same point in the other form. @throws `invalid` when it is none of the curve. */
export function convertedPoint(point: Uint8Array, form: 'compressed' | 'uncompressed'): Buffer {
  try {
    const other: string | Buffer = ECDH.convertKey(Buffer.from(point), CURVE, undefined, undefined, form);
    return Buffer.from(other as unknown as Uint8Array);
  } catch (error) {
    throw noPoint(error);
  }
}

/** The shorter forms of a point are as long as they say, so one of 65 bytes is uncompressed. @throws `invalid` when it is no point. */
export function requirePoint(point: Uint8Array): Buffer {
  if (point[0] !== UNCOMPRESSED) throw noPoint();
  convertedPoint(point, 'compressed');
  return Buffer.from(point);
}

/** A key pair for one message, and the secret that it has in common with a point; the caller overwrites that. */
export function agreed(point: Buffer): { readonly secret: Buffer; readonly share: Buffer } {
  const ephemeral = createECDH(CURVE);
  const share = ephemeral.generateKeys();
  return { secret: ephemeral.computeSecret(point), share };
}

/** The point of a scalar, uncompressed. */
export function pointOf(scalar: Uint8Array): Buffer {
  const own = createECDH(CURVE);
  own.setPrivateKey(scalar);
  return own.getPublicKey();
}

/** ECDH (NIST SP 800-56A, 5.7.1.2), with the caller's own point beside it. @returns undefined when the share is no point of the curve. */
export function agreedWith(
  scalar: Uint8Array,
  share: Uint8Array,
): { readonly secret: Buffer; readonly point: Buffer } | undefined {
  // OpenSSL also takes a hybrid form of this length, which nobody may send.
  if (share.length !== POINT_BYTES || share[0] !== UNCOMPRESSED) return undefined;
  const own = createECDH(CURVE);
  own.setPrivateKey(scalar);
  try {
    return { secret: own.computeSecret(share), point: own.getPublicKey() };
  } catch {
    return undefined;
  }
}
