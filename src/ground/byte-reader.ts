const LENGTH_BYTES = 4;

/** Reads bytes sequentially, and never beyond the end, whatever length the bytes themselves claim. */
export class ByteReader {
  readonly #bytes: Buffer;
  protected readonly broken: (why: string) => Error;
  #at = 0;

  /** @param broken creates the error for bytes that are truncated, or malformed in another way */
  constructor(bytes: Buffer, broken: (why: string) => Error) {
    this.#bytes = bytes;
    this.broken = broken;
  }

  /** Offset of the next byte. */
  get position(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Requires the end of the bytes. */
  end(): void {
    if (this.#at !== this.#bytes.length) throw this.broken('has unexpected data at the end');
  }

  /** Skips this number of bytes. */
  skip(length: number): void {
    if (length > this.#bytes.length - this.#at) throw this.broken('is truncated');
    this.#at += length;
  }

  /** Returns a view, not a copy. */
  bytes(length: number): Buffer {
    const from = this.#at;
    if (length > this.#bytes.length - from) throw this.broken('is truncated');
    this.#at += length;
    return this.#bytes.subarray(from, this.#at);
  }

  /** Returns a view of all that is left. */
  rest(): Buffer {
    return this.bytes(this.#bytes.length - this.#at);
  }

  byte(): number {
    const from = this.#at;
    this.skip(1);
    return this.#bytes.readUInt8(from);
  }

  /** Reads a big-endian number. */
  uint32(): number {
    const from = this.#at;
    if (this.#bytes.length - from < LENGTH_BYTES) throw this.broken('is truncated');
    this.#at += LENGTH_BYTES;
    return this.#bytes.readUInt32BE(from);
  }

  /** Reads as many bytes as the number before them says, in one step, because messages consist of little else. */
  string(): Buffer {
    const from = this.#at + LENGTH_BYTES;
    if (this.#bytes.length < from) throw this.broken('is truncated');
    const length = this.#bytes.readUInt32BE(this.#at);
    if (length > this.#bytes.length - from) throw this.broken('is truncated');
    this.#at = from + length;
    return this.#bytes.subarray(from, this.#at);
  }
}
