/** What envelopes need from outside: bytes in, bytes out, and somebody who holds the named keys. */

/** An open file whose next bytes may also be read or written by its descriptor, with calls that block; never a pipe. */
export interface PlainFile {
  readonly descriptor: number;
  /** What an error of the system in doing so is to whoever named the file. */
  explain(error: unknown): unknown;
  /** To be told how many bytes were written. */
  wrote?(bytes: number): void;
}

/** Bytes in order, e.g. a pipe. */
export interface ByteSource {
  /**
   * Puts the next bytes at the start of `into`, which is never empty and belongs to the source until the promise settles.
   * @returns how many there are, at least 1; 0 at the end.
   */
  read(into: Uint8Array): Promise<number>;
  /**
   * A read may wait for somebody else, as on a pipe. Then nothing is read ahead: an error can end the process at once, and
   * does not have to wait for bytes that nobody wants any more.
   */
  readonly mayStall?: boolean;
  /** About how many bytes there are, when that is known: so little memory is taken for a small file. */
  readonly expectedBytes?: number | undefined;
  /** Where the bytes come from after those that the next `read` gives. */
  readonly file?: PlainFile | undefined;
}

/** Bytes at known places, e.g. a regular file. */
export interface RandomAccessSource {
  /** In bytes. */
  readonly size: number;
  /** Fills `into` from `position` on. @returns how many bytes are there, fewer than asked for only at the end. */
  readAt(position: number, into: Uint8Array): Promise<number>;
}

/** A file whose header can be rewritten where it is. */
export interface RewritableFile extends RandomAccessSource {
  writeAt(position: number, bytes: Uint8Array): Promise<void>;
  /** Resolves when everything written is on disk. */
  flush(): Promise<void>;
}

export interface ByteSink {
  /** Takes all of `bytes`, which belong to the sink until the promise settles. */
  write(bytes: Uint8Array): Promise<void>;
  readonly file?: PlainFile | undefined;
}

/** Which named key. */
export interface KeyReference {
  /** Path of the transit mount, without slashes at the ends. */
  readonly mount: string;
  readonly name: string;
}

export interface DataKey {
  /** 32 bytes; whoever asked for them overwrites them. */
  readonly plaintext: Buffer;
  /** The data key as a ciphertext of transit, e.g. `service:v3:…`. */
  readonly wrapped: string;
}

/** The named keys, here or on a server: only data keys travel, never the data. */
export interface DataKeys {
  create(key: KeyReference): Promise<DataKey>;
  /** @returns the 32 bytes, which the caller overwrites. */
  unwrap(key: KeyReference, wrapped: string): Promise<Buffer>;
  /** Moves a wrapped data key to the latest version of its named key, without showing it. */
  rewrap(key: KeyReference, wrapped: string): Promise<string>;
}

/** Called with the number of input bytes that were dealt with since the last call. */
export type OnProgress = (bytes: number) => void;

/** A file, or the part of it between two positions, one read after the other. */
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
