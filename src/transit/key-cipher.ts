import { decodeBase64, encodeBase64 } from '../ground/base64.ts';
import { type CofferError, inauthentic, invalid, ownWords, unsupported } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import {
  CIPHERTEXT,
  decodePayload,
  keyFormat,
  parseVersioned,
  printVersioned,
  requireUsableVersion,
  type VersionFormat,
} from './ciphertext.ts';
import {
  CALLER_NONCE_BYTES,
  type ConvergentVersion,
  convergentVersionOf,
  type DerivationContext,
  nonceOf,
  type OpenMaterial,
} from './context-keys.ts';
import type { Engine } from './engine.ts';
import { hashNamed, hashNames } from './hashing.ts';
import type { Aead, AeadCipher } from './key-types/key-type.ts';
import type { DigestHashName } from './key-types/prehash/digest-hash.ts';
import { type KeyVersion, type NamedKey, requireNotSoftDeleted } from './named-key.ts';
import { requireVersion, versionToWriteWith } from './version-choice.ts';

const SHORT_NONCE_BYTES = 12;

/** Inputs of an encryption besides the key. */
interface CipherInputs {
  readonly context?: DerivationContext | undefined;
  /** Base64; absent or empty for none. */
  readonly associatedData?: string | undefined;
  /** Base64 of 12 bytes; only for convergent keys of version 1. */
  readonly nonce?: string | undefined;
  /** RSA only. */
  readonly oaepHash?: DigestHashName | undefined;
}

interface EncryptRequest extends CipherInputs {
  readonly plaintext: Uint8Array;
  /** 0 for the latest. */
  readonly keyVersion: number;
}

export interface DecryptRequest extends CipherInputs {
  readonly ciphertext: string;
}

export interface Encrypted {
  readonly ciphertext: string;
  readonly keyVersion: number;
}

/** Encrypts and decrypts messages with one named key. Formats and errors are Vault-compatible. */
export class KeyCipher {
  readonly #key: NamedKey;
  readonly #format: VersionFormat;
  readonly #engine: Engine;

  constructor(engine: Engine, key: NamedKey) {
    this.#key = key;
    this.#format = keyFormat(engine, key.document);
    this.#engine = engine;
  }

  /**
   * Encrypts a message.
   * @param index position of the item in its batch; errors name the item's `associated_data`
   * @throws `invalid` or `unsupported`
   */
  encrypt(request: EncryptRequest, index?: number): MaybePromise<Encrypted> {
    const { type } = this.#key;
    requireNotSoftDeleted(this.#key);
    if (!this.#key.encrypts) throw notSupported('encryption', type.name);
    const version = versionToWriteWith(this.#key, request.keyVersion, 'encryption');
    if (type.publicKeyEncryption !== undefined) {
      refuseAssociatedData(request, type.name, index);
      nonceToEncryptWith(0, request);
      return this.#print(version, [
        type.publicKeyEncryption.encrypt(version.material, request.plaintext, request.oaepHash),
      ]);
    }
    const aead = requireAead(type.aead);
    const convergent = convergentVersionOf(this.#key.document, version.document);
    const callerNonce = nonceToEncryptWith(convergent, request);
    const open = this.#open(version, request.context);
    const associatedData = associatedDataToSeal(convergent, request);
    const seal = (cipher: AeadCipher): Encrypted => {
      const nonce = callerNonce ?? this.#nonce(convergent, aead, open, request, version);
      const sealed = cipher.encrypt(nonce, request.plaintext, associatedData);
      return this.#print(version, convergent === 1 ? sealed : [nonce, ...sealed]);
    };
    const { cipher } = open;
    return cipher instanceof Promise ? cipher.then(seal) : seal(cipher);
  }

  /**
   * Decrypts a message.
   * @param index position of the item in its batch; errors name the item's `associated_data`
   * @throws `invalid` or `unsupported`
   */
  decrypt(request: DecryptRequest, index?: number): MaybePromise<Buffer> {
    const { type, document } = this.#key;
    requireNotSoftDeleted(this.#key);
    if (!this.#key.encrypts) throw notSupported('decryption', type.name);
    const { version: written, payload } = parseVersioned(request.ciphertext, this.#format, CIPHERTEXT);
    // Data from before versions existed has version 0.
    const number = written === 0 ? 1 : written;
    requireUsableVersion(number, document, CIPHERTEXT);
    const sealed = decodePayload(payload, CIPHERTEXT, 'invalid ciphertext: could not decode base64');
    const version = requireVersion(this.#key, number);
    if (type.publicKeyEncryption !== undefined) {
      refuseAssociatedData(request, type.name, index);
      if (!version.hasSecret) throw noPrivateCounterpart();
      return type.publicKeyEncryption.decrypt(version.material, sealed, request.oaepHash);
    }
    const { nonceBytes } = requireAead(type.aead);
    const convergent = convergentVersionOf(document, version.document);
    const callerNonce = convergent === 1 ? nonceToDecryptWith(request) : undefined;
    const open = this.#open(version, request.context);
    const associatedData = decodeAssociatedData(request);
    if (callerNonce === undefined && sealed.length < nonceBytes) throw tooShort();
    const nonce = callerNonce ?? sealed.subarray(0, nonceBytes);
    const body = callerNonce === undefined ? sealed.subarray(nonceBytes) : sealed;
    const { cipher } = open;
    return cipher instanceof Promise
      ? cipher.then((ready) => ready.decrypt(nonce, body, associatedData))
      : cipher.decrypt(nonce, body, associatedData);
  }

  #open(version: KeyVersion, context: DerivationContext | undefined): OpenMaterial {
    return this.#key.document.derived ? version.contextKeys.of(context) : version.own;
  }

  #nonce(
    convergent: ConvergentVersion,
    { nonceBytes }: Aead<unknown>,
    open: OpenMaterial,
    { plaintext, context }: EncryptRequest,
    { number }: KeyVersion,
  ): Buffer {
    if (convergent === 3 && open.nonceKey !== undefined) {
      return nonceOf(open.nonceKey, plaintext, nonceBytes);
    }
    if (convergent === 2 && context !== undefined) return nonceOf(context.bytes, plaintext, nonceBytes);
    if (convergent !== 0)
      throw new TypeError(`convergent version ${convergent} without the input of its nonce`);
    // Longer ones may be drawn without end.
    if (nonceBytes === SHORT_NONCE_BYTES)
      this.#engine.messages?.add(this.#engine, this.#key.document, number);
    return this.#engine.random.bytes(nonceBytes);
  }

  #print(version: KeyVersion, parts: readonly Uint8Array[]): Encrypted {
    const payload = encodeBase64(Buffer.concat(parts));
    return { ciphertext: printVersioned(this.#format, version.number, payload), keyVersion: version.number };
  }
}

function requireAead(aead: Aead<unknown> | undefined): Aead<unknown> {
  if (aead === undefined) throw new TypeError('the type encrypts in no known way');
  return aead;
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';

/** Returns the caller's nonce, which is required for version 1 and not allowed for any other. */
function nonceToEncryptWith(convergent: ConvergentVersion, { nonce }: CipherInputs): Buffer | undefined {
  if (convergent !== 1) {
    if (!isGiven(nonce)) return undefined;
    throw invalid(ownWords('provided nonce not allowed for this key'), {
      field: 'nonce',
      hint: 'omit the nonce: this key generates its own',
    });
  }
  const bytes = isGiven(nonce) ? decodeBase64(nonce, 'nonce') : undefined;
  if (bytes?.length === CALLER_NONCE_BYTES) return bytes;
  throw invalid(
    ownWords('base64-decoded nonce must be 12 bytes long when using convergent encryption with this key'),
    {
      field: 'nonce',
      hint: 'use base64 of 12 bytes that are never reused with the same context',
    },
  );
}

/** Returns the caller's nonce for decryption, which only version 1 uses; old clients send one for every key. */
function nonceToDecryptWith({ nonce }: CipherInputs): Buffer {
  const bytes = isGiven(nonce) ? decodeBase64(nonce, 'nonce') : undefined;
  if (bytes?.length === CALLER_NONCE_BYTES) return bytes;
  throw invalid(ownWords('invalid convergent nonce supplied'), {
    field: 'nonce',
    hint: 'use the 12 bytes that the data was encrypted with, as base64',
  });
}

function decodeAssociatedData({ associatedData }: CipherInputs): Buffer | undefined {
  if (!isGiven(associatedData)) return undefined;
  try {
    return decodeBase64(associatedData);
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    throw invalid(`unable to get associated_data/additional_data from factory[0]: ${reason}`, {
      field: 'associated_data',
      hint: 'use standard base64 with padding',
    });
  }
}

/**
 * Decodes associated data to authenticate. With a nonce computed from the plaintext alone, two different associated
 * data would yield two tags under one nonce, from which the authentication key of GCM and Poly1305 can be computed.
 * Decrypting such ciphertexts of Vault is harmless.
 * @see docs/decisions/0011
 */
function associatedDataToSeal(convergent: ConvergentVersion, inputs: CipherInputs): Buffer | undefined {
  const bytes = decodeAssociatedData(inputs);
  if (bytes === undefined || convergent === 0 || convergent === 1) return bytes;
  throw unsupported(ownWords('associated_data is not supported with convergent encryption'), {
    field: 'associated_data',
    hint: 'move the associated data into the context, or use a key that is not convergent',
  });
}

/**
 * Refuses associated data.
 * @param index position of the item in its batch
 */
export function refuseAssociatedData(
  { associatedData }: CipherInputs,
  typeName: string,
  index?: number | undefined,
): void {
  if (!isGiven(associatedData)) return;
  const member = index === undefined ? 'associated_data' : `[${index}].associated_data`;
  throw unsupported(`'${member}' provided for non-AEAD cipher suite ${typeName}`, {
    field: 'associated_data',
    hint: 'omit this option, or use a symmetric key',
  });
}

/**
 * Checks the RSA padding named by the caller. Only OAEP is supported: PKCS #1 v1.5 reveals plaintexts to an attacker
 * who can submit ciphertexts and observe how decryption fails.
 * @param member parameter name, for messages
 * @param index position of the item in its batch
 * @throws `unsupported` for another padding, or a key that does not pad
 */
export function requirePaddingScheme(
  { type }: NamedKey,
  scheme: string | undefined,
  member: string,
  index?: number,
): void {
  if (!isGiven(scheme) || scheme === type.publicKeyEncryption?.paddingScheme) return;
  const refused = index === undefined ? `${member} argument invalid` : `'[${index}].${member}' invalid`;
  const padding = type.publicKeyEncryption?.paddingScheme;
  throw padding === undefined
    ? unsupported(`${refused}: unsupported key type ${type.name} for padding scheme`, {
        field: member,
        hint: 'omit this option, which is for RSA keys',
      })
    : unsupported(`${refused}: unsupported padding scheme ${scheme}`, {
        field: member,
        hint: `use ${padding}, or omit the padding scheme`,
      });
}

/**
 * Returns the hash of RSA's padding; SHA-256 if the caller names none.
 * @param member parameter name, for messages
 * @throws `unsupported` for a key that does not pad; `invalid` for an unknown hash
 */
export function oaepHashOf(
  { type }: NamedKey,
  name: string | undefined,
  member: string,
): DigestHashName | undefined {
  if (!isGiven(name)) return undefined;
  if (type.publicKeyEncryption?.paddingScheme === undefined) {
    throw unsupported(`${member} is not supported for key type ${type.name}`, {
      field: member,
      hint: 'omit this option, which is for the padding of RSA keys',
    });
  }
  if (hashNamed(name) === undefined) {
    throw invalid(`invalid hash algorithm "${name}"`, {
      field: member,
      hint: `use one of ${hashNames().join(', ')}`,
    });
  }
  return name as DigestHashName;
}

const notSupported = (what: 'encryption' | 'decryption', typeName: string): CofferError =>
  unsupported(`message ${what} not supported for key type ${typeName}`, {
    field: 'name',
    hint: 'use an encryption key: symmetric or RSA',
  });

const tooShort = (): CofferError =>
  inauthentic(ownWords('invalid ciphertext length'), {
    field: 'ciphertext',
    hint: 'the ciphertext appears to be truncated',
  });

const noPrivateCounterpart = (): CofferError =>
  unsupported(ownWords('cannot decrypt ciphertext, key version does not have a private counterpart'), {
    field: 'ciphertext',
    hint: 'only the public key of this version was imported; import its private key',
  });
