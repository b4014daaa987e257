import type { ECDSA } from '@noble/curves/abstract/weierstrass.js';

/** ECDSA curve, with everything that Coffer knows about it. To add a curve, add a row to the table below. */
export interface EcdsaCurve {
  /** Name in JSON Web Keys and messages, e.g. `P-256`; the key type is named after it. */
  readonly jwkName: string;
  /** OpenSSL's name, e.g. `prime256v1`. */
  readonly opensslName: string;
  readonly coordinateBytes: number;
  /** Type number in backups, the same in Vault and OpenBao; absent for a curve that they do not have. */
  readonly backupNumber?: number;
  /**
   * Hash of its signatures in certificates, of the same length as the curve, and their algorithm as DER (RFC 5758,
   * 3.2).
   */
  readonly certificates: { readonly hash: string; readonly algorithm: string };
  /**
   * Loads another implementation of the arithmetic. `node:crypto` can only sign data that it hashes itself, so signing
   * a caller's digest needs it; loaded for the first such signature.
   */
  noble(): Promise<ECDSA>;
}

const nist = () => import('@noble/curves/nist.js');

export const CURVES: readonly EcdsaCurve[] = [
  {
    jwkName: 'P-256',
    opensslName: 'prime256v1',
    coordinateBytes: 32,
    backupNumber: 1,
    certificates: { hash: 'sha256', algorithm: '300a06082a8648ce3d040302' },
    noble: async () => (await nist()).p256,
  },
  {
    jwkName: 'P-384',
    opensslName: 'secp384r1',
    coordinateBytes: 48,
    backupNumber: 6,
    certificates: { hash: 'sha384', algorithm: '300a06082a8648ce3d040303' },
    noble: async () => (await nist()).p384,
  },
  {
    jwkName: 'P-521',
    opensslName: 'secp521r1',
    coordinateBytes: 66,
    backupNumber: 7,
    certificates: { hash: 'sha512', algorithm: '300a06082a8648ce3d040304' },
    noble: async () => (await nist()).p521,
  },
  {
    jwkName: 'secp256k1',
    opensslName: 'secp256k1',
    coordinateBytes: 32,
    certificates: { hash: 'sha256', algorithm: '300a06082a8648ce3d040302' },
    noble: async () => (await import('@noble/curves/secp256k1.js')).secp256k1,
  },
];

/**
 * Finds a curve.
 * @param name OpenSSL's name
 */
export const curveNamed = (name: string | undefined): EcdsaCurve | undefined =>
  CURVES.find(({ opensslName }) => opensslName === name);
