import { createECDH, createHash, createPublicKey, decapsulate, ECDH, type KeyObject } from 'node:crypto';
import { wipe, wiping } from '../../../ground/bytes.ts';
import { attempt, failingAs, inauthentic, invalid, ownWords } from '../../../ground/errors.ts';
import { rawPublic } from '../raw-keys.ts';
import {
  type AgeKem,
  extract,
  type HpkeUse,
  labelledBy,
  openMessage,
  STANZA_TAG_BYTES,
  sealMessage,
} from './kem.ts';
import { COMPRESSED_BYTES, isSoundP256, POINT_BYTES, UNCOMPRESSED } from './sound-point.ts';
import {
  encapsulated,
  ML_KEM_CIPHERTEXT_BYTES,
  ML_KEM_PUBLIC_BYTES,
  ML_KEM_SEED_BYTES,
  mlKemOf,
} from './x25519.ts';

/** P-256 (FIPS 186-5) for recipients of the age format: points, scalars, and Diffie-Hellman. */

const CURVE = 'prime256v1';
/** Order of the group: scalars are from 1 to one less. */
const ORDER = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');

const noPoint = (cause?: unknown) =>
  invalid(ownWords('the recipient is not a valid P-256 public key'), cause === undefined ? {} : { cause });

/** Whether 32 bytes are a valid private key, which one in 2^32 numbers is not. */
export const isScalar = (bytes: Uint8Array): boolean =>
  bytes.length === ORDER.length && Buffer.compare(bytes, ORDER) < 0 && bytes.some((byte) => byte !== 0);

/**
 * Converts a point to the other form.
 * @throws `invalid` if it is not on the curve
 */
export const convertedPoint = (point: Uint8Array, form: 'compressed' | 'uncompressed'): Buffer =>
  failingAs(noPoint, () => {
    const other: string | Buffer = ECDH.convertKey(Buffer.from(point), CURVE, undefined, undefined, form);
    return Buffer.from(other as unknown as Uint8Array);
  });

/**
 * Returns a point in its uncompressed form. The length of the shorter forms was checked, so one of 65 bytes is
 * uncompressed.
 * @throws `invalid` if it is not on the curve
 */
function requirePoint(point: Uint8Array): Buffer {
  if (point[0] !== UNCOMPRESSED) throw noPoint();
  convertedPoint(point, 'compressed');
  return Buffer.from(point);
}

/** Creates a key pair for one message, and agrees on a secret with a point; the caller overwrites the secret. */
function agreed(point: Buffer): { readonly secret: Buffer; readonly share: Buffer } {
  const ephemeral = createECDH(CURVE);
  const share = ephemeral.generateKeys();
  return { secret: ephemeral.computeSecret(point), share };
}

/** Computes the point of a scalar, uncompressed. */
export function pointOf(scalar: Uint8Array): Buffer {
  const own = createECDH(CURVE);
  own.setPrivateKey(scalar);
  return own.getPublicKey();
}

/**
 * ECDH (NIST SP 800-56A, 5.7.1.2); also returns the caller's own point.
 * @returns undefined if the share is not a point on the curve
 */
export function agreedWith(
  scalar: Uint8Array,
  share: Uint8Array,
): { readonly secret: Buffer; readonly point: Buffer } | undefined {
  // OpenSSL also accepts a hybrid form of this length, which is not allowed here.
  if (share.length !== POINT_BYTES || share[0] !== UNCOMPRESSED) return undefined;
  const own = createECDH(CURVE);
  own.setPrivateKey(scalar);
  return attempt(() => ({ secret: own.computeSecret(share), point: own.getPublicKey() }));
}

/**
 * Recipients on P-256, alone or with ML-KEM-768 (C2SP age.md, "tag"). Their stanzas begin with a short tag, by which
 * the holder of the private key finds those of its own: a hardware device, for which they were made, is asked about no
 * others.
 */

const HYBRID_LABEL = 'MLKEM768-P256';
const SCALAR_BYTES = 32;
/** Number of candidates derived from a seed; the first valid scalar is used. */
const SCALARS = 4;
const NONE = Buffer.alloc(0);

/** Labeled functions of the KEM's own suite (RFC 9180, 4.1). */
const dhKem = labelledBy(Buffer.from('KEM\0\x10', 'latin1'));

/** Computes the tag by which a recipient finds its stanzas, from the encapsulated key and the recipient's point. */
function tagOf({ info }: HpkeUse, sent: Uint8Array, point: Uint8Array): Buffer {
  const hash = createHash('sha256').update(point).digest().subarray(0, STANZA_TAG_BYTES);
  return extract(Buffer.from(info), Buffer.concat([sent, hash])).subarray(0, STANZA_TAG_BYTES);
}

const noPointSent = () =>
  inauthentic(
    ownWords('the envelope is damaged: a recipient in its header has a point that is not on its curve'),
    {
      hint: 'get a fresh copy of the file',
    },
  );

/**
 * Derives the shared secret of DHKEM(P-256, HKDF-SHA256) (RFC 9180, 4.1) from the agreed one.
 * @param secret overwritten
 */
function dhKemSecret(secret: Buffer, share: Uint8Array, point: Uint8Array): Buffer {
  const pseudorandom = wiping(secret, () => dhKem.extract(NONE, 'eae_prk', secret));
  return wiping(pseudorandom, () =>
    dhKem.expand(pseudorandom, 'shared_secret', Buffer.concat([share, point]), 32),
  );
}

/**
 * Decapsulates with DHKEM(P-256, HKDF-SHA256).
 * @throws `inauthentic` if the share is not a point on the curve
 */
export function decapsulatedP256(scalar: Uint8Array, share: Uint8Array): Buffer {
  const common = agreedWith(scalar, share);
  if (common === undefined) throw noPointSent();
  return dhKemSecret(common.secret, share, common.point);
}

// KEM IDs: RFC 9180, 7.1, and draft-ietf-hpke-pq.
const CLASSICAL = 'p256tag';
const CLASSICAL_USE: HpkeUse = { kem: 0x0010, info: `age-encryption.org/${CLASSICAL}` };
const HYBRID = 'mlkem768p256tag';
const HYBRID_USE: HpkeUse = { kem: 0x0050, info: `age-encryption.org/${HYBRID}` };

/** Stanza `p256tag`. Private keys are scalars. */
export const p256Kem: AgeKem = {
  stanza: CLASSICAL,
  recipientPrefix: 'age1tag',
  isPostQuantum: false,
  publicBytes: COMPRESSED_BYTES,
  isSound: isSoundP256,
  encapsulatedBytes: POINT_BYTES,
  isSecret: isScalar,
  publicOf: (secret) => convertedPoint(pointOf(secret), 'compressed'),
  tag: (publicKey, share) => tagOf(CLASSICAL_USE, share, publicKey),
  seal(publicKey, plaintext) {
    const point = convertedPoint(publicKey, 'uncompressed');
    const { secret, share } = agreed(point);
    const body = sealMessage(CLASSICAL_USE, dhKemSecret(secret, share, point), plaintext);
    return { encapsulated: share, body };
  },
  open: (secret, _publicKey, { encapsulated: share, body }) =>
    openMessage(CLASSICAL_USE, decapsulatedP256(secret, share), body),
};

/**
 * Derives both halves of a private key from its seed (draft-ietf-hpke-pq, 4): the seed of ML-KEM, then numbers until
 * one is a valid scalar.
 */
function halvesOf(seed: Uint8Array): { readonly mlKem: KeyObject; readonly scalar: Buffer } {
  const outputLength = ML_KEM_SEED_BYTES + SCALARS * SCALAR_BYTES;
  const bytes = createHash('shake256', { outputLength }).update(seed).digest();
  const mlKem = mlKemOf(bytes.subarray(0, ML_KEM_SEED_BYTES));
  const numbers = Array.from({ length: SCALARS }, (_, index) => {
    const start = ML_KEM_SEED_BYTES + index * SCALAR_BYTES;
    return bytes.subarray(start, start + SCALAR_BYTES);
  });
  const scalar = Buffer.from(numbers.find(isScalar) ?? noScalar());
  wipe(bytes);
  return { mlKem, scalar };
}

/** Each candidate fails with a probability of less than 2^-32. */
const noScalar = (): never => {
  throw new RangeError('no scalar came of the seed');
};

/**
 * Combines the secrets of both halves.
 * @param quantum secret of ML-KEM; overwritten, as is `secret`
 */
function combined(quantum: Buffer, secret: Buffer, share: Uint8Array, point: Uint8Array): Buffer {
  const hash = createHash('sha3-256').update(quantum).update(secret).update(share).update(point);
  const shared = hash.update(HYBRID_LABEL).digest();
  wipe(quantum, secret);
  return shared;
}

/**
 * Decapsulates with MLKEM768-P256 (draft-ietf-hpke-pq).
 * @throws `inauthentic` if its last part is not a point on the curve
 */
export function decapsulatedHybrid(seed: Uint8Array, sent: Uint8Array): Buffer {
  const halves = halvesOf(seed);
  const share = sent.subarray(ML_KEM_CIPHERTEXT_BYTES);
  const common = wiping(halves.scalar, (scalar) => agreedWith(scalar, share));
  if (common === undefined) throw noPointSent();
  const quantum = decapsulate(halves.mlKem, sent.subarray(0, ML_KEM_CIPHERTEXT_BYTES));
  return combined(Buffer.from(quantum), common.secret, share, common.point);
}

/** Stanza `mlkem768p256tag`. Private keys are seeds, and the tag depends on the point alone. */
export const mlKemP256Kem: AgeKem = {
  stanza: HYBRID,
  recipientPrefix: 'age1tagpq',
  isPostQuantum: true,
  publicBytes: ML_KEM_PUBLIC_BYTES + POINT_BYTES,
  isSound: (publicKey) => isSoundP256(publicKey.subarray(ML_KEM_PUBLIC_BYTES)),
  encapsulatedBytes: ML_KEM_CIPHERTEXT_BYTES + POINT_BYTES,
  publicOf(secret) {
    const { mlKem, scalar } = halvesOf(secret);
    return wiping(scalar, () => Buffer.concat([rawPublic(createPublicKey(mlKem)), pointOf(scalar)]));
  },
  tag: (publicKey, sent) => tagOf(HYBRID_USE, sent, publicKey.subarray(ML_KEM_PUBLIC_BYTES)),
  seal(publicKey, plaintext) {
    const point = requirePoint(publicKey.subarray(ML_KEM_PUBLIC_BYTES));
    const quantum = encapsulated(publicKey);
    const { secret, share } = agreed(point);
    const body = sealMessage(HYBRID_USE, combined(quantum.shared, secret, share, point), plaintext);
    return { encapsulated: Buffer.concat([quantum.sent, share]), body };
  },
  open: (secret, _publicKey, { encapsulated: sent, body }) =>
    openMessage(HYBRID_USE, decapsulatedHybrid(secret, sent), body),
};
