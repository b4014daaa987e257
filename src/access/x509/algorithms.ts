import { type KeyObject, verify, type X509Certificate } from 'node:crypto';
import { type DerValue, identifierOf, membersOf, TAG } from '../../ground/der.ts';

/** How signatures are named (RFC 3279, 4055, 5758, 8410, 9881), and their hashes; null where there is none to choose. */
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

/** Whether nobody can forge what is signed so: neither with SHA-1 nor with what came before it. @throws `invalid`. */
export function isSound(algorithm: DerValue | undefined): boolean {
  const [type, parameters] = membersOf(algorithm, TAG.sequence);
  const identifier = identifierOf(type);
  if (identifier !== RSA_PSS) return HASHES.has(identifier);
  // SHA-1 is what is meant where none is named (RFC 4055, 3.1).
  const named = membersOf(parameters, TAG.sequence).find(({ tag }) => tag === TAG.context0);
  if (named === undefined) return false;
  const [hash] = membersOf(membersOf(named, TAG.context0)[0], TAG.sequence);
  return SOUND_HASHES.has(identifierOf(hash));
}

/** Whether a key is long enough for its signatures to count. */
export const isStrong = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean =>
  !asymmetricKeyType?.startsWith('rsa') || (asymmetricKeyDetails?.modulusLength ?? 0) >= LEAST_RSA_BITS;

/** The hash of a way to sign, null where it has none of its own; undefined for one that is not known here. @throws `invalid`. */
export const hashOf = (algorithm: DerValue): string | null | undefined =>
  HASHES.get(identifierOf(membersOf(algorithm, TAG.sequence)[0]));

/** Something signed. */
export interface Signed {
  readonly bytes: Buffer;
  readonly signature: Buffer;
  /** As `hashOf` has it. */
  readonly hash: string | null | undefined;
}

/** Whether somebody signed it. False, too, where that is not known how to find out. */
export function isSignedBy(
  { x509 }: { readonly x509: X509Certificate },
  { bytes, signature, hash }: Signed,
): boolean {
  try {
    const key = x509.publicKey;
    return hash !== undefined && isStrong(key) && verify(hash, bytes, key, signature);
  } catch {
    // A key of another kind, or of one that OpenSSL does not know.
    return false;
  }
}
