import { createHash, createPublicKey, decapsulate, type KeyObject } from 'node:crypto';
import { wipe } from '../../../ground/bytes.ts';
import { rawPublic } from '../raw-keys.ts';
import { keyOfOneMessage } from './hpke.ts';
import { openOnce, SECRET_BYTES, type SealedSecret, sealOnce, type WrittenKem } from './kem.ts';
import {
  encapsulated,
  ML_KEM_CIPHERTEXT_BYTES,
  ML_KEM_PUBLIC_BYTES,
  ML_KEM_SEED_BYTES,
  mlKemOf,
} from './ml-kem.ts';
import { isSoundX25519 } from './sound-point.ts';
import { ephemeralX25519, lowOrderRecipient, lowOrderShare, x25519, x25519PublicOf } from './x25519.ts';

/**
 * X-Wing, the hybrid of ML-KEM-768 (FIPS 203) and X25519 (draft-connolly-cfrg-xwing-kem, 5), and with it one message of
 * HPKE in base mode (RFC 9180, 5 and 6.1): HKDF-SHA256, ChaCha20-Poly1305, no associated data. It is secure as long as
 * either half is.
 */

/** X-Wing's label, the ASCII drawing `\.//^\`. */
const LABEL = Buffer.from('5c2e2f2f5e5c', 'hex');
/** KEM ID, from the draft. */
const KEM = 0x647a;
const INFO = 'age-encryption.org/mlkem768x25519';

interface Halves {
  readonly mlKem: KeyObject;
  readonly x25519: Buffer;
}

/**
 * Derives both private keys.
 * @param secret seed of both halves
 */
function halvesOf(secret: Uint8Array): Halves {
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
    const publicKey = Buffer.concat([
      rawPublic(createPublicKey(halves.mlKem)),
      x25519PublicOf(halves.x25519),
    ]);
    wipe(halves.x25519);
    return publicKey;
  },
  seal(publicKey, plaintext) {
    const { shared, sent } = encapsulated(publicKey);
    const publicShare = publicKey.subarray(ML_KEM_PUBLIC_BYTES);
    const { secret, share } = ephemeralX25519();
    const x = x25519(secret, publicShare);
    wipe(secret);
    if (x === undefined) throw lowOrderRecipient();
    const { key, nonce } = keyOfOneMessage(KEM, INFO, combined(shared, x, share, publicShare));
    return {
      encapsulated: Buffer.concat([sent, share]),
      body: sealOnce(key, nonce, plaintext),
    };
  },
  open(secret, publicKey, { encapsulated: sent, body }: SealedSecret) {
    const halves = halvesOf(secret);
    const share = sent.subarray(ML_KEM_CIPHERTEXT_BYTES);
    const x = x25519(halves.x25519, share);
    wipe(halves.x25519);
    if (x === undefined) throw lowOrderShare();
    const mlKem = decapsulate(halves.mlKem, sent.subarray(0, ML_KEM_CIPHERTEXT_BYTES));
    const publicShare = publicKey.subarray(ML_KEM_PUBLIC_BYTES);
    const { key, nonce } = keyOfOneMessage(KEM, INFO, combined(Buffer.from(mlKem), x, share, publicShare));
    return openOnce(key, nonce, body);
  },
};
