import type { JsonWebKey } from 'node:crypto';
import { unsupported } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { requireCertifiableKey } from './certificates/certifiable.ts';
import type { Engine } from './engine.ts';

/** A public key for signatures, as a member of a JSON Web Key Set (RFC 7517). */
export type PublishedKey = Readonly<JsonWebKey> & { readonly kid: string; readonly use: 'sig' };

/** What a version of a named key is called in JSON Web Keys, and in the headers of tokens that it signs. */
export const keyIdOf = (name: string, version: number): string => `${name}-v${version}`;

/** The algorithms of curves that only have one (RFC 7518, RFC 8037, RFC 8812). With RSA, whoever signs chooses. */
const ALGORITHMS: ReadonlyMap<string | undefined, string> = new Map([
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
  ['secp256k1', 'ES256K'],
  ['Ed25519', 'EdDSA'],
]);

/**
 * The public keys of all versions whose signatures still verify, oldest first.
 * @throws `not-found`, `conflict` for a soft-deleted key, `unsupported` for one that does not sign, is derived, or that no JSON Web Key is for.
 */
export async function jsonWebKeySet(engine: Engine, name: string): Promise<readonly PublishedKey[]> {
  const { key, certification } = await requireCertifiableKey(engine, name);
  return [...key.usableVersions()].map(({ number, material }) => {
    const jwk = jwkOf(() => certification.publicKey(material).export({ format: 'jwk' }));
    const alg = ALGORITHMS.get(jwk.crv);
    return {
      ...jwk,
      kid: keyIdOf(key.document.name, number),
      use: 'sig',
      ...(alg !== undefined && { alg }),
    };
  });
}

function jwkOf(print: () => JsonWebKey): JsonWebKey {
  try {
    return print();
  } catch (error) {
    throw unsupported(ownWords('there is no JSON Web Key for keys of this type'), {
      field: 'name',
      cause: error,
    });
  }
}
