import { type KeyObject, verify, type X509Certificate } from 'node:crypto';
import { type DerValue, identifierOf, membersOf, TAG } from '../../ground/der.ts';

/**
 * Signature algorithms (RFC 3279, 4055, 5758, 8410, 9881) and their hashes; null if the algorithm has no separate hash.
 */
const HASHES: ReadonlyMap<string, string | null> = new Map([
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['1.3.101.112', null], // Ed25519
  ['1.3.101.113', null], // Ed448
  ['2.16.840.1.101.3.4.3.17', null], // ML-DSA-44
  ['2.16.840.1.101.3.4.3.18', null],
  ['2.16.840.1.101.3.4.3.19', null],
]);

const RSA_PSS = '1.2.840.113549.1.1.10';
const SOUND_HASHES: ReadonlySet<string> = new Set([
  '2.16.840.1.101.3.4.2.1', // SHA-256
  '2.16.840.1.101.3.4.2.2',
  '2.16.840.1.101.3.4.2.3',
]);
const LEAST_RSA_BITS = 2048;

/**
 * Whether signatures of this algorithm are secure: not with SHA-1 or older hashes.
 * @throws `invalid`
 */
export function isSound(algorithm: DerValue | undefined): boolean {
  const [type, parameters] = membersOf(algorithm, TAG.sequence);
  const identifier = identifierOf(type);
  if (identifier !== RSA_PSS) return HASHES.has(identifier);
  // The default hash is SHA-1 (RFC 4055, 3.1).
  const named = membersOf(parameters, TAG.sequence).find(({ tag }) => tag === TAG.context0);
  if (named === undefined) return false;
  const [hash] = membersOf(membersOf(named, TAG.context0)[0], TAG.sequence);
  return SOUND_HASHES.has(identifierOf(hash));
}

/** Whether a key is long enough for secure signatures. */
export const isStrong = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  !asymmetricKeyType?.startsWith('rsa') || (asymmetricKeyDetails?.modulusLength ?? 0) >= LEAST_RSA_BITS;

/**
 * Returns the hash of a signature algorithm, null if it has no separate hash; undefined for an unknown one.
 * @throws `invalid`
 */
export const hashOf = (algorithm: DerValue): string | null | undefined =>
  HASHES.get(identifierOf(membersOf(algorithm, TAG.sequence)[0]));

/** Signed data. */
interface SignedBytes {
  readonly bytes: Buffer;
  readonly signature: Buffer;
  /** Hash, as returned by `hashOf`. */
  readonly hash: string | null | undefined;
}

/** Verifies a signature; false as well if the algorithm is not supported. */
export function isSignedBy(
  { x509 }: { readonly x509: X509Certificate },
  { bytes, signature, hash }: SignedBytes,
): boolean {
  try {
    const key = x509.publicKey;
    return hash !== undefined && isStrong(key) && verify(hash, bytes, key, signature);
  } catch {
    // A key of another type, or of one that OpenSSL does not know.
    return false;
  }
}
