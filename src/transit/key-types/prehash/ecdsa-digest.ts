import type { KeyObject } from 'node:crypto';
import { wipe } from '../../../ground/bytes.ts';

/** As `node:crypto` names them: DER of two integers, or both padded to the size of the order and joined. */
export type EcdsaEncoding = 'der' | 'ieee-p1363';

/** OpenSSL's names of the curves. */
const NOBLE_CURVES = { prime256v1: 'p256', secp384r1: 'p384', secp521r1: 'p521' } as const;

const isKnownCurve = (name: string | undefined): name is keyof typeof NOBLE_CURVES =>
  name !== undefined && Object.hasOwn(NOBLE_CURVES, name);

/**
 * The curves' arithmetic. `node:crypto` can only sign what it hashes itself, so a digest that somebody else made needs
 * another implementation; it is loaded when the first such signature is asked for.
 */
async function curveOf(key: KeyObject) {
  const name = key.asymmetricKeyDetails?.namedCurve;
  if (!isKnownCurve(name)) throw new TypeError('a key on P-256, P-384 or P-521 is needed');
  return (await import('@noble/curves/nist.js'))[NOBLE_CURVES[name]];
}

const formatOf = (encoding: EcdsaEncoding) => (encoding === 'der' ? 'der' : 'compact');

/** Only the leftmost bits count (FIPS 186-5, 6.4.1); cutting early bounds the work on absurd inputs. */
const leftmost = (digest: Uint8Array, orderBytes: number): Uint8Array => digest.subarray(0, orderBytes);

/**
 * ECDSA over a digest of any length that the caller made: a longer one than the order is cut to its leftmost
 * bits, a shorter one is used as it is. The nonce is hedged (RFC 6979 with added randomness), so
 * signatures of equal digests differ, as they do for messages.
 */
export async function signEcdsaDigest(
  privateKey: KeyObject,
  digest: Uint8Array,
  encoding: EcdsaEncoding,
): Promise<Buffer> {
  const curve = await curveOf(privateKey);
  const orderBytes = curve.Point.Fn.BYTES;
  const scalar = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  try {
    const options = { prehash: false, lowS: false, extraEntropy: true, format: formatOf(encoding) } as const;
    return Buffer.from(curve.sign(leftmost(digest, orderBytes), scalar, options));
  } finally {
    wipe(scalar);
  }
}

/** The counterpart of {@link signEcdsaDigest}; both halves of the range of `s` are accepted, as peers do. */
export async function verifyEcdsaDigest(
  publicKey: KeyObject,
  digest: Uint8Array,
  signature: Uint8Array,
  encoding: EcdsaEncoding,
): Promise<boolean> {
  const curve = await curveOf(publicKey);
  const orderBytes = curve.Point.Fn.BYTES;
  if (encoding === 'ieee-p1363' && signature.length !== 2 * orderBytes) return false;
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([
    Buffer.from([0x04]),
    Buffer.from(x, 'base64url'),
    Buffer.from(y, 'base64url'),
  ]);
  return curve.verify(signature, leftmost(digest, orderBytes), point, {
    prehash: false,
    lowS: false,
    format: formatOf(encoding),
  });
}
