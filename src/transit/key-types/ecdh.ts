import { createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { attempt, invalid, ownWords } from '../../ground/errors.ts';

/** Own key type and curve, for errors about a peer's key. */
interface OwnKind {
  /** Name of the key type. */
  readonly type: string;
  /** OpenSSL's name of the curve. */
  readonly curve: string;
}

/**
 * Computes ECDH (NIST SP 800-56A, 5.7.1.2): the x-coordinate of the shared point.
 * @param peer PEM; OpenSSL verifies that its point is on its curve
 * @throws `invalid` with Vault's messages
 */
export function sharedSecret(privateKey: KeyObject, peer: string, own: OwnKind): Buffer {
  const publicKey = peerKeyOf(peer);
  if (publicKey.asymmetricKeyType !== 'ec') {
    throw refusal(
      ownWords('supplied peer public key is not an ECDSA key'),
      `use the public key of an ${own.type} key`,
    );
  }
  if (publicKey.asymmetricKeyDetails?.namedCurve !== own.curve) {
    throw refusal(
      `base private key type ${own.type} does not match peer public key curve`,
      `use a public key on ${own.curve}`,
    );
  }
  return diffieHellman({ privateKey, publicKey });
}

function peerKeyOf(pem: string): KeyObject {
  // Node would also accept a private key, and compute its public key.
  const isPublic = /-----BEGIN PUBLIC KEY-----/.test(pem);
  const key = isPublic ? attempt(() => createPublicKey({ key: pem, format: 'pem' })) : undefined;
  if (key !== undefined) return key;
  throw refusal(
    // The trailing space is part of Vault's message.
    ownWords('failed to parse supplied peer public key PEM: data does not contain any valid public keys '),
    'use a public key in PEM, e.g. from "openssl pkey -pubout"',
  );
}

const refusal = (message: string, hint: string) => invalid(message, { field: 'peer_public_key', hint });
