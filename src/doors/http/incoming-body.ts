import type { IncomingMessage } from 'node:http';
import { CofferError, invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import type { RequestBody } from './exchange.ts';

/** A body from here on is large. */
export const LARGE_BODY_BYTES = 64 * 1024;

/**
 * The body of a request that a server of Node.js took in. Not a byte of it is asked for before somebody reads it: what the
 * connection has brought along by then is all that a refused one costs.
 * @see docs/decisions/0061
 */
export class IncomingBody implements RequestBody {
  readonly #request: IncomingMessage;
  readonly #maxBytes: number;
  readonly #invite: () => void;
  /** As `Content-Length` says; undefined when it comes in pieces. */
  readonly #length: number | undefined;
  #reading: Promise<Buffer | undefined> | undefined;

  /**
   * @param maxBytes what the listener takes.
   * @param invite tells a client to go on that waits to be told (`Expect: 100-continue`).
   */
  constructor(request: IncomingMessage, maxBytes: number, invite: () => void) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#invite = invite;
    const { headers } = request;
    this.#length =
      headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
    // What the connection has brought so far has been read; the rest stays where it is until somebody wants it.
    if (this.isLarge) request.socket.pause();
  }

  get isLarge(): boolean {
    return this.#length === undefined || this.#length >= LARGE_BODY_BYTES;
  }

  get mostBytes(): number {
    return Math.min(this.#length ?? this.#maxBytes, this.#maxBytes);
  }

  /** More of it is to come than is worth taking in for the sake of the connection. */
  get isLeftBehind(): boolean {
    return this.isLarge && !this.#request.complete;
  }

  exceeds(limit: number): boolean {
    return (this.#length ?? 0) > limit;
  }

  read(limit = this.#maxBytes): Promise<Buffer | undefined> {
    if (this.#length === 0) return NO_BODY;
    this.#reading ??= this.#collect(Math.min(limit, this.#maxBytes));
    return this.#reading;
  }

  #collect(limit: number): Promise<Buffer | undefined> {
    if (this.exceeds(limit)) return Promise.reject(tooLarge());
    this.#invite();
    const request = this.#request;
    request.socket.resume();
    const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= limit) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      request.off('data', take).pause();
      reject(tooLarge());
    };
    request.on('data', take);
    request.once('end', () => resolve(chunks.length > 1 ? Buffer.concat(chunks, bytes) : chunks[0]));
    request.once('close', () => {
      if (!request.complete) reject(invalid(ownWords('the body is not as long as Content-Length says')));
    });
    request.once('error', () => reject(invalid(ownWords('the body did not come whole'))));
    return promise;
  }
}

const NO_BODY = Promise.resolve(undefined);

const tooLarge = (): CofferError => new CofferError('too-large', ownWords('http: request body too large'));

/** A body that is at hand. */
export const heldBody = (bytes: Buffer | undefined): RequestBody => ({
  isLarge: (bytes?.length ?? 0) >= LARGE_BODY_BYTES,
  mostBytes: bytes?.length ?? 0,
  exceeds: (limit) => (bytes?.length ?? 0) > limit,
  async read(limit = Number.POSITIVE_INFINITY) {
    if ((bytes?.length ?? 0) > limit) throw tooLarge();
    return bytes;
  },
});
