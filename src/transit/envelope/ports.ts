import { wipe } from '../../ground/bytes.ts';

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

const PIECE_BYTES = 4096;

/** Byte source with peek: its first bytes can be inspected before it is read. */
export class Lookahead implements ByteSource {
  readonly #source: ByteSource;
  /** Bytes that were read ahead. */
  #held: Buffer = Buffer.alloc(0);
  /** Number of bytes consumed. */
  taken = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  get mayStall(): boolean {
    return this.#source.mayStall ?? false;
  }

  get expectedBytes(): number | undefined {
    const bytes = this.#source.expectedBytes;
    return bytes === undefined ? undefined : Math.max(0, bytes - this.taken);
  }

  get file(): PlainFile | undefined {
    return this.#source.file;
  }

  /**
   * Returns the next bytes without consuming them.
   * @returns fewer only at the end
   */
  async peek(bytes: number): Promise<Buffer> {
    while (this.#held.length < bytes && (await this.#more()));
    return this.#held.subarray(0, bytes);
  }

  /**
   * Reads the next line, without its newline.
   * @returns undefined if there is no newline within `maxBytes`, or before the end
   */
  async line(maxBytes: number): Promise<string | undefined> {
    let from = 0;
    for (;;) {
      const end = this.#held.indexOf(0x0a, from);
      if (end > maxBytes || (end < 0 && this.#held.length > maxBytes)) return undefined;
      if (end >= 0) {
        const line = this.#held.toString('latin1', 0, end);
        this.#take(end + 1);
        return line;
      }
      from = this.#held.length;
      if (!(await this.#more())) return undefined;
    }
  }

  async read(into: Uint8Array): Promise<number> {
    if (this.#held.length === 0) {
      const bytes = await this.#source.read(into);
      this.taken += bytes;
      return bytes;
    }
    const bytes = Math.min(into.length, this.#held.length);
    into.set(this.#held.subarray(0, bytes));
    wipe(this.#held.subarray(0, bytes));
    this.#take(bytes);
    return bytes;
  }

  #take(bytes: number): void {
    this.#held = this.#held.subarray(bytes);
    this.taken += bytes;
  }

  /**
   * Reads another piece.
   * @returns false at the end
   */
  async #more(): Promise<boolean> {
    const piece = Buffer.alloc(PIECE_BYTES);
    const bytes = await this.#source.read(piece);
    this.#held = Buffer.concat([this.#held, piece.subarray(0, bytes)]);
    return bytes > 0;
  }
}

/**
 * Reads exactly `length` bytes.
 * @returns fewer only at the end of the source
 */
export async function readExactly(source: ByteSource, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = await source.read(bytes.subarray(filled));
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
