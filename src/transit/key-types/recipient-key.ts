import { createPublicKey, type KeyObject } from 'node:crypto';
import { ownWords, unsupported } from '../../ground/errors.ts';
import { parseBech32 } from './age/bech32.ts';
import { convertedPoint, p256Kem } from './age/tagged.ts';
import { x25519Kem } from './age/x25519.ts';
import { P256 } from './curves.ts';
import { rawKeys } from './raw-keys.ts';

/**
 * Returns the public key in an `age1…`.
 * @throws `invalid`; `unsupported` for a hybrid one, which only has age's encoding
 */
export function recipientKey(recipient: string): KeyObject {
  const { prefix, bytes } = parseBech32(recipient);
  if (prefix === x25519Kem.recipientPrefix) {
    return rawKeys.createPublicKey({ key: bytes, format: 'raw-public', asymmetricKeyType: 'x25519' });
  }
  if (prefix === p256Kem.recipientPrefix) {
    return createPublicKey({ key: p256Jwk(convertedPoint(bytes, 'uncompressed')), format: 'jwk' });
  }
  throw unsupported(ownWords('hybrid public keys can only be printed in the age format'), {
    field: 'format',
    hint: 'use --format age',
  });
}

/**
 * Formats a point as a JSON Web Key (RFC 7518, 6.2.1).
 * @param point uncompressed
 */
export const p256Jwk = (point: Buffer) => ({
  kty: 'EC',
  crv: P256.jwkName,
  x: point.subarray(1, 1 + P256.coordinateBytes).toString('base64url'),
  y: point.subarray(1 + P256.coordinateBytes).toString('base64url'),
});
