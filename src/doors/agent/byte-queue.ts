/**
 * Bytes as they come in, and taken out in pieces of another size. Each byte is copied twice at most, however small the pieces are that it
 * comes in.
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

  /** The next bytes, which stay; undefined while there are fewer. */
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

  /** Takes the next bytes out; undefined, and nothing is taken, while there are fewer. */
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
