import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { authenticated, TAG_BYTES, wipe, wiping } from '../../../ground/bytes.ts';

/**
 * Key encapsulation that wraps a short secret for the holder of a private key, as in the age format (C2SP, age.md). Its
 * stanzas have the encapsulated key as last argument, and the secret and a tag as body.
 */
export interface AgeKem {
  /** Stanza type. */
  readonly stanza: string;
  /** Prefix of recipients, before the last `1`. */
  readonly recipientPrefix: string;
  /** Prefix of identities, in lower case; absent if age has no text form for private keys. */
  readonly identityPrefix?: string;
  readonly isPostQuantum: boolean;
  /** Length of a public key, in bytes. */
  readonly publicBytes: number;
  /** Length of the encapsulated key, a stanza's last argument. */
  readonly encapsulatedBytes: number;
  /**
   * Present if bytes of the right length may not be a valid public key: checks that they are, in its only encoding, and
   * do not yield the same shared secret for everyone. Cheap: whether a point is on its curve is found by `seal`.
   */
  isSound?(publicKey: Uint8Array): boolean;
  /** Present if not every 32 bytes are a valid private key. */
  isSecret?(bytes: Uint8Array): boolean;
  /**
   * Derives the public key.
   * @param secret private key, 32 bytes
   */
  publicOf(secret: Uint8Array): Buffer;
  /** Present if stanzas begin with a tag of 4 bytes, by which anyone who knows the public key finds those for it. */
  tag?(publicKey: Uint8Array, encapsulated: Uint8Array): Buffer;
  /**
   * Wraps a secret.
   * @throws `invalid` for an invalid public key, or one that yields the same shared secret for everyone
   */
  seal(publicKey: Uint8Array, plaintext: Uint8Array): SealedSecret;
  /**
   * Unwraps a secret.
   * @returns undefined if it was not wrapped for this key, or was altered
   * @throws `inauthentic` for an encapsulated key that no honest sender creates
   */
  open(secret: Uint8Array, publicKey: Uint8Array, sealed: SealedSecret): Buffer | undefined;
}

/** Key encapsulation whose private keys have a text form in age. */
export type WrittenKem = AgeKem & { readonly identityPrefix: string };

export interface SealedSecret {
  readonly encapsulated: Uint8Array;
  readonly body: Uint8Array;
}

export const SECRET_BYTES = 32;
export const STANZA_TAG_BYTES = 4;
/** Node's name of age's only cipher, used for wrapping and for payloads. */
export const AGE_CIPHER = 'chacha20-poly1305';
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/** Encrypts with ChaCha20-Poly1305 (RFC 8439) under a single-use key. */
export function sealOnce(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array): Buffer {
  const cipher = createCipheriv(AGE_CIPHER, key, nonce, OPTIONS);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts, the inverse of {@link sealOnce}; undefined if it is not authentic. */
export function openOnce(key: Uint8Array, nonce: Uint8Array, body: Uint8Array): Buffer | undefined {
  return authenticated(createDecipheriv(AGE_CIPHER, key, nonce, OPTIONS), body);
}

/** Nonce of single-use keys. */
export const ZERO_NONCE = Buffer.alloc(12);

/** HKDF-SHA256 (RFC 5869) in its two steps; the second one returns at most 32 bytes. */
export const extract = (salt: Uint8Array, inputKey: Uint8Array): Buffer =>
  createHmac('sha256', salt).update(inputKey).digest();
export const expand = (key: Uint8Array, info: string | Uint8Array, bytes = 32): Buffer =>
  createHmac('sha256', key)
    .update(info)
    .update(Buffer.from([1]))
    .digest()
    .subarray(0, bytes);

/**
 * HPKE in base mode (RFC 9180, 4 to 6.1) as age uses it: HKDF-SHA256, ChaCha20-Poly1305, one message without associated
 * data.
 */

const BASE_MODE = 0;
const NONE = Buffer.alloc(0);

/**
 * Creates LabeledExtract and LabeledExpand of one suite (RFC 9180, 4).
 * @param suite `suite_id`
 */
export function labelledBy(suite: Uint8Array) {
  const labelled = (label: string): Buffer =>
    Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label)]);
  return {
    extract: (salt: Uint8Array, label: string, inputKey: Uint8Array): Buffer =>
      extract(salt, Buffer.concat([labelled(label), inputKey])),
    expand(key: Uint8Array, label: string, context: Uint8Array, bytes: number): Buffer {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes);
      return expand(key, Buffer.concat([length, labelled(label), context]), bytes);
    },
  };
}

/** KEM of messages, by its ID in the HPKE registry, and their purpose. */
export interface HpkeUse {
  readonly kem: number;
  readonly info: string;
}

/**
 * Encrypts the only message.
 * @param shared shared secret of the KEM, which is overwritten
 */
export function sealMessage(use: HpkeUse, shared: Buffer, plaintext: Uint8Array): Buffer {
  const { key, nonce } = keyOfOneMessage(use.kem, use.info, shared);
  return wiping(key, () => sealOnce(key, nonce, plaintext));
}

/** Decrypts it, the inverse of {@link sealMessage}; undefined if it is not authentic. */
export function openMessage(use: HpkeUse, shared: Buffer, body: Uint8Array): Buffer | undefined {
  const { key, nonce } = keyOfOneMessage(use.kem, use.info, shared);
  return wiping(key, () => openOnce(key, nonce, body));
}

/**
 * Derives key and nonce of the only message (RFC 9180, 5.1, `KeySchedule` of base mode).
 * @param shared shared secret of the KEM, which is overwritten
 */
export function keyOfOneMessage(
  kem: number,
  info: string,
  shared: Buffer,
): { readonly key: Buffer; readonly nonce: Buffer } {
  const id = Buffer.alloc(2);
  id.writeUInt16BE(kem);
  // KDF 0x0001, AEAD 0x0003 (RFC 9180, 7).
  const labelled = labelledBy(Buffer.concat([Buffer.from('HPKE'), id, Buffer.from('00010003', 'hex')]));
  const context = Buffer.concat([
    Buffer.from([BASE_MODE]),
    labelled.extract(NONE, 'psk_id_hash', NONE),
    labelled.extract(NONE, 'info_hash', Buffer.from(info)),
  ]);
  const secret = labelled.extract(shared, 'secret', NONE);
  wipe(shared);
  return {
    key: labelled.expand(secret, 'key', context, 32),
    nonce: labelled.expand(secret, 'base_nonce', context, 12),
  };
}
