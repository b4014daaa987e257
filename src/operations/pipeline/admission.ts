import { Crowded } from '../../access/login/turns.ts';
import type { Admission, Rated } from '../../access/quotas/quotas.ts';
import { asCofferError, type ErrorKind } from '../../ground/errors.ts';
import type { Mount } from '../../mounts/mount.ts';
import type { AnswerPrinter, AskedRequest, GuardedCore, Result } from './asked-request.ts';
import type { Endpoint } from './endpoints.ts';
import { Trail } from './trail.ts';

/** Returns the mount of a login. */
const loginMountOf = ({ endpoint: { operation, mount } }: AskedRequest): Mount | undefined =>
  operation?.unauthenticated ? mount : undefined;

/**
 * Counts a login from its arrival, before the request is read.
 * @see docs/decisions/0174
 */
export function countLogin({ access, loginFailed }: GuardedCore, asked: AskedRequest) {
  const mount = loginMountOf(asked);
  if (mount === undefined) return undefined;
  const begun = access.loginAttempts.begin(mount.uuid, asked.remoteAddress);
  if (begun === undefined) return { isBarred: true, failed: () => undefined, end: () => undefined };
  let hasFailed = false;
  return {
    /** Whether there are too many logins from that source, or too many failed recently. */
    isBarred: false,
    /** Called when it failed with an error. */
    failed(error: unknown): void {
      hasFailed = isCallersFault(error);
      if (hasFailed) loginFailed();
    },
    /** Called when it has been answered. */
    end: () => begun.end(hasFailed),
  };
}

const CALLERS_FAULTS: ReadonlySet<ErrorKind | undefined> = new Set<ErrorKind>([
  'invalid',
  'denied',
  'not-found',
  'too-large',
  'unsupported',
]);

/** Whether a login failed because of the client; exceeding the queue counts as a failure. */
const isCallersFault = (error: unknown): boolean =>
  error instanceof Crowded || CALLERS_FAULTS.has(asCofferError(error)?.kind);

/** Request in the pipeline. */
export interface PipelineRequest<A> {
  readonly guarded: GuardedCore;
  readonly asked: AskedRequest;
  readonly door: AnswerPrinter<A>;
}

/** Request that no rate limit for its path or address refuses. */
export interface AdmittedRequest<A> extends PipelineRequest<A> {
  /** Refuses logins of a role that exceed its rate limit. */
  readonly roleLimit?: (role: string | undefined) => Result<A> | undefined;
}

/**
 * Answers a request within the rate limits. They are checked before authentication, so that unauthenticated requests
 * count as well, and before the body is read.
 * @param answerTo answers an admitted request
 * @see docs/decisions/0187
 */
export async function withinLimits<A>(
  request: PipelineRequest<A>,
  answerTo: (admitted: AdmittedRequest<A>) => Promise<A>,
): Promise<A> {
  const { guarded, asked, door } = request;
  let admission: Admission | undefined;
  try {
    const { endpoint, remoteAddress } = asked;
    admission = await guarded.access.quotas.admit({
      revision: endpoint.revision,
      paths: () => pathsOf(guarded, endpoint),
      remoteAddress,
      loginMount: loginMountOf(asked)?.path,
    });
  } catch (error) {
    return door.failed(error, undefined).answer;
  }
  if (admission === undefined) return answerTo(request);
  const { config, rated, byRole } = admission;
  let last = rated;
  const told = (answer: A): A =>
    config.enable_rate_limit_response_headers && last !== undefined && door.told !== undefined
      ? door.told(answer, headersOf(last))
      : answer;
  const refusal = (by: Rated): Result<A> =>
    door.tooOften?.(Math.max(1, by.resetsIn), 'rate-limit') ?? door.unauthenticated();
  if (rated?.isAllowed === false) {
    const refused = refusal(rated);
    const failure = config.enable_rate_limit_audit_logging ? await record(request, refused) : undefined;
    return failure ?? told(refused.answer);
  }
  if (byRole === undefined) return told(await answerTo(request));
  const roleLimit = (role: string | undefined): Result<A> | undefined => {
    last = byRole(role);
    return last?.isAllowed === false ? refusal(last) : undefined;
  };
  const answer = await answerTo({ ...request, roleLimit });
  return told(answer);
}

/**
 * Records a request that was refused before authentication.
 * @returns the answer to send instead if that fails
 */
async function record<A>(
  { guarded, asked, door }: PipelineRequest<A>,
  refused: Result<A>,
): Promise<A | undefined> {
  try {
    await guarded.access.headersInTrail.follow(asked.endpoint.revision);
    await new Trail(guarded, asked, undefined).respond(refused);
    return undefined;
  } catch (error) {
    return door.unrecorded(error);
  }
}

/**
 * Returns the path as it was sent, and as policies name it: a path with an identifier counts for its organization as
 * well.
 */
async function pathsOf({ core }: GuardedCore, endpoint: Endpoint): Promise<readonly string[]> {
  const { paths } = await endpoint.policyPaths(core);
  return [...new Set([endpoint.path, ...paths.map((path) => endpoint.policyPrefix + path)])];
}

const headersOf = ({ limit, left, resetsIn }: Rated): Readonly<Record<string, string>> => ({
  'X-Ratelimit-Limit': String(limit),
  'X-Ratelimit-Remaining': String(left),
  'X-Ratelimit-Reset': String(resetsIn),
});
