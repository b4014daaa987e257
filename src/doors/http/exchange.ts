import type { IncomingHttpHeaders } from 'node:http';

/** One request as the APIs see it, whatever brought it. */
export interface Exchange {
  /** `GET`, `POST`, `LIST` and so on, in capitals. */
  readonly method: string;
  /** Path and query as they came over the wire. */
  readonly target: string;
  /** Without `content-type`. */
  readonly headers: IncomingHttpHeaders;
  readonly contentType: string | undefined;
  /** Undefined when there is none. */
  readonly body: Buffer | undefined;
  /** Empty on a Unix socket. */
  readonly remoteAddress: string;
  /** Scheme, host and port of the listener, for links when the request names no believable host. */
  readonly origin: string;
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

/** An answer with what the audit trail is to know of it. */
export interface Result {
  readonly answer: Answer;
  readonly data?: unknown;
  readonly error?: string;
}
