import type { KeyObject } from 'node:crypto';
import type { AGE_CIPHER } from '../key-types/age/kem.ts';

/** As `node:crypto` calls them: that of our own envelopes, and that of age. The declarations know them as two kinds. */
export type CipherName = 'aes-256-gcm' | typeof AGE_CIPHER;

export interface CipherSpec {
  readonly name: CipherName;
  readonly key: KeyObject;
}

/** What becomes of one chunk. @returns how many bytes were put at the start of `out`. */
type Apply<R> = (chunk: Uint8Array, index: number, final: boolean, out: Uint8Array) => R;

export interface ChunkCipher {
  readonly seal: Apply<number>;
  /** Nothing gets into `out` before its chunk is authenticated. @returns undefined when it is not authentic. */
  readonly open: Apply<number | undefined>;
}

/** Which cipher a thread makes for itself, and which of its ways it goes. */
export type ThreadCipher = CipherSpec & { readonly way: keyof ChunkCipher };

/** What is done to each chunk of a stream. */
export interface ChunkStage {
  /** Bytes of every chunk but the last, which has fewer or as many. */
  readonly inputBytes: number;
  /** Most bytes that one chunk becomes. */
  readonly outputBytes: number;
  /**
   * @param index Counts from 0.
   * @param out Has room for `outputBytes`.
   * @returns how many bytes were put at the start of `out`.
   */
  transform(chunk: Uint8Array, index: number, final: boolean, out: Uint8Array): number;
  /** What another thread does it with, for a whole file from its first chunk on. */
  readonly elsewhere?: ThreadCipher;
}
