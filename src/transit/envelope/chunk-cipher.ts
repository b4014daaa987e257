import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { unsupported } from '../../ground/errors.ts';
import type { AGE_CIPHER } from '../key-types/age/kem.ts';
import type { ChunkStage } from './pump.ts';
import { brokenEnd, changedChunk, trailing, truncated } from './refusals.ts';

/**
 * The chunked AEAD called STREAM (Hoang, Reyhanitabar, Rogaway, Vizár: "Online Authenticated-Encryption and its
 * Nonce-Reuse Misuse-Resistance", 2015): chunk after chunk under one key, with the chunk's number and whether it is the
 * last one in the nonce. So no chunk can be left out, moved, repeated, appended or taken from another file.
 */

/** As `node:crypto` calls them: that of our own envelopes, and that of age. The declarations know them as two kinds. */
export type ChunkCipher = 'aes-256-gcm' | typeof AGE_CIPHER;
const OWN: ChunkCipher = 'aes-256-gcm';
export const TAG_BYTES = 16;
const NONCE_BYTES = 12;
const COUNTER_AT = 7;
const FINAL_AT = 11;
const OPTIONS = { authTagLength: TAG_BYTES };

/** Keeps the number in the counter's 32 bits: 256 TiB in chunks of 64 KiB. */
const MAX_CHUNKS = 2 ** 32;

/**
 * Twelve bytes: seven zeros, the chunk's number from 0 (32-bit big-endian), 1 for the last chunk and else 0. In age the number
 * has the seven bytes, too.
 */
function nonceOf(index: number, final: boolean): Buffer {
  if (index >= MAX_CHUNKS) {
    throw unsupported('the data is too long for one envelope', { hint: 'split it into several' });
  }
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(index, COUNTER_AT);
  nonce.writeUInt8(final ? 1 : 0, FINAL_AT);
  return nonce;
}

type Piece = Buffer<ArrayBuffer>;

/** Fills no pages: see {@link through}. */
const FIRST_BYTES = 62 * 1024;

/**
 * A chunk, through a cipher in two goes. `node:crypto` copies each piece once more into memory that the allocator puts right behind, and
 * 16 bytes into a page from the start of another is where some processors copy slowly; after 64 KiB it would be just there.
 * @see docs/decisions/0261
 */
const through = (cipher: { update(data: Uint8Array): Piece }, chunk: Uint8Array): readonly Piece[] =>
  chunk.length <= FIRST_BYTES
    ? [cipher.update(chunk)]
    : [cipher.update(chunk.subarray(0, FIRST_BYTES)), cipher.update(chunk.subarray(FIRST_BYTES))];

/** @returns how many bytes were put at the start of `out`. */
function putInto(out: Uint8Array, pieces: readonly Piece[]): number {
  let filled = 0;
  for (const piece of pieces) {
    out.set(piece, filled);
    filled += piece.length;
    release(piece);
  }
  return filled;
}

/**
 * Gives the memory of a piece that a cipher has allocated back at once. Left to the garbage collector, it costs more time
 * than the encryption: fresh pages for every chunk in place of a few that stay in the processor's cache, and 80 MiB more.
 * @see docs/decisions/0082
 */
function release(piece: Piece): void {
  if (piece.length === piece.buffer.byteLength) piece.buffer.transfer(0);
}

/** Encrypts the chunks of one file. */
export const encryption = (key: KeyObject, chunkBytes: number, name: ChunkCipher = OWN): ChunkStage => ({
  inputBytes: chunkBytes,
  outputBytes: chunkBytes + TAG_BYTES,
  transform(chunk, index, final, out) {
    const cipher = createCipheriv(name as 'aes-256-gcm', key, nonceOf(index, final), OPTIONS);
    const length = putInto(out, through(cipher, chunk));
    cipher.final();
    out.set(cipher.getAuthTag(), length);
    return length + TAG_BYTES;
  },
});

/** Decrypts the chunks of one file; nothing gets into `out` before its chunk is authenticated. */
export const decryption = (key: KeyObject, chunkBytes: number, name: ChunkCipher = OWN): ChunkStage => ({
  inputBytes: chunkBytes + TAG_BYTES,
  outputBytes: chunkBytes,
  transform(chunk, index, final, out) {
    // A plaintext has one encoding: no chunk is empty, but for the only one of an empty plaintext.
    if (chunk.length < TAG_BYTES || (chunk.length === TAG_BYTES && index > 0)) throw truncated();
    const written = openInto(out, name, key, chunk, index, final);
    if (written === undefined) throw reasonToRefuse(name, key, chunk, index, final);
    return written;
  },
});

/** Decrypts a chunk into `out`. @returns the bytes of plaintext; undefined, with `out` as it was, when it is not authentic. */
function openInto(
  out: Uint8Array,
  name: ChunkCipher,
  key: KeyObject,
  chunk: Uint8Array,
  index: number,
  final: boolean,
): number | undefined {
  const decipher = createDecipheriv(name as 'aes-256-gcm', key, nonceOf(index, final), OPTIONS);
  const length = chunk.length - TAG_BYTES;
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
}

/** A chunk that is authentic as a middle one but stands at the end, or the other way round, tells what happened. */
function reasonToRefuse(
  name: ChunkCipher,
  key: KeyObject,
  chunk: Uint8Array,
  index: number,
  final: boolean,
): Error {
  const discarded = Buffer.alloc(chunk.length);
  const misplaced = openInto(discarded, name, key, chunk, index, !final) !== undefined;
  discarded.fill(0);
  if (misplaced) return final ? truncated() : trailing();
  return final ? brokenEnd() : changedChunk(index);
}
