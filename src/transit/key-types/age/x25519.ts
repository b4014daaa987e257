import {
  createHash,
  createPublicKey,
  decapsulate,
  diffieHellman,
  encapsulate,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { wipe, wiping } from '../../../ground/bytes.ts';
import { attempt, failingAs, inauthentic, invalid, ownWords } from '../../../ground/errors.ts';
import { raw, rawKeys, rawPublic } from '../raw-keys.ts';
import {
  expand,
  extract,
  type HpkeUse,
  openMessage,
  openOnce,
  SECRET_BYTES,
  type SealedSecret,
  sealMessage,
  sealOnce,
  type WrittenKem,
  ZERO_NONCE,
} from './kem.ts';
import { isSoundX25519 } from './sound-point.ts';

const ALGORITHM = 'x25519';
const INFO = 'age-encryption.org/v1/X25519';

/**
 * Creates a private key.
 * @param secret 32 bytes, which are copied
 */
const privateKeyOf = (secret: Uint8Array): KeyObject =>
  rawKeys.createPrivateKey({ key: secret, format: 'raw-private', asymmetricKeyType: ALGORITHM });

const x25519PublicOf = (secret: Uint8Array): Buffer => rawPublic(createPublicKey(privateKeyOf(secret)));

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
  invalid(ownWords('this recipient is not a valid key (a low-order point): anyone could decrypt the file'), {
    hint: 'ask the owner of the key for it again',
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

/** ML-KEM-768 (FIPS 203), the post-quantum half of hybrid recipients. */

const ML_KEM = 'ml-kem-768';
export const ML_KEM_PUBLIC_BYTES = 1184;
export const ML_KEM_CIPHERTEXT_BYTES = 1088;
export const ML_KEM_SEED_BYTES = 64;

/** Derives the private key from a seed, which is overwritten. */
export const mlKemOf = (seed: Buffer): KeyObject =>
  wiping(seed, () => rawKeys.createPrivateKey({ key: seed, format: 'raw-seed', asymmetricKeyType: ML_KEM }));

function publicMlKem(publicKey: Uint8Array): KeyObject {
  const key = publicKey.subarray(0, ML_KEM_PUBLIC_BYTES);
  return failingAs(
    (cause) => invalid(ownWords('the recipient is not a valid ML-KEM public key'), { cause }),
    () => rawKeys.createPublicKey({ key, format: 'raw-public', asymmetricKeyType: ML_KEM }),
  );
}

/**
 * Encapsulates a secret for the holder of a key.
 * @param publicKey begins with the ML-KEM public key
 * @throws `invalid`
 */
export function encapsulated(publicKey: Uint8Array): { readonly shared: Buffer; readonly sent: Buffer } {
  const { sharedKey, ciphertext } = encapsulate(publicMlKem(publicKey));
  return { shared: Buffer.from(sharedKey), sent: Buffer.from(ciphertext) };
}

/**
 * X-Wing, the hybrid of ML-KEM-768 (FIPS 203) and X25519 (draft-connolly-cfrg-xwing-kem, 5), and with it one message of
 * HPKE in base mode (RFC 9180, 5 and 6.1): HKDF-SHA256, ChaCha20-Poly1305, no associated data. It is secure as long as
 * either half is.
 */

/** X-Wing's label, the ASCII drawing `\.//^\`. */
const LABEL = Buffer.from('5c2e2f2f5e5c', 'hex');
/** The KEM ID is from the draft. */
const USE: HpkeUse = { kem: 0x647a, info: 'age-encryption.org/mlkem768x25519' };

/**
 * Derives both private keys.
 * @param secret seed of both halves
 */
function halvesOf(secret: Uint8Array): { readonly mlKem: KeyObject; readonly x25519: Buffer } {
  const seeds = createHash('shake256', { outputLength: ML_KEM_SEED_BYTES + SECRET_BYTES })
    .update(secret)
    .digest();
  const mlKem = mlKemOf(seeds.subarray(0, ML_KEM_SEED_BYTES));
  return { mlKem, x25519: seeds.subarray(ML_KEM_SEED_BYTES) };
}

/** Combines the secrets of both halves, bound to the encapsulated key and the recipient. */
function combined(mlKem: Buffer, x: Buffer, share: Uint8Array, publicShare: Uint8Array): Buffer {
  const hash = createHash('sha3-256').update(mlKem).update(x).update(share).update(publicShare);
  const secret = hash.update(LABEL).digest();
  wipe(mlKem, x);
  return secret;
}

/** Stanza `mlkem768x25519`. */
export const xWingKem: WrittenKem = {
  stanza: 'mlkem768x25519',
  recipientPrefix: 'age1pq',
  identityPrefix: 'age-secret-key-pq-',
  isPostQuantum: true,
  publicBytes: ML_KEM_PUBLIC_BYTES + SECRET_BYTES,
  isSound: (publicKey) => isSoundX25519(publicKey.subarray(ML_KEM_PUBLIC_BYTES)),
  encapsulatedBytes: ML_KEM_CIPHERTEXT_BYTES + SECRET_BYTES,
  publicOf(secret) {
    const halves = halvesOf(secret);
    return wiping(halves.x25519, (classical) =>
      Buffer.concat([rawPublic(createPublicKey(halves.mlKem)), x25519PublicOf(classical)]),
    );
  },
  seal(publicKey, plaintext) {
    const { shared, sent } = encapsulated(publicKey);
    const publicShare = publicKey.subarray(ML_KEM_PUBLIC_BYTES);
    const { secret, share } = ephemeralX25519();
    const x = wiping(secret, () => x25519(secret, publicShare));
    if (x === undefined) throw lowOrderRecipient();
    const body = sealMessage(USE, combined(shared, x, share, publicShare), plaintext);
    return { encapsulated: Buffer.concat([sent, share]), body };
  },
  open(secret, publicKey, { encapsulated: sent, body }: SealedSecret) {
    const halves = halvesOf(secret);
    const share = sent.subarray(ML_KEM_CIPHERTEXT_BYTES);
    const x = wiping(halves.x25519, (classical) => x25519(classical, share));
    if (x === undefined) throw lowOrderShare();
    const mlKem = decapsulate(halves.mlKem, sent.subarray(0, ML_KEM_CIPHERTEXT_BYTES));
    const publicShare = publicKey.subarray(ML_KEM_PUBLIC_BYTES);
    return openMessage(USE, combined(Buffer.from(mlKem), x, share, publicShare), body);
  },
};
