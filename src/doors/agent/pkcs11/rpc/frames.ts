/**
 * Framing of p11-kit's remote protocol: first one byte from each side, its version, then in both directions a number
 * that the client chose for the call, the lengths of options and of a body, and both.
 */

/** Body of a call. */
export interface Frame {
  /** Returned with the response; several calls may be in progress. */
  readonly code: number;
  /** Undefined if it was too large to be buffered. */
  readonly body: Buffer | undefined;
}

const HEAD_BYTES = 12;
const OPTIONS_AT = 4;
const BODY_AT = 8;
/** Maximum body size in bytes: programs send large data in parts; larger bodies are skipped, and refused. */
export const MOST_BODY_BYTES = 1024 * 1024;

export const writeFrame = (code: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(code, 0);
  head.writeUInt32BE(body.length, BODY_AT);
  return Buffer.concat([head, body]);
};

/** Splits a stream into frames. Buffers at most one body, in no more than twice the bytes received for it. */
export class FrameReader {
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  /** State of the current frame: bytes to skip, and the received part of its body. */
  #skip = 0;
  #body: Buffer = NOTHING;
  #bodyBytes = 0;

  /** Yields the frames that end in this piece; all of them must be consumed before the next piece. */
  *push(piece: Buffer): Generator<Frame, void> {
    let rest = piece;
    while (rest.length > 0) {
      rest = this.#readHead(rest);
      if (this.#headBytes < HEAD_BYTES) break;
      const skipped = Math.min(this.#skip, rest.length);
      this.#skip -= skipped;
      rest = this.#readBody(rest.subarray(skipped));
      if (this.#skip > 0 || this.#bodyBytes < this.#wanted) break;
      const frame = { code: this.#head.readUInt32BE(0), body: this.#isKept ? this.#taken() : undefined };
      this.#headBytes = 0;
      yield frame;
    }
  }

  get #isKept(): boolean {
    return this.#head.readUInt32BE(BODY_AT) <= MOST_BODY_BYTES;
  }

  get #wanted(): number {
    return this.#isKept ? this.#head.readUInt32BE(BODY_AT) : 0;
  }

  #readHead(piece: Buffer): Buffer {
    if (this.#headBytes === HEAD_BYTES) return piece;
    const copied = piece.copy(this.#head, this.#headBytes);
    this.#headBytes += copied;
    if (this.#headBytes === HEAD_BYTES) {
      const options = this.#head.readUInt32BE(OPTIONS_AT);
      this.#skip = this.#isKept ? options : options + this.#head.readUInt32BE(BODY_AT);
    }
    return piece.subarray(copied);
  }

  #readBody(piece: Buffer): Buffer {
    const part = piece.subarray(0, this.#skip > 0 ? 0 : this.#wanted - this.#bodyBytes);
    const end = this.#bodyBytes + part.length;
    if (end > this.#body.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#wanted, Math.max(end, 2 * this.#body.length)));
      this.#body.copy(larger, 0, 0, this.#bodyBytes);
      this.#body = larger;
    }
    part.copy(this.#body, this.#bodyBytes);
    this.#bodyBytes = end;
    return piece.subarray(part.length);
  }

  #taken(): Buffer {
    const body = this.#body.subarray(0, this.#bodyBytes);
    this.#body = NOTHING;
    this.#bodyBytes = 0;
    return body;
  }
}

const NOTHING = Buffer.alloc(0);
