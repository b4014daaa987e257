import { invalid } from '../../ground/errors.ts';
import type { ByteSink } from './ports.ts';

/** A part of a plaintext. */
export interface ByteRange {
  /** Bytes before the first one wanted. */
  readonly offset: number;
  /** Bytes wanted at most; without it, all to the end. */
  readonly length?: number;
}

export const endOf = ({ offset, length }: ByteRange): number =>
  length === undefined ? Number.POSITIVE_INFINITY : offset + length;

/** Hands on the part of a stream that lies in a range. */
export class Window implements ByteSink {
  readonly #sink: ByteSink;
  readonly #range: ByteRange;
  /** Where the next byte to come lies in the whole plaintext. */
  #position: number;

  /** @param start Where the stream begins in the whole plaintext. */
  constructor(sink: ByteSink, range: ByteRange, start: number) {
    this.#sink = sink;
    this.#range = range;
    this.#position = start;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const from = Math.max(0, this.#range.offset - this.#position);
    const to = Math.min(bytes.length, endOf(this.#range) - this.#position);
    this.#position += bytes.length;
    if (from < to) await this.#sink.write(bytes.subarray(from, to));
  }

  /**
   * To be called at the end of the stream.
   * @throws `invalid` when the range begins behind it.
   */
  requireReached(): void {
    requireInside(this.#range, this.#position);
  }
}

/** @throws `invalid` when a range begins behind the end. A range that ends there is cut off. */
export function requireInside({ offset }: ByteRange, size: number): void {
  if (offset <= size) return;
  throw invalid(`offset ${offset} is behind the end: the plaintext has ${size} bytes`, { field: 'offset' });
}
