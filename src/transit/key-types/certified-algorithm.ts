import type { KeyObject } from 'node:crypto';

/** Algorithm names as in Vault and OpenBao, who take them from Go, by the names of `node:crypto`. */
const NAMES: Readonly<Record<string, string>> = {
  rsa: 'RSA',
  dsa: 'DSA',
  ec: 'ECDSA',
  ed25519: 'Ed25519',
};

/**
 * Returns the type of a certificate's public key, as Vault names it.
 * @param key undefined for a type that OpenSSL does not know
 */
export function certifiedAlgorithm(key: KeyObject | undefined): string {
  const kind = key?.asymmetricKeyType ?? 'unknown';
  return NAMES[kind] ?? kind;
}
