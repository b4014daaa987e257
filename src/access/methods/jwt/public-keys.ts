import { createPublicKey, type KeyObject } from 'node:crypto';
import { JWS_ALGORITHMS } from '../../../ground/curves.ts';
import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { MOST_KEYS } from './key-set.ts';
import { ALGORITHMS, type VerificationKeys } from './signed-token.ts';

const FIELD = 'jwt_validation_pubkeys';
const PUBLIC = /-----BEGIN (PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----[^-]+-----END \1-----/;
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
  if (key === undefined || !mayVerify(key)) {
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

/** Whether a key can verify one of the supported signature algorithms. */
function mayVerify(key: KeyObject): boolean {
  try {
    const { kty, crv } = key.export({ format: 'jwk' });
    return kty === 'RSA' || ALGORITHMS.includes(JWS_ALGORITHMS.get(crv) ?? '');
  } catch {
    return false;
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
