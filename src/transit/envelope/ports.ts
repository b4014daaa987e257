/** Ports that envelopes need: bytes in, bytes out, and access to the named keys. */

/** Open file that may also be read or written by its descriptor, with blocking calls; never a pipe. */
export interface PlainFile {
  readonly descriptor: number;
  /** Converts a system error of such a call into an error that names the file. */
  explain(error: unknown): unknown;
  /** Called with the number of bytes written. */
  wrote?(bytes: number): void;
}

/** Sequential byte source, e.g. a pipe. */
export interface ByteSource {
  /**
   * Reads the next bytes into the start of `into`, which must not be empty and must not be used until the promise
   * settles.
   * @returns the number of bytes read; 0 at the end
   */
  read(into: Uint8Array): Promise<number>;
  /**
   * Whether a read may block on another process, as on a pipe. Then nothing is read ahead, so that an error can end the
   * process at once, without waiting for bytes that are not needed any more.
   */
  readonly mayStall?: boolean;
  /** Approximate number of bytes, if known: saves memory for a small file. */
  readonly expectedBytes?: number | undefined;
  /** File that the bytes after the next `read` come from. */
  readonly file?: PlainFile | undefined;
}

/** Byte source with random access, e.g. a regular file. */
export interface RandomAccessSource {
  /** Size in bytes. */
  readonly size: number;
  /**
   * Fills `into` from `position` on.
   * @returns the number of bytes read; fewer than requested only at the end
   */
  readAt(position: number, into: Uint8Array): Promise<number>;
}

/** File whose header can be rewritten in place. */
export interface RewritableFile extends RandomAccessSource {
  writeAt(position: number, bytes: Uint8Array): Promise<void>;
  /** Resolves when everything written is on disk. */
  flush(): Promise<void>;
}

export interface ByteSink {
  /** Writes all of `bytes`, which must not be used until the promise settles. */
  write(bytes: Uint8Array): Promise<void>;
  readonly file?: PlainFile | undefined;
}

/** Reference to a named key. */
export interface KeyReference {
  /** Path of the transit mount, without slashes at the ends. */
  readonly mount: string;
  readonly name: string;
}

export interface EnvelopeKey {
  /** 32 bytes; the caller overwrites them. */
  readonly plaintext: Buffer;
  /** Data key as a transit ciphertext, e.g. `service:v3:…`. */
  readonly wrapped: string;
}

/** Access to the named keys, local or on a server: only data keys are transferred, never the data. */
export interface DataKeys {
  create(key: KeyReference): Promise<EnvelopeKey>;
  /**
   * Unwraps a data key.
   * @returns 32 bytes, which the caller overwrites
   */
  unwrap(key: KeyReference, wrapped: string): Promise<Buffer>;
  /** Rewraps a wrapped data key to the latest version of its named key, without revealing it. */
  rewrap(key: KeyReference, wrapped: string): Promise<string>;
}

/** Called with the number of input bytes processed since the last call. */
export type OnProgress = (bytes: number) => void;

/** Reads a file, or the part of it between two positions, sequentially. */
export function sequential(
  file: RandomAccessSource,
  from = 0,
  to: number = Number.POSITIVE_INFINITY,
): ByteSource {
  let position = from;
  return {
    expectedBytes: Math.min(to, file.size) - from,
    async read(into) {
      const bytes = await file.readAt(position, into.subarray(0, Math.max(0, to - position)));
      position += bytes;
      return bytes;
    },
  };
}
