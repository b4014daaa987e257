import { createPublicKey, type KeyObject } from 'node:crypto';
import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { MOST_KEYS } from './key-set.ts';
import type { VerificationKeys } from './signed-token.ts';

const FIELD = 'jwt_validation_pubkeys';
const PUBLIC = /-----BEGIN (PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----[^-]+-----END \1-----/;
/** RSA, and the curves for token signatures (RFC 7518, RFC 8037), by their names in JSON Web Keys. */
const KINDS: ReadonlySet<string | undefined> = new Set(['RSA', 'P-256', 'P-384', 'P-521', 'Ed25519']);
/** Minimum RSA key size in bits; signatures of shorter keys can be forged, and `jose` refuses them. */
const LEAST_BITS = 2048;

/**
 * Parses the configured keys of a mount in PEM: SubjectPublicKeyInfo, PKCS #1 or certificates.
 * @throws `invalid` for anything else
 */
export function givenKeys(pems: readonly string[]): VerificationKeys {
  if (pems.length > MOST_KEYS) {
    throw invalid(`${FIELD} must have at most ${MOST_KEYS} items, not ${pems.length}`, { field: FIELD });
  }
  const keys = pems.map(parseKey);
  return {
    candidates: keys.map((key) => () => key),
    refusal: 'no known key successfully validated the token signature',
  };
}

function parseKey(pem: string): KeyObject {
  const key = publicKeyIn(pem);
  if (key === undefined || !KINDS.has(kindOf(key))) {
    throw invalid(ownWords('error parsing public key: data does not contain any valid public keys'), {
      field: FIELD,
    });
  }
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < LEAST_BITS) {
    throw invalid(`error parsing public key: ${bits} bits are too few for RSA`, {
      field: FIELD,
      hint: 'use a key of 2048 bits or more',
    });
  }
  return key;
}

function kindOf(key: KeyObject): string | undefined {
  try {
    const { kty, crv } = key.export({ format: 'jwk' });
    return crv ?? kty;
  } catch {
    return undefined;
  }
}

function publicKeyIn(pem: string): KeyObject | undefined {
  // Node would derive a public key from a private one as well, which a client only sends by mistake.
  const [block] = PUBLIC.exec(pem) ?? [];
  if (block === undefined) return undefined;
  try {
    return createPublicKey(block);
  } catch {
    return undefined;
  }
}
