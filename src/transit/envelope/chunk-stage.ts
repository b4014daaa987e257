import type { KeyObject } from 'node:crypto';
import type { AGE_CIPHER } from '../key-types/age/kem.ts';

/**
 * Names of `node:crypto`: the cipher of Coffer's own envelopes, and that of age. Its type declarations treat them as
 * different kinds.
 */
export type CipherName = 'aes-256-gcm' | typeof AGE_CIPHER;

export interface CipherSpec {
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
   * Cipher with which another thread can process the chunks, if it processes a whole file from its first chunk on.
   */
  readonly elsewhere?: ThreadCipher;
}
