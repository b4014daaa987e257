import type { IncomingHttpHeaders } from 'node:http';
import type { MaybePromise } from '../../ground/maybe-promise.ts';

/** HTTP request, independent of transport and HTTP version. */
export interface Exchange {
  /** `GET`, `POST`, `LIST` and so on, in upper case. */
  readonly method: string;
  /** Path and query as received. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: RequestBody;
  /** Address of the client; empty on a Unix socket. */
  readonly remoteAddress: string;
  /** Client certificates of the TLS handshake, as in `Call`; never from a header. Absent if there were none. */
  readonly clientCertificates?: readonly string[] | undefined;
  /** Present for a web page of an allowed origin; absent for other pages, and for requests not from a page. */
  readonly isOfAllowedPage?: true;
  /** Calls the listener when the client has disconnected, or has the response. */
  readonly onGone?: (listener: () => void) => void;
  /** Scheme, host and port of the listener, for links if the request has no plausible host. */
  readonly origin: string;
}

/** Unread body: the size limit depends on the requested operation, so it is decided only then. */
export interface RequestBody {
  /** Whether it is 64 KiB or longer, or of unknown length. */
  readonly isLarge: boolean;
  /** Maximum length in bytes: its declared length, else the listener's limit. */
  readonly mostBytes: number;
  /** Whether its declared length exceeds `limit` bytes. */
  exceeds(limit: number): boolean;
  /**
   * Reads all of it; undefined if there is none. A second call returns the same. No promise if all of it has arrived,
   * so that what the request has seen of the store is still known to be current afterwards.
   * Rejects with `too-large` if it exceeds `limit` bytes or the listener's limit; with `invalid` if it is incomplete
   */
  read(limit?: number): MaybePromise<Buffer | undefined>;
}

/** HTTP response. */
export interface Answer {
  readonly status: number;
  /** Media type; undefined omits `Content-Type`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body; absent for an empty one. A large one may consist of pieces. */
  readonly body?: string | readonly Buffer[];
}

/** Returns the response with additional headers. */
export const withHeaders = (answer: Answer, headers: Readonly<Record<string, string>>): Answer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});
