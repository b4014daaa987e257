import { createHash, type Hash } from 'node:crypto';
import { wipe } from '../../../ground/bytes.ts';
import {
  encryptWith,
  isSignatureOf,
  type OfferedKeys,
  type OfferedKeyVersion,
  signatureBytes,
} from './keys.ts';
import { digestOf, type HashNames, requireOaep, type SigningScheme, schemeOf } from './mechanisms.ts';
import type { TokenObject } from './objects.ts';
import { Refused, refuse } from './return-values.ts';
import { type Mechanism, NO_ARRAY } from './rpc/wire.ts';

/**
 * Multi-part operations of a session. Each is initialized, given data in one or several parts, and finalized; none of
 * them buffers more than a hash state, or the maximum input of a raw signature.
 */

/** Output for a program's buffer: the bytes, or the required length. */
export type BoundedAnswer = Buffer | number;

/**
 * Whether bytes fit into the buffer. A buffer of length 0 is sent as the largest number, to distinguish it from a query
 * for the length.
 */
export const hasRoom = (room: number, bytes: number): boolean =>
  room !== NO_ARRAY && room >= bytes && room > 0;

/** Maximum length of data sent to be hashed, in bytes; for longer data only the digest is sent. */
const MOST_HASHED_ELSEWHERE = 16 * 1024;
/** Maximum length of raw data in bytes, that of the longest modulus. */
const MOST_RAW_BYTES = 512;

/** Data in parts: hashed, or concatenated if programs supply a digest. */
class GatheredData {
  /** Whether data was given in parts. */
  inPieces = false;
  readonly #hash: Hash | undefined;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(hash: HashNames | undefined) {
    this.#hash = hash && createHash(hash.node);
  }

  /**
   * Adds a part.
   * @throws `Refused`
   */
  add(piece: Buffer): void {
    if (this.#hash !== undefined) this.#hash.update(piece);
    else if (this.#bytes.length + piece.length > MOST_RAW_BYTES) throw new Refused('dataLengthRange');
    else this.#bytes = Buffer.concat([this.#bytes, piece]);
  }

  gathered(): Buffer {
    return this.#hash?.digest() ?? this.#bytes;
  }
}

export class Digesting extends GatheredData {
  readonly bytes: number;

  constructor(mechanism: Mechanism) {
    const hash = digestOf(mechanism);
    super(hash);
    this.bytes = hash.bytes;
  }
}

const requireKey = ({ key }: TokenObject, isPrivate: boolean): OfferedKeyVersion =>
  key?.isPrivate === isPrivate ? key.version : refuse('keyHandleInvalid');

/** Operation of a signature: its key, how that signs, and the data. */
class SignatureOperation extends GatheredData {
  /** Length of the signature, in bytes. */
  readonly bytes: number;
  protected readonly version: OfferedKeyVersion;
  protected readonly scheme: SigningScheme;

  /** @throws `Refused` if the key or the mechanism does not allow it */
  constructor(version: OfferedKeyVersion, mechanism: Mechanism) {
    const scheme = schemeOf(mechanism, version.kind);
    super(scheme.hash);
    this.version = version;
    this.scheme = scheme;
    this.bytes = signatureBytes(version);
  }

  /** Returns the digest of the data, if one of its length can be signed. */
  protected digest(): Buffer {
    const digest = this.gathered();
    return this.scheme.fits(digest) ? digest : refuse('dataLengthRange');
  }
}

export class SignOperation extends SignatureOperation {
  /**
   * Starts the operation.
   * @throws `Refused` if the key or the mechanism does not allow it
   */
  constructor(object: TokenObject, mechanism: Mechanism) {
    super(requireKey(object, true), mechanism);
    if (!this.version.signs) refuse('keyFunctionNotPermitted');
  }

  /**
   * Signs data given in parts.
   * @throws `Refused`, and errors of the store
   */
  done(keys: OfferedKeys, gone: AbortSignal): Promise<Buffer> {
    return keys.sign(this.version, this.scheme, { input: this.digest(), isDigest: true }, gone);
  }

  /**
   * Signs data given as a whole. Short data is hashed where it is signed, which costs less.
   * @throws as `done`
   */
  whole(data: Buffer, keys: OfferedKeys, gone: AbortSignal): Promise<Buffer> {
    if (this.scheme.hash === undefined || data.length > MOST_HASHED_ELSEWHERE) {
      this.add(data);
      return this.done(keys, gone);
    }
    return keys.sign(this.version, this.scheme, { input: data, isDigest: false }, gone);
  }
}

export class VerifyOperation extends SignatureOperation {
  /**
   * Starts the operation.
   * @throws `Refused` if the key or the mechanism does not allow it
   */
  constructor(object: TokenObject, mechanism: Mechanism) {
    super(requireKey(object, false), mechanism);
  }

  /**
   * Verifies a signature.
   * @throws `Refused` if it is not valid
   */
  async done(signature: Buffer): Promise<void> {
    const digest = this.digest();
    if (signature.length !== this.bytes) refuse('signatureLengthRange');
    if (!(await isSignatureOf(this.version, this.scheme, digest, signature))) refuse('signatureInvalid');
  }
}

/** Overhead of OAEP with SHA-256, in bytes. */
const OAEP_BYTES = 66;

export class Encrypting {
  /** Length of the ciphertext, in bytes. */
  readonly bytes: number;
  readonly #version: OfferedKeyVersion;

  /**
   * Starts the operation.
   * @throws `Refused` if the key or the mechanism does not allow it
   */
  constructor(object: TokenObject, mechanism: Mechanism) {
    this.#version = requireKey(object, false);
    requireOaep(mechanism, this.#version.kind);
    this.bytes = signatureBytes(this.#version);
  }

  done(plaintext: Buffer): Buffer {
    if (plaintext.length > this.bytes - OAEP_BYTES) refuse('dataLengthRange');
    return encryptWith(this.#version, plaintext);
  }
}

export class Decrypting {
  /** Length of the longest plaintext, in bytes. */
  readonly most: number;
  readonly #version: OfferedKeyVersion;
  readonly #ciphertextBytes: number;
  /** Plaintext for a program that has to repeat the call with a larger buffer. */
  #kept: { readonly ciphertext: Buffer; readonly plaintext: Buffer } | undefined;

  /**
   * Starts the operation.
   * @throws `Refused` if the key or the mechanism does not allow it
   */
  constructor(object: TokenObject, mechanism: Mechanism) {
    this.#version = requireKey(object, true);
    requireOaep(mechanism, this.#version.kind);
    if (!this.#version.decrypts) refuse('keyFunctionNotPermitted');
    this.#ciphertextBytes = signatureBytes(this.#version);
    this.most = this.#ciphertextBytes - OAEP_BYTES;
  }

  /**
   * Decrypts.
   * @throws `Refused`, and errors of the store
   */
  async done(keys: OfferedKeys, ciphertext: Buffer, gone: AbortSignal): Promise<Buffer> {
    if (ciphertext.length !== this.#ciphertextBytes) refuse('encryptedDataLengthRange');
    if (!this.#kept?.ciphertext.equals(ciphertext)) {
      const plaintext = await keys.decrypt(this.#version, ciphertext, gone);
      this.forget();
      this.#kept = { ciphertext: Buffer.from(ciphertext), plaintext };
    }
    return this.#kept?.plaintext ?? refuse('generalError');
  }

  forget(): void {
    wipe(this.#kept?.plaintext);
    this.#kept = undefined;
  }
}
