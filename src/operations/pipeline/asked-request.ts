import type { Access, TokenIdentity } from '../../access/access.ts';
import type { AuditedRequest, AuditedResponse } from '../../access/audit-record.ts';
import type { SentHeaders } from '../../access/audited-headers.ts';
import type { WrapInfo } from '../../access/wrapping.ts';
import type { Mount } from '../../mounts/mount.ts';
import type { Dialect } from '../../transit/engine.ts';
import type { Core, Operation, Outcome } from '../declaration/operation.ts';
import type { Method } from '../declaration/route.ts';
import type { Match } from '../routes.ts';

/** Input of the pipeline (`perform`) from a frontend, and its results. */

type Raw = Readonly<Record<string, unknown>>;

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
   * Writes the audit record of a response before it is sent.
   * @throws `unavailable` if it cannot be written; the response must then not be sent
   */
  recordResponse(request: AuditedRequest, response: AuditedResponse): Promise<void>;
  /** Called when a login failed because of the client, for metrics. */
  loginFailed(): void;
}

/** Protocol-independent request, before authentication. */
export interface AskedRequest {
  /** `request_id` of the response and the audit records. */
  readonly id: string;
  readonly method: Method;
  /** As the audit trail calls it. */
  readonly path: string;
  /** The operation, or why there is none. */
  readonly match: Match;
  /** The mount that the path lies under. */
  readonly mount?: Mount | undefined;
  readonly token: string | undefined;
  /** Present if the frontend admits only the owner, who needs no token. */
  readonly byOwner?: true;
  /** Identity established by the frontend itself. Policies and auditing apply as for a token. */
  readonly identity?: TokenIdentity;
  /** Dialect of the caller; absent for a frontend with only one. */
  readonly dialect?: Dialect;
  /** Requested time to live of the wrapped response, in seconds; absent for an unwrapped one. */
  readonly wrapTtl?: number | undefined;
  /** Empty on a Unix socket. */
  readonly remoteAddress: string;
  /** Request headers by lower-case name, only for the audit log. */
  readonly headers?: SentHeaders;
  /** Certificates of the caller's connection, as in `Call`. */
  readonly clientCertificates?: readonly string[] | undefined;
  /** Scheme, host and port for links. */
  readonly baseUrl?: string;
  /** The store's revision, asked for since the request came in: what it was then is what it is answered from. */
  readonly revision: string;
  /** There is something for everybody at the path, by another method: that may be told. */
  readonly isOpenPath?: boolean;
  /** What policies write before the paths of the door's API. */
  readonly policyPrefix: string;
  policyPaths(core: Core): Promise<PolicyPaths> | PolicyPaths;
  /**
   * Reads and parses what was sent beside the path. Asked for once, after the path was allowed.
   * @throws what `Door.failed` understands.
   */
  parameters(operation: Operation): Promise<SentParameters>;
}

export interface PolicyPaths {
  /** Policies must allow all of them. */
  readonly paths: readonly string[];
  /** What the path names is in no place that policies know: denied, after they were asked all the same. */
  readonly leadNowhere?: boolean;
}

export interface SentParameters {
  /** Body or query by wire name, for policies. */
  readonly sent: Raw;
  /** The part of it that is recorded, hashed, in the audit log. */
  readonly recorded: Raw;
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
export interface Door<A> {
  /** Response without a valid token. */
  unauthenticated(): Result<A>;
  /** Error for an authenticated caller that follows from the path alone; undefined if there is none. */
  refused?(): Result<A> | undefined;
  denied(): Result<A>;
  /**
   * Response if the rate limit is exceeded, or too many logins have failed recently.
   * @param seconds time after which to try again
   */
  tooOften?(seconds: number): Result<A>;
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
  /** Replacement for a response that could not be recorded. */
  unrecorded(error: unknown): A;
}

/** Operation that was run. */
export interface Performed {
  readonly operation: Operation;
  readonly outcome: Outcome<unknown>;
  readonly captures: Readonly<Record<string, string>>;
  readonly sent: Raw;
  /** Parameter names that are unknown. */
  readonly unrecognized: readonly string[];
}
