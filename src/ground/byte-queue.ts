/** Minimum size of a piece that is kept as received; shorter ones, whose objects would outweigh them, are merged. */
const SMALL_BYTES = 1024;
const LEAST_TAIL_BYTES = 256;
const MOST_TAIL_BYTES = 16 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * Queue of received bytes, taken out in pieces of another size. However small the received pieces are, each byte is
 * copied at most twice, and takes no more than twice its size.
 */
export class ByteQueue {
  readonly #pieces: Buffer[] = [];
  #length = 0;
  /** Buffer that small pieces are copied to, and its used length. */
  #tail = NOTHING;
  #tailEnd = 0;

  get length(): number {
    return this.#length;
  }

  /** Appends bytes, which must not change afterwards. */
  add(bytes: Buffer): void {
    this.#length += bytes.length;
    if (bytes.length >= SMALL_BYTES) this.#pieces.push(bytes);
    else for (let rest = bytes; rest.length > 0; ) rest = rest.subarray(this.#append(rest));
  }

  /** Returns the next bytes without removing them; undefined if there are fewer. */
  peek(count: number): Buffer | undefined {
    if (this.#length < count) return undefined;
    const [first = NOTHING] = this.#pieces;
    if (first.length >= count) return first.subarray(0, count);
    const bytes = this.take(count);
    if (bytes === undefined || count === 0) return bytes;
    this.#pieces.unshift(bytes);
    this.#length += count;
    return bytes;
  }

  /** Removes and returns the next bytes; undefined if there are fewer, and nothing is removed then. */
  take(count: number): Buffer | undefined {
    if (this.#length < count) return undefined;
    if (this.#pieces[0]?.length === count) {
      this.#length -= count;
      return this.#pieces.shift();
    }
    const pieces = this.takePieces(count);
    return pieces?.length === 1 ? pieces[0] : pieces && Buffer.concat(pieces);
  }

  /** Removes and returns the next bytes like `take`, in the pieces as received, without copying. */
  takePieces(count: number): Buffer[] | undefined {
    if (this.#length < count) return undefined;
    const pieces: Buffer[] = [];
    for (let missing = count; missing > 0; ) {
      const piece = this.#pieces.shift() ?? NOTHING;
      if (piece.length > missing) this.#pieces.unshift(piece.subarray(missing));
      pieces.push(piece.subarray(0, missing));
      missing -= Math.min(piece.length, missing);
    }
    this.#length -= count;
    return pieces;
  }

  /** Removes up to this number of bytes, and returns how many it removed. */
  drop(most: number): number {
    return this.takePieces(Math.min(most, this.#length))?.reduce((sum, { length }) => sum + length, 0) ?? 0;
  }

  /** Appends as much of a small piece as fits into the buffer, and returns its length. */
  #append(bytes: Buffer): number {
    if (this.#tailEnd === this.#tail.length) {
      const size = Math.max(2 * this.#tail.length, LEAST_TAIL_BYTES);
      this.#tail = Buffer.allocUnsafeSlow(Math.min(size, MOST_TAIL_BYTES));
      this.#tailEnd = 0;
    }
    const start = this.#tailEnd;
    this.#tailEnd += bytes.copy(this.#tail, start);
    const last = this.#pieces.at(-1);
    const isBehindIt = last?.buffer === this.#tail.buffer && last.byteOffset + last.length === start;
    if (isBehindIt) this.#pieces.pop();
    this.#pieces.push(this.#tail.subarray(isBehindIt ? start - last.length : start, this.#tailEnd));
    return this.#tailEnd - start;
  }
}
