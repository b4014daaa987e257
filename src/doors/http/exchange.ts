import type { IncomingHttpHeaders } from 'node:http';

/** One request as the APIs see it, whatever brought it. */
export interface Exchange {
  /** `GET`, `POST`, `LIST` and so on, in capitals. */
  readonly method: string;
  /** Path and query as they came over the wire. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: RequestBody;
  /** Empty on a Unix socket. */
  readonly remoteAddress: string;
  /** What the connection brought in its handshake, as `Call` has it; never from a header. Absent where there was none. */
  readonly clientCertificates?: readonly string[];
  /** A web page sent it that may; absent for all others, and for what no page sent. */
  readonly isOfAllowedPage?: true;
  /** Calls the listener when the caller has hung up, or has its answer. */
  readonly onGone?: (listener: () => void) => void;
  /** Scheme, host and port of the listener, for links when the request names no believable host. */
  readonly origin: string;
}

/** A body that nobody has read yet: what a caller may send is decided by what was asked for, not before. */
export interface RequestBody {
  /** It is 64 KiB or longer, or nobody knows how long. */
  readonly isLarge: boolean;
  /** How long it may be, in bytes: what it is said to be, else what the listener takes. */
  readonly mostBytes: number;
  /** It is said to be longer than `limit` bytes. */
  exceeds(limit: number): boolean;
  /**
   * All of it, or undefined when there is none. A second call gives the same.
   * @throws `too-large` for more than `limit` bytes, and than the listener takes; `invalid` when it does not come whole.
   */
  read(limit?: number): Promise<Buffer | undefined>;
}

/** What is sent back. */
export interface Answer {
  readonly status: number;
  /** Undefined sends no `Content-Type`. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent means an empty body; a large one may come in pieces. */
  readonly body?: string | readonly Buffer[];
}

/** The same answer with more headers. */
export const withHeaders = (answer: Answer, headers: Readonly<Record<string, string>>): Answer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});
