/** Reads bytes sequentially, and never beyond the end, whatever length the bytes themselves claim. */
export class ByteReader {
  readonly #bytes: Buffer;
  readonly #cutShort: () => Error;
  #at = 0;

  /** @param cutShort creates the error for truncated bytes */
  constructor(bytes: Buffer, cutShort: () => Error) {
    this.#bytes = bytes;
    this.#cutShort = cutShort;
  }

  /** Offset of the next byte. */
  get position(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** Skips this number of bytes. */
  skip(length: number): void {
    if (length > this.#bytes.length - this.#at) throw this.#cutShort();
    this.#at += length;
  }

  /** Returns a view, not a copy. */
  bytes(length: number): Buffer {
    const from = this.#at;
    if (length > this.#bytes.length - from) throw this.#cutShort();
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
    if (this.#bytes.length - from < 4) throw this.#cutShort();
    this.#at += 4;
    return this.#bytes.readUInt32BE(from);
  }
}
