import type { Capability } from '../../access/capability.ts';
import { asCofferError, type CofferError, denied, invalid, ownWords } from '../../ground/errors.ts';
import { type MaybePromise, withValue } from '../../ground/maybe-promise.ts';
import type { JsonObject } from '../../ground/objects.ts';
import { asksAgain, type Call, type Operation, STORE_SECRET } from '../declaration/operation.ts';
import { type Params, type Parsed, parseValues } from '../declaration/params.ts';
import { type AdmittedRequest, countLogin, withinLimits } from './admission.ts';
import type { AnswerPrinter, AskedRequest, GuardedCore, Result, SentParameters } from './asked-request.ts';
import type { PolicyPaths } from './endpoints.ts';
import { type Judge, judgeOf } from './judge.ts';
import { afterChange, Trail } from './trail.ts';
import { keepWrapped } from './wrapped-answer.ts';

/**
 * Creates the error for parameters that cannot be parsed, such as truncated JSON. A protocol answers it like any other
 * `invalid` request.
 * @param cause not shown to callers, because parsers quote their input, which may be a secret
 */
export const malformed = (cause?: unknown): CofferError =>
  invalid(ownWords('the parameters of the request cannot be read'), {
    hint: 'check that the request is complete and in the format of the protocol',
    cause,
  });

/** Converts an error of reading parameters: frontends need not convert the platform's errors to ours. */
const orMalformed = (error: unknown): unknown => (error instanceof SyntaxError ? malformed(error) : error);

/**
 * Processes a request of any frontend: rate limits, authentication, authorization of the path, reading and parsing the
 * parameters, authorizing them, auditing the request, running it, auditing the response, and responding. A step that
 * fails ends it: the body of a caller without access to the path is never read.
 * @returns the answer, also for a failed request; a response that cannot be audited is not returned
 * @see docs/decisions/0068
 */
export function perform<A>(guarded: GuardedCore, asked: AskedRequest, door: AnswerPrinter<A>): Promise<A> {
  const request = { guarded, asked, door };
  const isUnlimited = asked.byOwner || guarded.access.quotas.areNoneAt(asked.endpoint.revision);
  return isUnlimited ? answerTo(request) : withinLimits(request, answerTo);
}

async function answerTo<A>(request: AdmittedRequest<A>): Promise<A> {
  const { guarded, asked, door } = request;
  const { token } = asked;
  const { operation, revision } = asked.endpoint;
  let { identity } = asked;
  try {
    if (token !== undefined && !asked.byOwner && !operation?.unauthenticated) {
      const found = guarded.access.authenticate(token, revision, asked.remoteAddress);
      identity = found instanceof Promise ? await found : found;
    }
    const following = guarded.access.headersInTrail.follow(revision);
    if (following !== undefined) await following;
  } catch (error) {
    return door.failed(error, undefined).answer;
  }
  const trail = new Trail(guarded, asked, identity);
  const login = operation?.unauthenticated ? countLogin(guarded, asked) : undefined;
  let result: Result<A>;
  let failure: unknown;
  try {
    const judge = judgeOf(asked, identity);
    result =
      judge === undefined
        ? door.unauthenticated()
        : login?.isBarred
          ? (door.tooOften?.(1, 'logins') ?? door.unauthenticated())
          : (door.refused?.() ?? (await carryOut({ ...request, judge, trail })));
  } catch (error) {
    failure = error;
    login?.failed(error);
    result = door.failed(error, operation);
  }
  try {
    const recording = trail.respond(result);
    if (recording !== undefined) await recording;
  } catch (error) {
    const why = whyUnrecorded(error, failure, trail);
    return door.unrecorded(why, why === failure ? result : undefined);
  } finally {
    login?.end();
  }
  return result.answer;
}

/**
 * Chooses the error if recording fails. A change that was made, or may have been, must not be reported such that the
 * client repeats it.
 */
function whyUnrecorded(error: unknown, failure: unknown, { isChange, isUnrecorded }: Trail): unknown {
  if (failure === undefined) return isChange ? afterChange(error) : error;
  return isUnrecorded || asCofferError(failure)?.kind === 'unconfirmed' ? failure : error;
}

/** Request of an authenticated caller, as far as the operation requires one. */
interface JudgedRequest<A> extends AdmittedRequest<A> {
  readonly judge: Judge;
  readonly trail: Trail;
}

const NO_PATHS: PolicyPaths = { paths: [] };

async function carryOut<A>(request: JudgedRequest<A>): Promise<Result<A>> {
  const { guarded, asked, door, judge, trail } = request;
  const { endpoint } = asked;
  const { match } = endpoint;
  // Policies do not apply to the owner. The operation itself reports missing objects to the owner.
  const policyPaths = asked.byOwner ? NO_PATHS : endpoint.policyPaths(guarded.core);
  const { paths, leadNowhere } = policyPaths instanceof Promise ? await policyPaths : policyPaths;
  if (!judge.allowsPaths(paths) || leadNowhere) return door.denied();
  if (typeof match === 'string') return door.missing(match);
  const { captures } = match;
  const { operation } = match.served;
  let parameters: SentParameters;
  try {
    const read = asked.parameters(operation);
    parameters = read instanceof Promise ? await read : read;
  } catch (error) {
    throw orMalformed(error);
  }
  const { sent, recorded } = parameters;
  trail.sent(operation, recorded);
  const raw = { ...sent, ...captures };
  refuseUnfit(asked, operation, raw);
  const call = callOf(request, operation, sent);
  const needsValues = operation.exists !== undefined || request.roleLimit !== undefined;
  const ahead = needsValues ? lookAhead(request, operation, call, raw) : NOTHING_KNOWN;
  const early = ahead instanceof Promise ? await ahead : ahead;
  if (early.tooOften !== undefined) return early.tooOften;
  const capability = early.capability ?? endpoint.capability;
  if (!judge.allows(paths, capability, sent)) return door.denied();
  const recording = trail.request(operation, capability);
  if (recording !== undefined) await recording;
  const { values, unrecognized } = early.parsed ?? parseValues(operation.params, raw);
  const outcome = await operation.run(call, values);
  if (operation.unauthenticated && outcome.issued !== undefined) trail.loggedIn(outcome.issued);
  const performed = {
    operation,
    outcome,
    captures,
    sent,
    unrecognized: operation.freeForm ? [] : unrecognized,
  };
  const result = door.printed(performed);
  if (asked.wrapTtl === undefined) return result;
  const wrapInfo = await trail.sparing(() => keepWrapped(request, performed, result.answer));
  return wrapInfo === undefined ? result : door.printed({ ...performed, outcome: { wrapInfo } });
}

/**
 * Refuses requests that no caller may make in this way.
 * @throws `denied` or `invalid` for such a request
 */
function refuseUnfit({ byOwner, wrapTtl }: AskedRequest, operation: Operation, raw: JsonObject): void {
  if (byOwner && asksAgain(operation, raw)) throw secretNeeded();
  if (wrapTtl !== undefined && operation.answersText) {
    throw invalid(ownWords('this response cannot be wrapped'), {
      hint: 'remove the wrapping TTL from the request',
    });
  }
}

const secretNeeded = (): CofferError =>
  denied(
    ownWords(
      'the secret of the store is required, because what the command prints or allows can be used even while the store is locked',
    ),
    {
      field: STORE_SECRET,
      hint: 'run the command on a terminal, or set a variable with the secret: see "coffer help environment"',
    },
  );

function callOf<A>(
  { guarded: { core }, asked, judge }: JudgedRequest<A>,
  operation: Operation,
  sent: JsonObject,
): Call {
  const { dialect, remoteAddress, endpoint, clientCertificates, baseUrl, wrapTtl } = asked;
  return {
    core: dialect === undefined ? core : core.speaking(dialect),
    caller: judge.caller,
    remoteAddress,
    mount: operation.mount === undefined ? undefined : (endpoint.mount?.path ?? ''),
    clientCertificates,
    baseUrl,
    wrapTtl,
    sent,
  };
}

/** Information about the values before the caller may have them processed. */
interface LookAhead<A> {
  /** Refusal by a limit for the role that logs in. */
  readonly tooOften?: Result<A> | undefined;
  readonly capability?: Capability;
  readonly parsed?: Parsed<Params>;
}

const NOTHING_KNOWN: LookAhead<never> = {};

/**
 * Looks ahead: limits for a role require its name, and whether `create` or `update` is required depends on whether the
 * target exists.
 */
function lookAhead<A>(
  { roleLimit }: JudgedRequest<A>,
  operation: Operation,
  call: Call,
  raw: JsonObject,
): MaybePromise<LookAhead<A>> {
  const parsed = parseValues(operation.params, raw);
  if (roleLimit === undefined) return lookForTarget(operation, call, parsed);
  return withValue(operation.roleOf?.(call, parsed.values), (role) => {
    const tooOften = roleLimit(role);
    return tooOften === undefined ? lookForTarget(operation, call, parsed) : { tooOften, parsed };
  });
}

function lookForTarget(
  operation: Operation,
  call: Call,
  parsed: Parsed<Params>,
): MaybePromise<LookAhead<never>> {
  if (operation.exists === undefined) return { parsed };
  return withValue(
    operation.exists(call, parsed.values),
    (isThere): LookAhead<never> => ({
      capability: isThere ? 'update' : 'create',
      parsed,
    }),
  );
}
