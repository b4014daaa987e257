import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { decodeBase64 } from '../ground/base64.ts';
import { wipe, wiping } from '../ground/bytes.ts';
import { type CofferError, corrupt, invalid, ownWords } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { NamedKeyDocument, VersionDocument } from './key-document.ts';
import { type AeadCipher, type Derivation, KDF_COUNTER, type KeyType } from './key-types/key-type.ts';

/**
 * Version of convergent encryption, which determines the nonce of a plaintext:
 * - 0: not convergent; nonces are random
 * - 1: given by the caller, and not part of the ciphertext
 * - 2: HMAC-SHA256 of the plaintext under the context itself
 * - 3: HMAC-SHA256 of the plaintext under a key that is derived together with the cipher key
 *
 * 1 and 2 exist only in restored keys (Vault before 0.10.2). The nonce does not depend on associated data.
 */
export type ConvergentVersion = 0 | 1 | 2 | 3;

/** Length of a caller's nonce in version 1, in bytes: that of the ciphers of its time. */
export const CALLER_NONCE_BYTES = 12;

/** Version of new key versions; keys of Vault 0.6.1 keep their own. */
const CONVERGENT_TODAY = 3;
/** Value in the document of a new convergent key: each version has its own. */
export const VERSIONS_SAY = -1;
/** Length of the nonce key, in bytes. */
const NONCE_KEY_BYTES = 32;

/**
 * Returns the convergent version of a key version: its own value, or else that of the key, where 0 (from before it was
 * recorded) means 1.
 */
export function convergentVersionOf(key: NamedKeyDocument, version: VersionDocument): ConvergentVersion {
  if (!key.convergentEncryption) return 0;
  const recorded = version.convergentVersion === 0 ? key.convergentVersion || 1 : version.convergentVersion;
  if (recorded === 1 || recorded === 2 || recorded === 3) return recorded;
  throw corrupt(`key "${key.name}" has the unknown convergent version ${recorded}`, {
    hint: 'the key was written by a newer Coffer: install a newer one',
  });
}

/** Returns the value that a new version of the key records. */
export function convergentVersionToRecord(
  key: Pick<NamedKeyDocument, 'convergentEncryption' | 'convergentVersion'>,
): number {
  const modern = key.convergentVersion === VERSIONS_SAY || key.convergentVersion > 1;
  return key.convergentEncryption && modern ? CONVERGENT_TODAY : 0;
}

/** Computes the nonce of versions 2 (keyed by the context) and 3 (keyed by a derived key). */
export const nonceOf = (
  nonceKey: KeyObject | Uint8Array,
  plaintext: Uint8Array,
  nonceBytes: number,
): Buffer => createHmac('sha256', nonceKey).update(plaintext).digest().subarray(0, nonceBytes);

const HASH = 'sha256';
const HASH_BYTES = 32;
/** RFC 5869, 2.2: an absent salt is as many zeros as the hash has bytes. */
const NO_SALT = createSecretKey(Buffer.alloc(HASH_BYTES));

/** 32-bit big-endian numbers of the counter mode: the counter, which starts at 0, and the length of 256 bits. */
const FIRST_ROUND = Buffer.from('00000000', 'hex');
const BITS_WANTED = Buffer.from('00000100', 'hex');

/**
 * Derives a key by NIST SP 800-108 in counter mode as Vault and OpenBao use it: HMAC-SHA256, one round, no label and no
 * separator.
 * @returns 32 bytes
 */
export function counterMode(inputKey: Uint8Array, context: Uint8Array): Buffer {
  return createHmac(HASH, inputKey).update(FIRST_ROUND).update(context).update(BITS_WANTED).digest();
}

/** HKDF-Extract with SHA-256 (RFC 5869, 2.2) without salt. Its result serves every context of one key. */
export function hkdfExtract(inputKey: Uint8Array): KeyObject {
  return wiping(createHmac(HASH, NO_SALT).update(inputKey).digest(), createSecretKey);
}

/**
 * HKDF-Expand (RFC 5869, 2.3). `node:crypto` has HKDF, but limits `info` to 1024 bytes, and contexts may be longer.
 * @param bytes at most 64
 * @see docs/decisions/0015
 */
export function hkdfExpand(pseudorandomKey: KeyObject, info: Uint8Array, bytes: number): Buffer {
  const first = createHmac(HASH, pseudorandomKey)
    .update(info)
    .update(Buffer.from([1]))
    .digest();
  if (bytes <= HASH_BYTES) return first.subarray(0, bytes);
  const second = createHmac(HASH, pseudorandomKey)
    .update(first)
    .update(info)
    .update(Buffer.from([2]))
    .digest();
  const both = Buffer.concat([first, second], bytes);
  wipe(first, second);
  return both;
}

/** Key material and the cipher created from it, which is cached for further messages. */
export class OpenMaterial {
  readonly material: unknown;
  /** Key for the nonces of convergent encryption, version 3; only for what a context derives. */
  readonly nonceKey: KeyObject | undefined;
  readonly #type: KeyType;
  #cipher: MaybePromise<AeadCipher> | undefined;

  constructor(type: KeyType, material: unknown, nonceKey?: KeyObject) {
    this.#type = type;
    this.material = material;
    this.nonceKey = nonceKey;
  }

  /** Returns the cipher, for AEAD types only; a promise only until a large dependency is loaded. */
  get cipher(): MaybePromise<AeadCipher> {
    this.#cipher ??= this.#open();
    return this.#cipher;
  }

  #open(): MaybePromise<AeadCipher> {
    if (this.#type.aead === undefined) throw new TypeError(`${this.#type.name} has no cipher`);
    const cipher = this.#type.aead.cipher(this.material);
    if (!(cipher instanceof Promise)) return cipher;
    return cipher.then((ready) => {
      this.#cipher = ready;
      return ready;
    });
  }
}

/** Derivation context as given by the caller. */
export interface DerivationContext {
  /** Base64 text, as given. */
  readonly text: string;
  /** Decoded bytes; not empty. */
  readonly bytes: Buffer;
}

/**
 * Decodes a context.
 * @param text base64; absent, empty, and text that decodes to nothing all mean no context
 * @param field parameter name, for messages
 * @throws `invalid` with the decoder's message
 */
export function decodeContext(text: string | undefined, field = 'context'): DerivationContext | undefined {
  if (text === undefined || text === '') return undefined;
  const bytes = decodeBase64(text, field);
  return bytes.length === 0 ? undefined : { text, bytes };
}

/** Number of contexts cached for each version. */
const REMEMBERED = 128;

/** Keys that contexts derive from one version of a derived key. The most recently used ones are cached. */
export class ContextKeys {
  readonly #type: KeyType;
  readonly #key: NamedKeyDocument;
  readonly #version: VersionDocument;
  readonly #material: () => unknown;
  readonly #derivation: Derivation<unknown>;
  /** Cached keys in order of use, the latest at the end. */
  readonly #kept = new Map<string, OpenMaterial>();
  #pseudorandomKey: KeyObject | undefined;

  /**
   * @param material opens the version's own material; called only if a key has to be derived
   * @throws `corrupt` for a type that does not support derivation, or not the key's function
   */
  constructor(type: KeyType, key: NamedKeyDocument, version: VersionDocument, material: () => unknown) {
    const { derivation } = type;
    if (derivation === undefined || !derivation.kdfs.includes(key.kdf)) throw badLength(key);
    this.#type = type;
    this.#key = key;
    this.#version = version;
    this.#material = material;
    this.#derivation = derivation;
  }

  /**
   * Returns the key of a context.
   * @throws `invalid` without a context
   */
  of(context: DerivationContext | undefined): OpenMaterial {
    if (context === undefined) throw missingContext();
    const known = this.#kept.get(context.text);
    if (known !== undefined) {
      // The order matters only once entries have to be evicted.
      if (this.#kept.size === REMEMBERED) this.#moveToEnd(context.text, known);
      return known;
    }
    const made = this.#make(context.bytes);
    this.#moveToEnd(context.text, made);
    if (this.#kept.size > REMEMBERED) {
      const [oldest = ''] = this.#kept.keys();
      this.#kept.delete(oldest);
    }
    return made;
  }

  #moveToEnd(text: string, key: OpenMaterial): void {
    this.#kept.delete(text);
    this.#kept.set(text, key);
  }

  #make(context: Buffer): OpenMaterial {
    const { keyBytes } = this.#derivation;
    const makesNonces = convergentVersionOf(this.#key, this.#version) === 3;
    const derived = this.#derive(context, makesNonces ? keyBytes + NONCE_KEY_BYTES : keyBytes);
    const material = this.#derivation.materialOf(derived.subarray(0, keyBytes));
    const nonceKey = makesNonces ? createSecretKey(derived.subarray(keyBytes)) : undefined;
    wipe(derived);
    return new OpenMaterial(this.#type, material, nonceKey);
  }

  #derive(context: Buffer, bytes: number): Buffer {
    if (this.#key.kdf !== KDF_COUNTER) return hkdfExpand(this.#extracted(), context, bytes);
    const inputKey = this.#derivation.inputKey(this.#material());
    const derived = wiping(inputKey, () => counterMode(inputKey, context));
    if (derived.length !== bytes) throw badLength(this.#key);
    return derived;
  }

  #extracted(): KeyObject {
    this.#pseudorandomKey ??= wiping(this.#derivation.inputKey(this.#material()), hkdfExtract);
    return this.#pseudorandomKey;
  }
}

const missingContext = (): CofferError =>
  invalid(
    "missing 'context' for key derivation; the key was created using a derived key, which means additional, " +
      'per-request information must be included in order to perform operations with the key',
    { field: 'context', hint: 'set a context; decrypting needs the one that was used for encrypting' },
  );

const badLength = ({ name }: NamedKeyDocument): CofferError =>
  corrupt(ownWords('could not derive enc key, length not correct'), {
    field: 'name',
    hint: `key "${name}" was restored with a derivation function that does not fit its type`,
  });
