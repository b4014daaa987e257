import type { IncomingMessage } from 'node:http';
import { CofferError, invalid, ownWords } from '../../ground/errors.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { RequestBody } from './exchange.ts';

/** Length from which a body is large, in bytes. */
export const LARGE_BODY_BYTES = 64 * 1024;

/**
 * Request body of a Node server. Nothing is read from the connection before `read`: a refused body costs only the bytes
 * that have already arrived.
 * @see docs/decisions/0061
 */
export class IncomingBody implements RequestBody {
  readonly #request: IncomingMessage;
  readonly #maxBytes: number;
  readonly #invite: () => void;
  /** `Content-Length`; undefined if it is chunked. */
  readonly #length: number | undefined;
  #reading: MaybePromise<Buffer | undefined>;

  /**
   * @param maxBytes limit of the listener
   * @param invite sends 100 Continue to a client that waits for it (`Expect: 100-continue`)
   */
  constructor(request: IncomingMessage, maxBytes: number, invite: () => void) {
    this.#request = request;
    this.#maxBytes = maxBytes;
    this.#invite = invite;
    const { headers } = request;
    this.#length =
      headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
    // The bytes that have arrived were read; the rest stays in the connection until it is needed.
    if (this.isLarge) request.socket.pause();
  }

  get isLarge(): boolean {
    return this.#length === undefined || this.#length >= LARGE_BODY_BYTES;
  }

  get mostBytes(): number {
    return Math.min(this.#length ?? this.#maxBytes, this.#maxBytes);
  }

  /** Whether too much of it is unread to consume it just to keep the connection. */
  get isLeftBehind(): boolean {
    return this.isLarge && !this.#request.complete;
  }

  exceeds(limit: number): boolean {
    return (this.#length ?? 0) > limit;
  }

  read(limit = this.#maxBytes): MaybePromise<Buffer | undefined> {
    if (this.#length === 0) return undefined;
    this.#reading ??= this.#readOnce(Math.min(limit, this.#maxBytes));
    return this.#reading;
  }

  #readOnce(limit: number): MaybePromise<Buffer | undefined> {
    if (this.exceeds(limit)) return Promise.reject(tooLarge());
    this.#invite();
    return this.#arrived() ?? this.#collect(limit);
  }

  /** Takes a small body that has arrived as a whole, mostly with the head, without waiting for events of the stream. */
  #arrived(): Buffer | undefined {
    const request = this.#request;
    if (this.isLarge || !request.complete || request.readableLength !== this.#length) return undefined;
    return (request.read() as Buffer | null) ?? undefined;
  }

  #collect(limit: number): Promise<Buffer | undefined> {
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
      if (!request.complete) reject(invalid(ownWords('the body does not match Content-Length')));
    });
    request.once('error', () => reject(invalid(ownWords('the body is incomplete'))));
    return promise;
  }
}

const tooLarge = (): CofferError => new CofferError('too-large', ownWords('http: request body too large'));

/** Wraps a body in memory. */
export const heldBody = (bytes: Buffer | undefined): RequestBody => ({
  isLarge: (bytes?.length ?? 0) >= LARGE_BODY_BYTES,
  mostBytes: bytes?.length ?? 0,
  exceeds: (limit) => (bytes?.length ?? 0) > limit,
  async read(limit = Number.POSITIVE_INFINITY) {
    if ((bytes?.length ?? 0) > limit) throw tooLarge();
    return bytes;
  },
});
