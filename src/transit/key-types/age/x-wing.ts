import { createHash, createPublicKey, decapsulate, encapsulate, type KeyObject } from 'node:crypto';
import { wipe } from '../../../ground/bytes.ts';
import { invalid } from '../../../ground/errors.ts';
import { rawKeys, rawPublic } from '../raw-keys.ts';
import { type AgeKem, expand, extract, openOnce, SECRET_BYTES, type SealedSecret, sealOnce } from './kem.ts';
import { ephemeralX25519, lowOrderRecipient, lowOrderShare, x25519, x25519PublicOf } from './x25519.ts';

/**
 * The hybrid of ML-KEM-768 (FIPS 203) and X25519 called X-Wing (draft-connolly-cfrg-xwing-kem, 5), and with it one message of
 * HPKE in base mode (RFC 9180, 5 and 6.1): HKDF-SHA256, ChaCha20-Poly1305, no associated data. It holds as long as either half does.
 */

const ML_KEM = 'ml-kem-768';
const ML_KEM_SEED_BYTES = 64;
const ML_KEM_PUBLIC_BYTES = 1184;
const ML_KEM_CIPHERTEXT_BYTES = 1088;
/** Draws a little picture: `\.//^\`. */
const LABEL = Buffer.from('5c2e2f2f5e5c', 'hex');
/** KEM 0x647a, KDF 0x0001, AEAD 0x0003 (RFC 9180, 7; the KEM's number is in the draft). */
const SUITE = Buffer.concat([Buffer.from('HPKE'), Buffer.from('647a00010003', 'hex')]);
const INFO = Buffer.from('age-encryption.org/mlkem768x25519');
const BASE_MODE = 0;
const NONE = Buffer.alloc(0);

interface Halves {
  readonly mlKem: KeyObject;
  readonly x25519: Buffer;
}

/** @param secret the seed of both halves. */
function halvesOf(secret: Uint8Array): Halves {
  const seeds = createHash('shake256', { outputLength: ML_KEM_SEED_BYTES + SECRET_BYTES })
    .update(secret)
    .digest();
  const mlKem = rawKeys.createPrivateKey({
    key: seeds.subarray(0, ML_KEM_SEED_BYTES),
    format: 'raw-seed',
    asymmetricKeyType: ML_KEM,
  });
  wipe(seeds.subarray(0, ML_KEM_SEED_BYTES));
  return { mlKem, x25519: seeds.subarray(ML_KEM_SEED_BYTES) };
}

function publicMlKem(publicKey: Uint8Array): KeyObject {
  try {
    return rawKeys.createPublicKey({
      key: publicKey.subarray(0, ML_KEM_PUBLIC_BYTES),
      format: 'raw-public',
      asymmetricKeyType: ML_KEM,
    });
  } catch (error) {
    throw invalid('this recipient is no public key of ML-KEM', { cause: error });
  }
}

/** The secret of both halves; it depends on what was sent, and to whom. */
function combined(mlKem: Buffer, x: Buffer, share: Uint8Array, publicShare: Uint8Array): Buffer {
  const hash = createHash('sha3-256').update(mlKem).update(x).update(share).update(publicShare);
  const secret = hash.update(LABEL).digest();
  wipe(mlKem, x);
  return secret;
}

const labelled = (label: string): Buffer =>
  Buffer.concat([Buffer.from('HPKE-v1'), SUITE, Buffer.from(label)]);

const labelledExtract = (salt: Uint8Array, label: string, inputKey: Uint8Array): Buffer =>
  extract(salt, Buffer.concat([labelled(label), inputKey]));

function labelledExpand(key: Uint8Array, label: string, context: Uint8Array, bytes: number): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes);
  return expand(key, Buffer.concat([length, labelled(label), context]), bytes);
}

/** Key and nonce of the only message (RFC 9180, 5.1, `KeySchedule` of base mode). */
function schedule(shared: Buffer): { readonly key: Buffer; readonly nonce: Buffer } {
  const context = Buffer.concat([
    Buffer.from([BASE_MODE]),
    labelledExtract(NONE, 'psk_id_hash', NONE),
    labelledExtract(NONE, 'info_hash', INFO),
  ]);
  const secret = labelledExtract(shared, 'secret', NONE);
  wipe(shared);
  return {
    key: labelledExpand(secret, 'key', context, 32),
    nonce: labelledExpand(secret, 'base_nonce', context, 12),
  };
}

/** The stanza `mlkem768x25519`. */
export const xWingKem: AgeKem = {
  stanza: 'mlkem768x25519',
  recipientPrefix: 'age1pq',
  identityPrefix: 'age-secret-key-pq-',
  isPostQuantum: true,
  publicBytes: ML_KEM_PUBLIC_BYTES + SECRET_BYTES,
  encapsulatedBytes: ML_KEM_CIPHERTEXT_BYTES + SECRET_BYTES,
  publicOf(secret) {
    const halves = halvesOf(secret);
    const publicKey = Buffer.concat([
      rawPublic(createPublicKey(halves.mlKem)),
      x25519PublicOf(halves.x25519),
    ]);
    wipe(halves.x25519);
    return publicKey;
  },
  seal(publicKey, plaintext) {
    const { sharedKey, ciphertext } = encapsulate(publicMlKem(publicKey));
    const publicShare = publicKey.subarray(ML_KEM_PUBLIC_BYTES);
    const { secret, share } = ephemeralX25519();
    const x = x25519(secret, publicShare);
    wipe(secret);
    if (x === undefined) throw lowOrderRecipient();
    const { key, nonce } = schedule(combined(Buffer.from(sharedKey), x, share, publicShare));
    return {
      encapsulated: Buffer.concat([ciphertext, share]),
      body: sealOnce(key, nonce, plaintext),
    };
  },
  open(secret, publicKey, { encapsulated, body }: SealedSecret) {
    const halves = halvesOf(secret);
    const share = encapsulated.subarray(ML_KEM_CIPHERTEXT_BYTES);
    const x = x25519(halves.x25519, share);
    wipe(halves.x25519);
    if (x === undefined) throw lowOrderShare();
    const mlKem = decapsulate(halves.mlKem, encapsulated.subarray(0, ML_KEM_CIPHERTEXT_BYTES));
    const publicShare = publicKey.subarray(ML_KEM_PUBLIC_BYTES);
    const { key, nonce } = schedule(combined(Buffer.from(mlKem), x, share, publicShare));
    return openOnce(key, nonce, body);
  },
};
