import { createECDH, ECDH } from 'node:crypto';
import { attempt, failingAs, invalid, ownWords } from '../../../ground/errors.ts';
import { POINT_BYTES, UNCOMPRESSED } from './sound-point.ts';

/** P-256 (FIPS 186-5) for recipients of the age format: points, scalars, and Diffie-Hellman. */

const CURVE = 'prime256v1';
/** Order of the group: scalars are from 1 to one less. */
const ORDER = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');

const noPoint = (cause?: unknown) =>
  invalid(ownWords('the recipient is not a valid P-256 public key'), cause === undefined ? {} : { cause });

/** Whether 32 bytes are a valid private key, which one in 2^32 numbers is not. */
export const isScalar = (bytes: Uint8Array): boolean =>
  bytes.length === ORDER.length && Buffer.compare(bytes, ORDER) < 0 && bytes.some((byte) => byte !== 0);

/**
 * Converts a point to the other form.
 * @throws `invalid` if it is not on the curve
 */
export const convertedPoint = (point: Uint8Array, form: 'compressed' | 'uncompressed'): Buffer =>
  failingAs(noPoint, () => {
    const other: string | Buffer = ECDH.convertKey(Buffer.from(point), CURVE, undefined, undefined, form);
    return Buffer.from(other as unknown as Uint8Array);
  });

/**
 * Returns a point in its uncompressed form. The length of the shorter forms was checked, so one of 65 bytes is
 * uncompressed.
 * @throws `invalid` if it is not on the curve
 */
export function requirePoint(point: Uint8Array): Buffer {
  if (point[0] !== UNCOMPRESSED) throw noPoint();
  convertedPoint(point, 'compressed');
  return Buffer.from(point);
}

/** Creates a key pair for one message, and agrees on a secret with a point; the caller overwrites the secret. */
export function agreed(point: Buffer): { readonly secret: Buffer; readonly share: Buffer } {
  const ephemeral = createECDH(CURVE);
  const share = ephemeral.generateKeys();
  return { secret: ephemeral.computeSecret(point), share };
}

/** Computes the point of a scalar, uncompressed. */
export function pointOf(scalar: Uint8Array): Buffer {
  const own = createECDH(CURVE);
  own.setPrivateKey(scalar);
  return own.getPublicKey();
}

/**
 * ECDH (NIST SP 800-56A, 5.7.1.2); also returns the caller's own point.
 * @returns undefined if the share is not a point on the curve
 */
export function agreedWith(
  scalar: Uint8Array,
  share: Uint8Array,
): { readonly secret: Buffer; readonly point: Buffer } | undefined {
  // OpenSSL also accepts a hybrid form of this length, which is not allowed here.
  if (share.length !== POINT_BYTES || share[0] !== UNCOMPRESSED) return undefined;
  const own = createECDH(CURVE);
  own.setPrivateKey(scalar);
  return attempt(() => ({ secret: own.computeSecret(share), point: own.getPublicKey() }));
}
