import { createECDH, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { wipe } from '../../ground/bytes.ts';
import type { CofferError } from '../../ground/errors.ts';
import type { EcdsaCurve } from './curves.ts';
import { fromBase64Url, keyOf, refusedBackup, spkiPemOf, storedKey, toBase64Url } from './key-pair.ts';
import type { BackupForm, BackupMaterial } from './key-type.ts';

export const ecdsaBackup = (curve: EcdsaCurve): BackupForm => ({
  ...(curve.backupNumber === undefined ? {} : { openbao: curve.backupNumber, vault: curve.backupNumber }),
  readMs: 4,
  read: (entry) => storedKey(ecdsaFromBackup(entry, curve)),
  write: (stored) => ecdsaToBackup(keyOf(stored)),
});

/** Converts a key to a backup's numbers; without the scalar if it is public. */
export function ecdsaToBackup(key: KeyObject): BackupMaterial {
  const jwk = key.export({ format: 'jwk' });
  const point = { x: fromBase64Url(jwk.x), y: fromBase64Url(jwk.y) };
  if (key.type === 'public') return { ec: point, publicKey: spkiPemOf(key) };
  return { ec: { ...point, d: fromBase64Url(jwk.d) }, publicKey: spkiPemOf(createPublicKey(key)) };
}

/**
 * Converts a backup's numbers to a key, private if the scalar is present.
 * @throws `invalid` if the point is not on the curve, or scalar, point and `public_key` do not match
 */
export function ecdsaFromBackup(material: BackupMaterial, curve: EcdsaCurve): KeyObject {
  const { ec, publicKey: pem } = material;
  if (ec === undefined) throw refusedBackup('has no point of an elliptic curve');
  const limit = 1n << BigInt(8 * curve.coordinateBytes);
  if ([ec.x, ec.y, ec.d ?? 1n].some((value) => value < 0n || value >= limit) || ec.d === 0n) {
    throw refusedBackup(`has a number that is out of range for ${curve.jwkName}`);
  }
  const jwk = {
    kty: 'EC',
    crv: curve.jwkName,
    x: toBase64Url(ec.x, curve.coordinateBytes),
    y: toBase64Url(ec.y, curve.coordinateBytes),
  };
  const publicKey = onCurve(() => createPublicKey({ key: jwk, format: 'jwk' }), curve);
  if (pem !== undefined && !isSamePublicKey(pem, publicKey)) throw mismatch();
  if (ec.d === undefined) return publicKey;
  const d = toBase64Url(ec.d, curve.coordinateBytes);
  if (!isScalarOf(d, jwk, curve)) throw mismatch();
  return onCurve(() => createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }), curve);
}

function onCurve(make: () => KeyObject, curve: EcdsaCurve): KeyObject {
  try {
    return make();
  } catch {
    throw refusedBackup(`has a point that is not on ${curve.jwkName}`);
  }
}

function isSamePublicKey(pem: string, key: KeyObject): boolean {
  try {
    return createPublicKey({ key: pem, format: 'pem' }).equals(key);
  } catch {
    return false;
  }
}

/** Whether a scalar matches a point. OpenSSL does not compare them on import, so the point is computed again. */
function isScalarOf(d: string, point: { x: string; y: string }, curve: EcdsaCurve): boolean {
  const scalar = Buffer.from(d, 'base64url');
  try {
    const ecdh = createECDH(curve.opensslName);
    ecdh.setPrivateKey(scalar);
    const expected = Buffer.concat([
      Buffer.from([0x04]),
      Buffer.from(point.x, 'base64url'),
      Buffer.from(point.y, 'base64url'),
    ]);
    return ecdh.getPublicKey().equals(expected);
  } catch {
    return false;
  } finally {
    wipe(scalar);
  }
}

const mismatch = (): CofferError =>
  refusedBackup('has an elliptic-curve private key that does not match its public key');
