import { createECDH, type KeyObject } from 'node:crypto';
import type { ECDSA } from '@noble/curves/abstract/weierstrass.js';
import type { CHash } from '@noble/curves/utils.js';
import { wipe } from '../../../ground/bytes.ts';
import { curveNamed, type EcdsaCurve } from '../curves.ts';

/** As `node:crypto` names them: DER of two integers, or both padded to the size of the order and joined. */
export type EcdsaEncoding = 'der' | 'ieee-p1363';

/** @throws `TypeError` for a key on a curve that no key type has. */
function curveOf(key: KeyObject): EcdsaCurve {
  const name = key.asymmetricKeyDetails?.namedCurve;
  const curve = curveNamed(name);
  if (curve === undefined) throw new TypeError(`there is no key type for the curve ${name}`);
  return curve;
}

const signers = new Map<EcdsaCurve, Promise<ECDSA>>();

/** What signs on a curve: the library's ECDSA over its own arithmetic, but for the multiplication of the curve's base point. */
function signerOn(curve: EcdsaCurve): Promise<ECDSA> {
  const known = signers.get(curve);
  if (known !== undefined) return known;
  const made = makeSigner(curve);
  signers.set(curve, made);
  return made;
}

/**
 * The base point times the nonce is all of the time of a signature, and what a clock could tell the nonce from. As the public key of an
 * ECDH key it comes from OpenSSL, which does it in constant time.
 */
async function makeSigner({ noble, opensslName, coordinateBytes }: EcdsaCurve): Promise<ECDSA> {
  // Its type does not tell of the hash, by which nonces are derived.
  const { Point, hash } = (await noble()) as ECDSA & { readonly hash: CHash };
  const { ecdsa } = await import('@noble/curves/abstract/weierstrass.js');
  const coordinates = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);
  const base = {
    multiply(scalar: bigint) {
      const ecdh = createECDH(opensslName);
      const bytes = Point.Fn.toBytes(scalar);
      ecdh.setPrivateKey(bytes);
      wipe(bytes);
      const point = ecdh.getPublicKey();
      const [x, y] = [point.subarray(1, 1 + coordinateBytes), point.subarray(1 + coordinateBytes)];
      return Point.fromAffine({ x: coordinates(x), y: coordinates(y) });
    },
  };
  const native = class extends Point {};
  Object.defineProperty(native, 'BASE', { value: base });
  return ecdsa(native, hash);
}

const formatOf = (encoding: EcdsaEncoding) => (encoding === 'der' ? 'der' : 'compact');

/** Only the leftmost bits count (FIPS 186-5, 6.4.1); cutting early bounds the work on absurd inputs. */
const leftmost = (digest: Uint8Array, orderBytes: number): Uint8Array => digest.subarray(0, orderBytes);

/**
 * ECDSA over a digest of any length that the caller made: a longer one than the order is cut to its leftmost
 * bits, a shorter one is used as it is. The nonce is hedged (RFC 6979 with added randomness), so
 * signatures of equal digests differ, as they do for messages.
 * @see docs/decisions/0021
 */
export async function signEcdsaDigest(
  privateKey: KeyObject,
  digest: Uint8Array,
  encoding: EcdsaEncoding,
): Promise<Buffer> {
  const signer = await signerOn(curveOf(privateKey));
  const orderBytes = signer.Point.Fn.BYTES;
  const scalar = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  try {
    const options = { prehash: false, lowS: false, extraEntropy: true, format: formatOf(encoding) } as const;
    return Buffer.from(signer.sign(leftmost(digest, orderBytes), scalar, options));
  } finally {
    wipe(scalar);
  }
}

/**
 * The counterpart of {@link signEcdsaDigest}; both halves of the range of `s` are accepted, as peers do.
 * @param signature both numbers, joined.
 */
export async function verifyEcdsaDigest(
  publicKey: KeyObject,
  digest: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const curve = await curveOf(publicKey).noble();
  const orderBytes = curve.Point.Fn.BYTES;
  if (signature.length !== 2 * orderBytes) return false;
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([
    Buffer.from([0x04]),
    Buffer.from(x, 'base64url'),
    Buffer.from(y, 'base64url'),
  ]);
  return curve.verify(signature, leftmost(digest, orderBytes), point, {
    prehash: false,
    lowS: false,
    format: formatOf('ieee-p1363'),
  });
}
