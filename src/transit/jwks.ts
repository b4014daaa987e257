import { JWS_ALGORITHMS } from '../ground/curves.ts';
import { failingAs, ownWords, unsupported } from '../ground/errors.ts';
import { requireCertifiableKey } from './certificates/certifiable.ts';
import type { Engine } from './engine.ts';

/** Public key as Node exports it, whose own type has different names in the versions of `@types/node`. */
type PublicJsonWebKey = Readonly<Partial<Record<'kty' | 'crv' | 'x' | 'y' | 'n' | 'e', string>>>;

/** Public signing key as a member of a JSON Web Key Set (RFC 7517). */
export type PublishedKey = PublicJsonWebKey & {
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: string | undefined;
};

/** Returns the key ID of a version, for JSON Web Keys and the headers of tokens that it signs. */
export const keyIdOf = (name: string, version: number): string => `${name}-v${version}`;

/**
 * Returns the public keys of all versions whose signatures can still be verified, oldest first.
 * @throws `not-found`; `conflict` for a soft-deleted key; `unsupported` for one that does not sign, is derived, or has
 * no JSON Web Key form
 */
export async function jsonWebKeySet(engine: Engine, name: string): Promise<readonly PublishedKey[]> {
  const { key, certification } = await requireCertifiableKey(engine, name);
  return [...key.usableVersions()].map(({ number, material }) => {
    const jwk: PublicJsonWebKey = failingAs(
      (cause) => unsupported(ownWords('keys of this type have no JSON Web Key'), { field: 'name', cause }),
      () => certification.publicKey(material).export({ format: 'jwk' }),
    );
    const alg = JWS_ALGORITHMS.get(jwk.crv);
    return {
      ...jwk,
      kid: keyIdOf(key.document.name, number),
      use: 'sig',
      alg,
    };
  });
}
