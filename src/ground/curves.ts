/** ECDSA curves. To add one, add a row here and one in `src/transit/key-types/curves.ts`. */
import type { KeyObject } from 'node:crypto';

export type CurveName = 'P-256' | 'P-384' | 'P-521' | 'secp256k1';

export interface Curve {
  /** Name in JSON Web Keys and messages (RFC 7518, 6.2.1.1; RFC 8812, 3.1); the key type is named after it. */
  readonly jwkName: CurveName;
  /** OpenSSL's name, e.g. `prime256v1`, which `node:crypto` uses. */
  readonly opensslName: string;
  readonly coordinateBytes: number;
  /** Object identifier as DER in hexadecimal (RFC 5480, 2.1.1.1; SEC 2, A.2). */
  readonly identifier: string;
  /** Hash of its signatures in certificates (RFC 5758, 3.2) and in SSH (RFC 5656, 6.2.1). */
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  /** Algorithm in JSON Web Signatures (RFC 7518, 3.4; RFC 8812, 3.2). */
  readonly jwsAlgorithm: string;
  /** Name in SSH (RFC 5656, 10.1); absent for a curve that SSH does not have. */
  readonly sshName?: string;
}

export const CURVES: readonly Curve[] = [
  {
    jwkName: 'P-256',
    opensslName: 'prime256v1',
    coordinateBytes: 32,
    identifier: '06082a8648ce3d030107',
    hash: 'sha256',
    jwsAlgorithm: 'ES256',
    sshName: 'nistp256',
  },
  {
    jwkName: 'P-384',
    opensslName: 'secp384r1',
    coordinateBytes: 48,
    identifier: '06052b81040022',
    hash: 'sha384',
    jwsAlgorithm: 'ES384',
    sshName: 'nistp384',
  },
  {
    jwkName: 'P-521',
    opensslName: 'secp521r1',
    coordinateBytes: 66,
    identifier: '06052b81040023',
    hash: 'sha512',
    jwsAlgorithm: 'ES512',
    sshName: 'nistp521',
  },
  {
    jwkName: 'secp256k1',
    opensslName: 'secp256k1',
    coordinateBytes: 32,
    identifier: '06052b8104000a',
    hash: 'sha256',
    jwsAlgorithm: 'ES256K',
  },
];

/** Returns the curve of a key; undefined for keys of other types and on unknown curves. */
export const curveOf = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Curve | undefined =>
  asymmetricKeyType === 'ec'
    ? CURVES.find(({ opensslName }) => opensslName === asymmetricKeyDetails?.namedCurve)
    : undefined;

/**
 * Algorithms of JSON Web Signatures by the curve's name in JSON Web Keys (RFC 7518, RFC 8037, RFC 8812): each curve has
 * one. With RSA, the signer chooses.
 */
export const JWS_ALGORITHMS: ReadonlyMap<string | undefined, string> = new Map([
  ...CURVES.map(({ jwkName, jwsAlgorithm }) => [jwkName, jwsAlgorithm] as const),
  ['Ed25519', 'EdDSA'],
]);
