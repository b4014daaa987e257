import type { IncomingHttpHeaders } from 'node:http';
import type { TokenIdentity } from '../../access/access.ts';
import { asCofferError } from '../../ground/errors.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { Dialect } from '../../transit/engine.ts';

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

/** Request of which only the path was read. */
export interface PendingRequest {
  /**
   * `large` and `unfolds` (it may require far more work than its length suggests) requests run in the large-request
   * worker pool.
   */
  readonly weight: 'light' | 'large' | 'unfolds';
  /**
   * Returns the caller if the token is valid and its policies may allow the request, as far as the path tells. Does not
   * count as a use.
   */
  caller(): Promise<TokenIdentity | undefined>;
  /** Answers the request. Never throws. */
  answer(): Promise<Answer>;
  /** Formats the response if the request could not be started. */
  failed(error: unknown): Answer;
}

/** Request with a constant response. */
export const settled = (answer: Answer): PendingRequest => ({
  weight: 'light',
  caller: async () => undefined,
  answer: async () => answer,
  failed: () => answer,
});

/**
 * Returns the token of a request: from Coffer's header, Vault's, or a bearer token, the first one present. Undefined if
 * there is none.
 */
export function tokenOf({ headers }: Exchange): string | undefined {
  const own = headers['x-service-token'] ?? headers['x-vault-token'];
  if (typeof own === 'string' && own !== '') return own;
  const { authorization = '' } = headers;
  // Scheme names are case-insensitive (RFC 9110, 11.1).
  if (!/^bearer /i.test(authorization)) return undefined;
  const token = authorization.slice('Bearer '.length).trim();
  return token === '' ? undefined : token;
}

/**
 * Returns the dialect: Vault clients expect its prefixes. Coffer's own client, which also supports Vault servers, sends
 * both headers.
 * @see docs/decisions/0125
 */
export const dialectOf = ({ headers }: Exchange): Dialect =>
  headers['x-service-token'] === undefined &&
  (headers['x-vault-token'] !== undefined || headers['x-vault-request'] !== undefined)
    ? 'vault'
    : 'service';

/**
 * Header of Coffer's own client, which requests the details of an error besides its text; others get the plain body.
 * @see docs/decisions/0065
 */
const DETAILS_HEADER = 'x-coffer-details';

export const wantsDetails = ({ headers }: Exchange): boolean => headers[DETAILS_HEADER] !== undefined;

export function errorDetails(exchange: Exchange, error: unknown): object | undefined {
  if (!wantsDetails(exchange)) return undefined;
  const known = asCofferError(error);
  if (known === undefined) return undefined;
  const { kind, message, field, hint } = known;
  return { kind, message, field, hint };
}
