/**
 * Queue of received bytes, taken out in pieces of another size. Each byte is copied at most twice, however small the
 * received pieces are.
 */
export class ByteQueue {
  #pieces: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#length += bytes.length;
  }

  /** Returns the next bytes without removing them; undefined if there are fewer. */
  peek(count: number): Buffer | undefined {
    if (this.#length < count) return undefined;
    const [first] = this.#pieces;
    if (first !== undefined && first.length >= count) return first.subarray(0, count);
    const start: Buffer[] = [];
    let length = 0;
    for (const piece of this.#pieces) {
      if (length >= count) break;
      start.push(piece);
      length += piece.length;
    }
    return Buffer.concat(start).subarray(0, count);
  }

  /** Removes the next bytes; undefined, and nothing is removed, if there are fewer. */
  take(count: number): Buffer | undefined {
    if (this.#length < count) return undefined;
    const [first] = this.#pieces;
    if (first === undefined || first.length < count) this.#pieces = [Buffer.concat(this.#pieces)];
    const [whole = Buffer.alloc(0)] = this.#pieces;
    const rest = whole.subarray(count);
    if (rest.length > 0) this.#pieces[0] = rest;
    else this.#pieces.shift();
    this.#length -= count;
    return whole.subarray(0, count);
  }
}
