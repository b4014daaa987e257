import { createSecretKey, type KeyObject } from 'node:crypto';
import { decodeBase64 } from '../ground/base64.ts';
import { wipe, wiping } from '../ground/bytes.ts';
import { type CofferError, corrupt, invalid, ownWords } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import { convergentVersionOf, NONCE_KEY_BYTES } from './convergent.ts';
import { counterMode, hkdfExpand, hkdfExtract } from './derivation.ts';
import type { NamedKeyDocument, VersionDocument } from './key-document.ts';
import { type AeadCipher, type Derivation, KDF_COUNTER, type KeyType } from './key-types/key-type.ts';

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
    { field: 'context', hint: 'decrypting needs the context that was used for encrypting' },
  );

const badLength = ({ name }: NamedKeyDocument): CofferError =>
  corrupt(ownWords('could not derive enc key, length not correct'), {
    field: 'name',
    hint: `key "${name}" was restored with a derivation function that does not fit its type`,
  });
