import { ByteQueue } from '../../../../ground/byte-queue.ts';

/**
 * Framing of p11-kit's remote protocol: first one byte from each side, its version, then in both directions a number
 * that the client chose for the call, the lengths of options and of a body, and both.
 */

/** Body of a call. */
export interface Frame {
  /** Returned with the response; several calls may be in progress. */
  readonly code: number;
  /** Content; undefined if it was too large to be buffered. */
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

/** Header of a frame. */
interface FrameHead {
  readonly code: number;
  /** Bytes still to be skipped: options, and a body that is not buffered. */
  skip: number;
  /** Length of a body that is buffered. */
  readonly wanted: number | undefined;
}

function readHead(bytes: Buffer): FrameHead {
  const options = bytes.readUInt32BE(OPTIONS_AT);
  const body = bytes.readUInt32BE(BODY_AT);
  const isKept = body <= MOST_BODY_BYTES;
  return {
    code: bytes.readUInt32BE(0),
    skip: isKept ? options : options + body,
    wanted: isKept ? body : undefined,
  };
}

/** Splits a stream into frames. Buffers at most one body, in no more than twice the bytes received for it. */
export class FrameReader {
  readonly #come = new ByteQueue();
  #head: FrameHead | undefined;

  /** Yields the frames that end in this piece; all of them must be consumed before the next piece. */
  *push(piece: Buffer): Generator<Frame, void> {
    this.#come.add(piece);
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) yield frame;
  }

  #next(): Frame | undefined {
    const bytes = this.#head === undefined ? this.#come.take(HEAD_BYTES) : undefined;
    if (bytes !== undefined) this.#head = readHead(bytes);
    const head = this.#head;
    if (head === undefined) return undefined;
    head.skip -= this.#come.drop(head.skip);
    if (head.skip > 0 || this.#come.length < (head.wanted ?? 0)) return undefined;
    this.#head = undefined;
    return { code: head.code, body: head.wanted === undefined ? undefined : this.#come.take(head.wanted) };
  }
}
