import { X509Certificate } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import type { StoredMaterial } from '../key-types/key-type.ts';
import { damagedVersion } from './refusal.ts';

/**
 * Checks the certificates that came with a version, the leaf first.
 * @throws `invalid` when one cannot be read, or the leaf is for another key.
 */
export function checkCertificateChain(
  chain: readonly Uint8Array[],
  material: StoredMaterial,
  version: number,
): void {
  const certificates = chain.map((der) => parsed(der, version));
  const leaf = certificates[0]?.publicKey.export({ format: 'der', type: 'spki' });
  if (leaf !== undefined && encodeBase64(leaf) !== material.publicKey) {
    throw damagedVersion(version, 'leaf certificate public key does not match the selected key version');
  }
}

function parsed(der: Uint8Array, version: number): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch {
    throw damagedVersion(version, 'could not parse a certificate in the certificate chain');
  }
}
