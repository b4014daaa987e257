import type { Access, TokenIdentity } from '../../access/access.ts';
import type { AuditedRequest, AuditedResponse } from '../../access/audit-record.ts';
import type { SentHeaders } from '../../access/audited-headers.ts';
import type { WrapInfo } from '../../access/wrapping.ts';
import type { Mount } from '../../mounts/mount.ts';
import type { Dialect } from '../../transit/engine.ts';
import type { Core, Operation, Outcome } from '../declaration/operation.ts';
import type { Method } from '../declaration/route.ts';
import type { Match } from '../routes.ts';

/** What a door hands to the pipeline (`perform`), and what it gets back. */

type Raw = Readonly<Record<string, unknown>>;

/** The core of an unsealed store, with what stands between it and callers who bring a token. */
export interface GuardedCore {
  readonly core: Core;
  readonly access: Access;
  /** Written before an operation runs that changes something. @throws `unavailable`: then it must not run. */
  recordRequest(request: AuditedRequest): Promise<void>;
  /** Written before the answer is sent. @throws `unavailable`: then it must not be sent. */
  recordResponse(request: AuditedRequest, response: AuditedResponse): Promise<void>;
  /** A login failed through its caller's fault: for those who count. */
  loginFailed(): void;
}

/** A request as every door understands it, before anybody looks who asks. */
export interface AskedRequest {
  /** The `request_id` of answer and audit records. */
  readonly id: string;
  readonly method: Method;
  /** As the audit trail calls it. */
  readonly path: string;
  /** The operation, or why there is none. */
  readonly match: Match;
  /** The mount that the path lies under. */
  readonly mount?: Mount;
  readonly token: string | undefined;
  /** The door lets in nobody but the owner, who needs no token. */
  readonly byOwner?: true;
  /** Who asks, where the door knows that by itself: policies are judged and uses are recorded as with a token. */
  readonly identity?: TokenIdentity;
  /** What the caller speaks; absent where a door has but one way to speak. */
  readonly dialect?: Dialect;
  /** Seconds for which the answer is to be wrapped; absent for an open one. */
  readonly wrapTtl?: number;
  /** Empty on a Unix socket. */
  readonly remoteAddress: string;
  /** Headers of the request, by names in lower case, for the audit trail alone. */
  readonly headers?: SentHeaders;
  /** The certificates that the caller's connection brought, as `Call` has them. */
  readonly clientCertificates?: readonly string[];
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
  /** Body or query, by wire name: what policies judge. */
  readonly sent: Raw;
  /** What of it goes, hashed, into the audit trail. */
  readonly recorded: Raw;
}

/** An answer, with what the audit trail is to know of it. */
export interface Result<A> {
  readonly answer: A;
  readonly status: number;
  readonly data?: unknown;
  readonly error?: string;
  readonly wrapInfo?: WrapInfo;
}

/** How a door answers in the words of its protocol. */
export interface Door<A> {
  /** There is no good token. */
  unauthenticated(): Result<A>;
  /** What the path alone is refused for whoever asks with a good token; undefined when there is nothing. */
  refused?(): Result<A> | undefined;
  denied(): Result<A>;
  /** The caller asks too often, or failed to log in too often of late. @param seconds after which to try again. */
  tooOften?(seconds: number): Result<A>;
  /** With headers that tell how often the caller may ask yet. */
  told?(answer: A, headers: Readonly<Record<string, string>>): A;
  /** There is no such path or method, and the caller may know it. */
  missing(match: Extract<Match, string>): Result<A>;
  printed(performed: Performed): Result<A>;
  /**
   * What of an answer is kept for the one who unwraps it; undefined for one that has nothing in it. Only for doors whose
   * requests may ask for wrapped answers.
   */
  kept?(answer: A): string | undefined;
  failed(error: unknown, operation: Operation | undefined): Result<A>;
  /** In place of an answer that the audit trail could not take. */
  unrecorded(error: unknown): A;
}

/** An operation that was run. */
export interface Performed {
  readonly operation: Operation;
  readonly outcome: Outcome<unknown>;
  readonly captures: Readonly<Record<string, string>>;
  readonly sent: Raw;
  /** Names that no parameter has. */
  readonly unrecognized: readonly string[];
}
