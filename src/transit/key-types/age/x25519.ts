import { createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { wiping } from '../../../ground/bytes.ts';
import { attempt, inauthentic, invalid, ownWords } from '../../../ground/errors.ts';
import { raw, rawKeys, rawPublic } from '../raw-keys.ts';
import { expand, extract, openOnce, SECRET_BYTES, sealOnce, type WrittenKem, ZERO_NONCE } from './kem.ts';
import { isSoundX25519 } from './sound-point.ts';

const ALGORITHM = 'x25519';
const INFO = 'age-encryption.org/v1/X25519';

/**
 * Creates a private key.
 * @param secret 32 bytes, which are copied
 */
const privateKeyOf = (secret: Uint8Array): KeyObject =>
  rawKeys.createPrivateKey({ key: secret, format: 'raw-private', asymmetricKeyType: ALGORITHM });

export const x25519PublicOf = (secret: Uint8Array): Buffer =>
  rawPublic(createPublicKey(privateKeyOf(secret)));

/** Creates an ephemeral key pair. */
export function ephemeralX25519(): { readonly secret: Buffer; readonly share: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync(ALGORITHM);
  return { secret: raw(privateKey, 'raw-private'), share: rawPublic(publicKey) };
}

/**
 * X25519 (RFC 7748).
 * @returns undefined if the secret would be zero: the point is of low order, and anyone could compute the secret
 */
export function x25519(secret: Uint8Array, point: Uint8Array): Buffer | undefined {
  const publicKey = rawKeys.createPublicKey({
    key: point,
    format: 'raw-public',
    asymmetricKeyType: ALGORITHM,
  });
  // OpenSSL itself refuses such points.
  const shared = attempt(() => diffieHellman({ privateKey: privateKeyOf(secret), publicKey }));
  return shared?.every((byte) => byte === 0) ? undefined : shared;
}

export const lowOrderRecipient = () =>
  invalid(ownWords('the recipient is a low-order point: anyone could decrypt the file'), {
    hint: 'ask the recipient for the key again',
  });

export const lowOrderShare = () =>
  inauthentic(ownWords('the envelope is damaged: a recipient in its header has a point of low order'), {
    hint: 'get a fresh copy of the file',
  });

const wrapKeyOf = (shared: Buffer, share: Uint8Array, publicKey: Uint8Array): Buffer =>
  wiping(shared, () => expand(extract(Buffer.concat([share, publicKey]), shared), INFO));

/** Stanza `X25519`. */
export const x25519Kem: WrittenKem = {
  stanza: 'X25519',
  recipientPrefix: 'age',
  identityPrefix: 'age-secret-key-',
  isPostQuantum: false,
  publicBytes: SECRET_BYTES,
  isSound: isSoundX25519,
  encapsulatedBytes: SECRET_BYTES,
  publicOf: x25519PublicOf,
  seal(publicKey, plaintext) {
    const { secret, share } = ephemeralX25519();
    const shared = wiping(secret, () => x25519(secret, publicKey));
    if (shared === undefined) throw lowOrderRecipient();
    const body = wiping(wrapKeyOf(shared, share, publicKey), (key) => sealOnce(key, ZERO_NONCE, plaintext));
    return { encapsulated: share, body };
  },
  open(secret, publicKey, { encapsulated, body }) {
    const shared = x25519(secret, encapsulated);
    if (shared === undefined) throw lowOrderShare();
    return wiping(wrapKeyOf(shared, encapsulated, publicKey), (key) => openOnce(key, ZERO_NONCE, body));
  },
};
