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

/**
 * Gives the memory of a piece that a cipher has allocated back at once. Left to the garbage collector, it costs more time
 * than the encryption: fresh pages for every chunk in place of a few that stay in the processor's cache, and 80 MiB more.
 * @see docs/decisions/0082
 */
function release(piece: Buffer<ArrayBuffer>): void {
  if (piece.length === piece.buffer.byteLength) piece.buffer.transfer(0);
}

/** Encrypts the chunks of one file. */
export const encryption = (key: KeyObject, chunkBytes: number, name: ChunkCipher = OWN): ChunkStage => ({
  inputBytes: chunkBytes,
  outputBytes: chunkBytes + TAG_BYTES,
  transform(chunk, index, final, out) {
    const cipher = createCipheriv(name as 'aes-256-gcm', key, nonceOf(index, final), OPTIONS);
    const piece = cipher.update(chunk);
    cipher.final();
    out.set(piece);
    out.set(cipher.getAuthTag(), piece.length);
    const written = piece.length + TAG_BYTES;
    release(piece);
    return written;
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
  const piece = decipher.update(chunk.subarray(0, length));
  try {
    decipher.final();
    out.set(piece);
    return length;
  } catch {
    piece.fill(0);
    return undefined;
  } finally {
    release(piece);
  }
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
