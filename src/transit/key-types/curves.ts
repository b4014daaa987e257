import type { ECDSA } from '@noble/curves/abstract/weierstrass.js';
import { CURVES, type Curve, type CurveName } from '../../ground/curves.ts';

/** Part of a curve that only key types need. */
interface Arithmetic {
  /** Type number in backups, the same in Vault and OpenBao; absent for a curve that they do not have. */
  readonly backupNumber?: number;
  /**
   * Loads another implementation of the arithmetic. `node:crypto` can only sign data that it hashes itself, so signing
   * a caller's digest needs it; loaded for the first such signature.
   */
  noble(): Promise<ECDSA>;
}

/** ECDSA curve, with everything that Coffer knows about it. */
export interface EcdsaCurve extends Curve, Arithmetic {}

const curves = () => import('./noble-curves.ts');

const ARITHMETIC: Readonly<Record<CurveName, Arithmetic>> = {
  'P-256': { backupNumber: 1, noble: async () => (await curves()).p256 },
  'P-384': { backupNumber: 6, noble: async () => (await curves()).p384 },
  'P-521': { backupNumber: 7, noble: async () => (await curves()).p521 },
  secp256k1: { noble: async () => (await curves()).secp256k1 },
};

export const ECDSA_CURVES: readonly EcdsaCurve[] = CURVES.map((curve) => ({
  ...curve,
  ...ARITHMETIC[curve.jwkName],
}));

/**
 * Finds a curve.
 * @param name OpenSSL's name
 */
export const curveNamed = (name: string | undefined): EcdsaCurve | undefined =>
  ECDSA_CURVES.find(({ opensslName }) => opensslName === name);

/** Curve of age's tagged recipients. */
export const P256: EcdsaCurve = curveCalled('P-256');

function curveCalled(name: CurveName): EcdsaCurve {
  const found = ECDSA_CURVES.find(({ jwkName }) => jwkName === name);
  if (found === undefined) throw new RangeError(`unknown curve ${name}`);
  return found;
}
