import { createHash, type Hash } from 'node:crypto';
import { wipe } from '../../../ground/bytes.ts';
import type { HashNames } from './hashes.ts';
import { encryptWith, isSignatureOf, type Keys, type KeyVersion, signatureBytes } from './keys.ts';
import { digestOf, requireOaep, type Scheme, schemeOf } from './mechanisms.ts';
import type { TokenObject } from './objects.ts';
import { Refused, refuse } from './return-values.ts';
import type { Mechanism } from './rpc/mechanisms.ts';
import { NO_ARRAY } from './rpc/wire.ts';

/**
 * What a session is in the middle of. Each is begun, given data in one piece or in several, and ended; none of them keeps more than a
 * hash, or what fits into one.
 */

/** An answer to a program that has room for so much: the bytes, or how many they would be. */
export type Filling = Buffer | number;

/** Whether so many bytes fit. A buffer of no size is sent as the largest number, to be told from a question about the length. */
export const hasRoom = (room: number, bytes: number): boolean =>
  room !== NO_ARRAY && room >= bytes && room > 0;

/** Bytes that are sent to be hashed; of more only the digest travels. */
const MOST_HASHED_ELSEWHERE = 16 * 1024;
/** As long as the longest modulus. */
const MOST_RAW_BYTES = 512;

/** Data in pieces: hashed, or put together where programs bring a digest. */
class Gathered {
  readonly #hash: Hash | undefined;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(hash: HashNames | undefined) {
    this.#hash = hash && createHash(hash.node);
  }

  /** @throws `Refused` */
  add(piece: Buffer): this {
    if (this.#hash !== undefined) this.#hash.update(piece);
    else if (this.#bytes.length + piece.length > MOST_RAW_BYTES) throw new Refused('dataLengthRange');
    else this.#bytes = Buffer.concat([this.#bytes, piece]);
    return this;
  }

  done(): Buffer {
    return this.#hash?.digest() ?? this.#bytes;
  }
}

const requireKey = ({ key }: TokenObject, isPrivate: boolean): KeyVersion =>
  key?.isPrivate === isPrivate ? key.version : refuse('keyHandleInvalid');

export class Digesting {
  readonly bytes: number;
  readonly #gathered: Gathered;
  /** Something came in pieces. */
  inPieces = false;

  constructor(mechanism: Mechanism) {
    const hash = digestOf(mechanism);
    this.bytes = hash.bytes;
    this.#gathered = new Gathered(hash);
  }

  add(piece: Buffer): void {
    this.#gathered.add(piece);
  }

  done(): Buffer {
    return this.#gathered.done();
  }
}

export class Signing {
  /** Bytes of the signature. */
  readonly bytes: number;
  inPieces = false;
  readonly #version: KeyVersion;
  readonly #scheme: Scheme;
  readonly #gathered: Gathered;

  /** @throws `Refused` */
  constructor(object: TokenObject, mechanism: Mechanism) {
    this.#version = requireKey(object, true);
    this.#scheme = schemeOf(mechanism, this.#version.kind);
    if (!this.#version.signs) refuse('keyFunctionNotPermitted');
    this.#gathered = new Gathered(this.#scheme.hash);
    this.bytes = signatureBytes(this.#version);
  }

  add(piece: Buffer): void {
    this.#gathered.add(piece);
  }

  /** Signs what came in pieces. @throws `Refused`, and what the store throws. */
  done(keys: Keys, gone: AbortSignal): Promise<Buffer> {
    const digest = this.#gathered.done();
    if (!this.#scheme.fits(digest)) refuse('dataLengthRange');
    return keys.sign(this.#version, this.#scheme, { input: digest, isDigest: true }, gone);
  }

  /** Signs what came in one piece. What is short is hashed where it is signed, which costs less. @throws as `done`. */
  whole(data: Buffer, keys: Keys, gone: AbortSignal): Promise<Buffer> {
    if (this.#scheme.hash === undefined || data.length > MOST_HASHED_ELSEWHERE) {
      this.add(data);
      return this.done(keys, gone);
    }
    return keys.sign(this.#version, this.#scheme, { input: data, isDigest: false }, gone);
  }
}

export class Verifying {
  inPieces = false;
  readonly #version: KeyVersion;
  readonly #scheme: Scheme;
  readonly #gathered: Gathered;

  /** @throws `Refused` */
  constructor(object: TokenObject, mechanism: Mechanism) {
    this.#version = requireKey(object, false);
    this.#scheme = schemeOf(mechanism, this.#version.kind);
    this.#gathered = new Gathered(this.#scheme.hash);
  }

  add(piece: Buffer): void {
    this.#gathered.add(piece);
  }

  /** @throws `Refused` for a signature that is not valid. */
  async done(signature: Buffer): Promise<void> {
    const digest = this.#gathered.done();
    if (!this.#scheme.fits(digest)) refuse('dataLengthRange');
    if (signature.length !== signatureBytes(this.#version)) refuse('signatureLengthRange');
    if (!(await isSignatureOf(this.#version, this.#scheme, digest, signature))) refuse('signatureInvalid');
  }
}

/** What OAEP with SHA-256 takes of the modulus. */
const OAEP_BYTES = 66;

export class Encrypting {
  /** Bytes of the ciphertext. */
  readonly bytes: number;
  readonly #version: KeyVersion;

  /** @throws `Refused` */
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
  /** Bytes of the longest plaintext. */
  readonly most: number;
  readonly #version: KeyVersion;
  readonly #ciphertextBytes: number;
  /** Decrypted for a program that has to come again with more room. */
  #kept: { readonly ciphertext: Buffer; readonly plaintext: Buffer } | undefined;

  /** @throws `Refused` */
  constructor(object: TokenObject, mechanism: Mechanism) {
    this.#version = requireKey(object, true);
    requireOaep(mechanism, this.#version.kind);
    if (!this.#version.decrypts) refuse('keyFunctionNotPermitted');
    this.#ciphertextBytes = signatureBytes(this.#version);
    this.most = this.#ciphertextBytes - OAEP_BYTES;
  }

  /** @throws `Refused`, and what the store throws. */
  async done(keys: Keys, ciphertext: Buffer, gone: AbortSignal): Promise<Buffer> {
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
