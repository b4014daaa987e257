import type { KeyObject } from 'node:crypto';

/** By the names of `node:crypto`; those of peers, who take them from Go. */
const NAMES: Readonly<Record<string, string>> = {
  rsa: 'RSA',
  dsa: 'DSA',
  ec: 'ECDSA',
  ed25519: 'Ed25519',
};

/** What kind of public key a certificate has, in the words of peers. @param key undefined for one that OpenSSL does not know. */
export function certifiedAlgorithm(key: KeyObject | undefined): string {
  const kind = key?.asymmetricKeyType ?? 'unknown';
  return NAMES[kind] ?? kind;
}
