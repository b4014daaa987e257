import { createECDH, type KeyObject } from 'node:crypto';
import type { ECDSA } from '@noble/curves/abstract/weierstrass.js';
import type { CHash } from '@noble/curves/utils.js';
import { wipe, wiping } from '../../../ground/bytes.ts';
import { madeOnce } from '../../../ground/objects.ts';
import { curveNamed, type EcdsaCurve } from '../curves.ts';

/**
 * Encodings by their names in `node:crypto`: DER of two integers, or both padded to the length of the order and
 * concatenated.
 */
export type EcdsaEncoding = 'der' | 'ieee-p1363';

/**
 * Finds the curve of a key.
 * @throws `TypeError` for a curve without a key type
 */
function curveOf(key: KeyObject): EcdsaCurve {
  const name = key.asymmetricKeyDetails?.namedCurve;
  const curve = curveNamed(name);
  if (curve === undefined) throw new TypeError(`unsupported curve ${name}`);
  return curve;
}

const signers = new Map<EcdsaCurve, Promise<ECDSA>>();

/**
 * Returns the signer of a curve: the library's ECDSA with its own arithmetic, except for the multiplication of the base
 * point.
 */
const signerOn = (curve: EcdsaCurve): Promise<ECDSA> => madeOnce(signers, curve, () => makeSigner(curve));

/**
 * Creates a signer. Multiplying the base point by the nonce takes nearly all the time of a signature, and its timing
 * could reveal the nonce. OpenSSL does it in constant time, by computing the public key of an ECDH key.
 */
async function makeSigner({ noble, opensslName, coordinateBytes }: EcdsaCurve): Promise<ECDSA> {
  // The library's type lacks the hash, which derives the nonces.
  const { Point, hash } = (await noble()) as ECDSA & { readonly hash: CHash };
  const { ecdsa } = await import('../noble-curves.ts');
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

/** Only the leftmost bits count (FIPS 186-5, 6.4.1); truncating early bounds the work for absurd inputs. */
const leftmost = (digest: Uint8Array, orderBytes: number): Uint8Array => digest.subarray(0, orderBytes);

/**
 * Signs a caller's digest of any length with ECDSA. One longer than the order is truncated to its leftmost bits, a
 * shorter one is used unchanged. The nonce is hedged (RFC 6979 with added randomness), so signatures of equal
 * digests differ, as they do for messages.
 * @see docs/decisions/0021
 */
export async function signEcdsaDigest(
  privateKey: KeyObject,
  digest: Uint8Array,
  encoding: EcdsaEncoding,
): Promise<Buffer> {
  const signer = await signerOn(curveOf(privateKey));
  const orderBytes = signer.Point.Fn.BYTES;
  const options = { prehash: false, lowS: false, extraEntropy: true, format: formatOf(encoding) } as const;
  return wiping(Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url'), (scalar) =>
    Buffer.from(signer.sign(leftmost(digest, orderBytes), scalar, options)),
  );
}

/**
 * Verifies, the counterpart of {@link signEcdsaDigest}; both halves of the range of `s` are accepted, as in Vault.
 * @param signature both numbers, concatenated
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
