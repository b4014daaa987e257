import { wipe } from '../../ground/bytes.ts';
import type { ByteSource, PlainFile } from './ports.ts';

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
