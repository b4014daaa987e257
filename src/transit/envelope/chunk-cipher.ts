import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { TAG_BYTES } from '../../ground/bytes.ts';
import { unsupported } from '../../ground/errors.ts';
import type { AGE_CIPHER } from '../key-types/age/kem.ts';
import { brokenEnd, changedChunk, trailing, truncated } from './refusals.ts';

/**
 * Chunked AEAD STREAM (Hoang, Reyhanitabar, Rogaway, Vizár: "Online Authenticated-Encryption and its Nonce-Reuse
 * Misuse-Resistance", 2015): chunk after chunk under one key, with the chunk's number and a last-chunk flag in the
 * nonce. So no chunk can be removed, moved, repeated, appended or taken from another file.
 */

/**
 * Names of `node:crypto`: the cipher of Coffer's own envelopes, and that of age. Its type declarations treat them as
 * different kinds.
 */
type CipherName = 'aes-256-gcm' | typeof AGE_CIPHER;

interface CipherSpec {
  readonly name: CipherName;
  readonly key: KeyObject;
}

/**
 * Processes one chunk.
 * @returns the number of bytes written at the start of `out`
 */
type Apply<R> = (chunk: Uint8Array, index: number, final: boolean, out: Uint8Array) => R;

export interface ChunkCipher {
  readonly seal: Apply<number>;
  /**
   * Decrypts one chunk; nothing is written to `out` before it is authenticated.
   * @returns undefined if it is not authentic
   */
  readonly open: Apply<number | undefined>;
}

/** Cipher that a thread creates, and the direction that it uses. */
export type ThreadCipher = CipherSpec & { readonly way: keyof ChunkCipher };

/** Stage that processes each chunk of a stream. */
export interface ChunkStage {
  /** Length of every chunk in bytes; the last one may be shorter. */
  readonly inputBytes: number;
  /** Maximum output of one chunk, in bytes. */
  readonly outputBytes: number;
  /**
   * Processes one chunk.
   * @param index counts from 0
   * @param out has space for `outputBytes`
   * @returns the number of bytes written at the start of `out`
   */
  transform(chunk: Uint8Array, index: number, final: boolean, out: Uint8Array): number;
  /**
   * Cipher for a thread that processes all chunks of a file, from the first one.
   */
  readonly elsewhere?: ThreadCipher;
}

const OWN: CipherName = 'aes-256-gcm';

/** Maximum number of chunks, the range of the 32-bit counter: 256 TiB in chunks of 64 KiB. */
const MAX_CHUNKS = 2 ** 32;

/** Functions used from `node:crypto`. */
interface CipherMakers {
  readonly createCipheriv: typeof createCipheriv;
  readonly createDecipheriv: typeof createDecipheriv;
}

/** Encrypts and decrypts the chunks of one file. Self-contained: other threads run its source text as well. */
export function chunkCipher(crypto: CipherMakers, { name, key }: CipherSpec): ChunkCipher {
  type ChunkPiece = Buffer<ArrayBuffer>;
  const tagBytes = 16;
  const algorithm = name as 'aes-256-gcm';
  const options = { authTagLength: tagBytes };
  // `node:crypto` copies each piece once more into memory that the allocator places right behind it. Some processors
  // copy slowly if the two start 16 bytes apart modulo the page size, which would be the case after 64 KiB.
  // @see docs/decisions/0261
  const firstBytes = 62 * 1024;

  // Nonce of twelve bytes: seven zeros, the chunk's number from 0 (32-bit big-endian), 1 for the last chunk and else 0.
  // age uses the same layout, with the seven bytes as part of the number.
  const nonceOf = (index: number, final: boolean): Buffer => {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(index, 7);
    nonce.writeUInt8(final ? 1 : 0, 11);
    return nonce;
  };
  const through = (
    cipher: { update(data: Uint8Array): ChunkPiece },
    chunk: Uint8Array,
  ): readonly ChunkPiece[] =>
    chunk.length <= firstBytes
      ? [cipher.update(chunk)]
      : [cipher.update(chunk.subarray(0, firstBytes)), cipher.update(chunk.subarray(firstBytes))];
  // Frees the memory of a piece at once. Left to the garbage collector, it costs more time than the encryption: new
  // pages for every chunk instead of a few that stay in the processor's cache, and 80 MiB more.
  // @see docs/decisions/0082
  const release = (piece: ChunkPiece): void => {
    if (piece.length === piece.buffer.byteLength) piece.buffer.transfer(0);
  };
  const putInto = (out: Uint8Array, pieces: readonly ChunkPiece[]): number => {
    let filled = 0;
    for (const piece of pieces) {
      out.set(piece, filled);
      filled += piece.length;
      release(piece);
    }
    return filled;
  };
  return {
    seal(chunk, index, final, out) {
      const cipher = crypto.createCipheriv(algorithm, key, nonceOf(index, final), options);
      const length = putInto(out, through(cipher, chunk));
      cipher.final();
      out.set(cipher.getAuthTag(), length);
      return length + tagBytes;
    },
    open(chunk, index, final, out) {
      const length = chunk.length - tagBytes;
      // A plaintext has one encoding: no chunk is empty, except the only one of an empty plaintext.
      if (length < 0 || (length === 0 && index > 0)) return undefined;
      const decipher = crypto.createDecipheriv(algorithm, key, nonceOf(index, final), options);
      decipher.setAuthTag(chunk.subarray(length));
      const pieces = through(decipher, chunk.subarray(0, length));
      try {
        decipher.final();
      } catch {
        for (const piece of pieces) {
          piece.fill(0);
          release(piece);
        }
        return undefined;
      }
      return putInto(out, pieces);
    },
  };
}

/**
 * Checks the chunk number.
 * @throws `unsupported` if it is too large
 */
function requireNumber(index: number): void {
  if (index < MAX_CHUNKS) return;
  throw unsupported('the data is too long for one envelope', { hint: 'split it into several' });
}

/** Creates a stage that encrypts the chunks of one file. */
export function encryption(key: KeyObject, chunkBytes: number, name: CipherName = OWN): ChunkStage {
  const { seal } = chunkCipher({ createCipheriv, createDecipheriv }, { name, key });
  return {
    inputBytes: chunkBytes,
    outputBytes: chunkBytes + TAG_BYTES,
    transform(chunk, index, final, out) {
      requireNumber(index);
      return seal(chunk, index, final, out);
    },
    elsewhere: { name, key, way: 'seal' },
  };
}

/**
 * Creates a stage that decrypts the chunks of one file; nothing is written to `out` before its chunk is authenticated.
 */
export function decryption(key: KeyObject, chunkBytes: number, name: CipherName = OWN): ChunkStage {
  const { open } = chunkCipher({ createCipheriv, createDecipheriv }, { name, key });
  return {
    inputBytes: chunkBytes + TAG_BYTES,
    outputBytes: chunkBytes,
    transform(chunk, index, final, out) {
      requireNumber(index);
      const written = open(chunk, index, final, out);
      if (written === undefined) throw reasonToRefuse(open, chunk, index, final);
      return written;
    },
    elsewhere: { name, key, way: 'open' },
  };
}

/**
 * Finds the reason for a failed chunk: one that is authentic as a middle chunk but is at the end, or vice versa, shows
 * the cause.
 */
function reasonToRefuse(open: ChunkCipher['open'], chunk: Uint8Array, index: number, final: boolean): Error {
  if (chunk.length < TAG_BYTES || (chunk.length === TAG_BYTES && index > 0)) return truncated();
  const discarded = Buffer.alloc(chunk.length);
  const misplaced = open(chunk, index, !final, discarded) !== undefined;
  discarded.fill(0);
  if (misplaced) return final ? truncated() : trailing();
  return final ? brokenEnd() : changedChunk(index);
}
