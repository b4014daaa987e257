import type { Access, TokenIdentity } from '../../access/access.ts';
import type { AuditedRequest, AuditedResponse } from '../../access/audit-record.ts';
import type { SentHeaders } from '../../access/audited-headers.ts';
import type { WrapInfo } from '../../access/wrapping.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { JsonObject } from '../../ground/objects.ts';
import type { Dialect } from '../../transit/engine.ts';
import type { Core, Operation, Outcome } from '../declaration/operation.ts';
import type { Match } from '../routes.ts';
import type { Endpoint } from './endpoints.ts';

/** Input of the pipeline (`perform`) from a frontend, and its results. */

/** Unsealed store with access control and auditing. */
export interface GuardedCore {
  readonly core: Core;
  readonly access: Access;
  /**
   * Writes the audit record of a request before a modifying operation runs.
   * @throws `unavailable` if it cannot be written; the operation must then not run
   */
  recordRequest(request: AuditedRequest): Promise<void>;
  /**
   * Writes the audit record of a response before it is sent; undefined if there is no audit log.
   * @throws `unavailable` if it cannot be written; the response must then not be sent
   */
  recordResponse(request: AuditedRequest, response: AuditedResponse): Promise<void> | undefined;
  /** Called when a login failed because of the client, for metrics. */
  loginFailed(): void;
}

/** Protocol-independent request, before authentication. */
export interface AskedRequest {
  /** `request_id` of the response and the audit records. */
  readonly id: string;
  /** Operation and paths that the request names. */
  readonly endpoint: Endpoint;
  readonly token: string | undefined;
  /** Whether the frontend admits only the owner, who needs no token. */
  readonly byOwner?: boolean | undefined;
  /** Identity established by the frontend itself. Policies and auditing apply as for a token. */
  readonly identity?: TokenIdentity;
  /** Dialect of the caller; absent for a frontend with only one. */
  readonly dialect?: Dialect;
  /** Requested time to live of the wrapped response, in seconds; absent for an unwrapped one. */
  readonly wrapTtl?: number | undefined;
  /** Address of the client; empty on a Unix socket. */
  readonly remoteAddress: string;
  /** Request headers by lower-case name, only for the audit log. */
  readonly headers?: SentHeaders;
  /** Certificates of the caller's connection, as in `Call`. */
  readonly clientCertificates?: readonly string[] | undefined;
  /** Scheme, host and port for links. */
  readonly baseUrl?: string;
  /**
   * Reads and parses the parameters sent in addition to the path. Called once, after the path was allowed.
   * @throws `malformed` if they cannot be parsed; other errors that `AnswerPrinter.failed` can format
   */
  parameters(operation: Operation): MaybePromise<SentParameters>;
}

export interface SentParameters {
  /** Body or query by wire name, for policies. */
  readonly sent: JsonObject;
  /** The part of it that is recorded, hashed, in the audit log. */
  readonly recorded: JsonObject;
}

/** Response, with the data for the audit log. */
export interface Result<A> {
  readonly answer: A;
  readonly status: number;
  readonly data?: unknown;
  readonly error?: string | undefined;
  readonly wrapInfo?: WrapInfo;
}

/** Formats responses in the frontend's protocol. */
export interface AnswerPrinter<A> {
  /** Response without a valid token. */
  unauthenticated(): Result<A>;
  /** Error for an authenticated caller that follows from the path alone; undefined if there is none. */
  refused?(): Result<A> | undefined;
  denied(): Result<A>;
  /**
   * Response if a rate limit is exceeded, or too many logins have failed recently.
   * @param seconds time after which to try again
   */
  tooOften?(seconds: number, why: 'rate-limit' | 'logins'): Result<A>;
  /** Adds headers with the state of the rate limit. */
  told?(answer: A, headers: Readonly<Record<string, string>>): A;
  /** Response if the path or method does not exist, and the caller may know it. */
  missing(match: Extract<Match, string>): Result<A>;
  printed(performed: Performed): Result<A>;
  /**
   * Returns the part of a response that is stored for unwrapping; undefined if it is empty. Only for frontends whose
   * requests can ask for wrapped responses.
   */
  kept?(answer: A): string | undefined;
  failed(error: unknown, operation: Operation | undefined): Result<A>;
  /**
   * Replacement for a response that could not be recorded.
   * @param failed result of `failed` for the same error, if that was called
   */
  unrecorded(error: unknown, failed?: Result<A>): A;
}

/** Operation that was run. */
export interface Performed {
  readonly operation: Operation;
  readonly outcome: Outcome<unknown>;
  readonly captures: Readonly<Record<string, string>>;
  readonly sent: JsonObject;
  /** Parameter names that are unknown. */
  readonly unrecognized: readonly string[];
}
