import { createECDH, createHash, ECDH } from 'node:crypto';
import { wipe } from '../../../ground/bytes.ts';
import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { keyOfOneMessage, labelledBy } from './hpke.ts';
import { extract, type SealedSecret, sealOnce } from './kem.ts';
import { encapsulated, ML_KEM_PUBLIC_BYTES } from './ml-kem.ts';

/**
 * Recipients whose private key is in hardware (C2SP age.md, "tag"): P-256, alone or with ML-KEM-768. Their stanzas have a short tag
 * first, by which a device is asked about its own alone. They are only written to: no device hands out its key.
 */
export interface TaggedKem {
  readonly stanza: string;
  /** What recipients begin with, before the last `1`. */
  readonly recipientPrefix: string;
  readonly isPostQuantum: boolean;
  readonly publicBytes: number;
  /** @throws `invalid` when the public key is none. */
  seal(publicKey: Uint8Array, plaintext: Uint8Array): SealedSecret & { readonly tag: Buffer };
}

const CURVE = 'prime256v1';
const COMPRESSED_BYTES = 33;
const UNCOMPRESSED_BYTES = 65;
/** Numbers of key encapsulations (RFC 9180, 7.1, and draft-ietf-hpke-pq). */
const DHKEM_P256 = 0x0010;
const MLKEM768_P256 = 0x0050;
const HYBRID_LABEL = 'MLKEM768-P256';
const TAG_BYTES = 4;
const NONE = Buffer.alloc(0);

/** Labeled functions of the KEM's own suite (RFC 9180, 4.1). */
const dhKem = labelledBy(Buffer.from('KEM\0\x10', 'latin1'));

/** @returns the same point in the other form. @throws `invalid` when it is none of the curve. */
function converted(point: Uint8Array, form: 'compressed' | 'uncompressed'): Buffer {
  try {
    const other: string | Buffer = ECDH.convertKey(Buffer.from(point), CURVE, undefined, undefined, form);
    return Buffer.from(other as unknown as Uint8Array);
  } catch (error) {
    throw invalid(ownWords('this recipient is no public key of P-256'), { cause: error });
  }
}

/** A key pair for one message, and the secret that it has in common with a point. */
function agreed(point: Buffer): { readonly secret: Buffer; readonly share: Buffer } {
  const ephemeral = createECDH(CURVE);
  const share = ephemeral.generateKeys();
  return { secret: ephemeral.computeSecret(point), share };
}

/** The hint by which a recipient knows its stanzas: of what was sent, and of its own point. */
function tagOf(info: string, sent: Buffer, point: Uint8Array): Buffer {
  const hash = createHash('sha256').update(point).digest().subarray(0, TAG_BYTES);
  return extract(Buffer.from(info), Buffer.concat([sent, hash])).subarray(0, TAG_BYTES);
}

const CLASSICAL = 'p256tag';
const CLASSICAL_INFO = `age-encryption.org/${CLASSICAL}`;
const HYBRID = 'mlkem768p256tag';
const HYBRID_INFO = `age-encryption.org/${HYBRID}`;

/** The stanza `p256tag`. */
const classical: TaggedKem = {
  stanza: CLASSICAL,
  recipientPrefix: 'age1tag',
  isPostQuantum: false,
  publicBytes: COMPRESSED_BYTES,
  seal(publicKey, plaintext) {
    const point = converted(publicKey, 'uncompressed');
    const { secret, share } = agreed(point);
    const pseudorandom = dhKem.extract(NONE, 'eae_prk', secret);
    wipe(secret);
    const shared = dhKem.expand(pseudorandom, 'shared_secret', Buffer.concat([share, point]), 32);
    wipe(pseudorandom);
    const { key, nonce } = keyOfOneMessage(DHKEM_P256, CLASSICAL_INFO, shared);
    const body = sealOnce(key, nonce, plaintext);
    wipe(key);
    return { tag: tagOf(CLASSICAL_INFO, share, publicKey), encapsulated: share, body };
  },
};

/** The stanza `mlkem768p256tag`. */
const hybrid: TaggedKem = {
  stanza: HYBRID,
  recipientPrefix: 'age1tagpq',
  isPostQuantum: true,
  publicBytes: ML_KEM_PUBLIC_BYTES + UNCOMPRESSED_BYTES,
  seal(publicKey, plaintext) {
    const point = Buffer.from(publicKey.subarray(ML_KEM_PUBLIC_BYTES));
    // The shorter forms of a point are as long as they say, so this one is uncompressed; it must be on the curve.
    if (point[0] !== 4) throw invalid(ownWords('this recipient is no public key of P-256'));
    converted(point, 'compressed');
    const quantum = encapsulated(publicKey);
    const { secret, share } = agreed(point);
    const hash = createHash('sha3-256').update(quantum.shared).update(secret).update(share).update(point);
    const shared = hash.update(HYBRID_LABEL).digest();
    wipe(quantum.shared, secret);
    const { key, nonce } = keyOfOneMessage(MLKEM768_P256, HYBRID_INFO, shared);
    const body = sealOnce(key, nonce, plaintext);
    wipe(key);
    const sent = Buffer.concat([quantum.sent, share]);
    return { tag: tagOf(HYBRID_INFO, sent, point), encapsulated: sent, body };
  },
};

export const taggedKems: readonly TaggedKem[] = [classical, hybrid];
