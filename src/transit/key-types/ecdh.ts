import { createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';

/** What a peer's key is told when it does not fit. */
interface OwnKind {
  /** The name of the key type. */
  readonly type: string;
  /** OpenSSL's name. */
  readonly curve: string;
}

/**
 * ECDH (NIST SP 800-56A, 5.7.1.2): the x-coordinate of the common point.
 * @param peer PEM. OpenSSL makes sure that its point is on its curve.
 * @throws `invalid` in the words of peers.
 */
export function sharedSecret(privateKey: KeyObject, peer: string, own: OwnKind): Buffer {
  const publicKey = peerKeyOf(peer);
  if (publicKey.asymmetricKeyType !== 'ec') {
    throw refusal(
      ownWords('supplied peer public key is not an ECDSA key'),
      `give the public key of an ${own.type} pair`,
    );
  }
  if (publicKey.asymmetricKeyDetails?.namedCurve !== own.curve) {
    throw refusal(
      `base private key type ${own.type} does not match peer public key curve`,
      `give a public key on ${own.curve}`,
    );
  }
  return diffieHellman({ privateKey, publicKey });
}

function peerKeyOf(pem: string): KeyObject {
  try {
    // Node would also take a private key, and compute the public one.
    if (/-----BEGIN PUBLIC KEY-----/.test(pem)) return createPublicKey({ key: pem, format: 'pem' });
  } catch {
    // The words for it are the same.
  }
  throw refusal(
    // The space at the end is there with peers.
    ownWords('failed to parse supplied peer public key PEM: data does not contain any valid public keys '),
    'give a public key in PEM, as "openssl pkey -pubout" prints it',
  );
}

const refusal = (message: string, hint: string) => invalid(message, { field: 'peer_public_key', hint });
