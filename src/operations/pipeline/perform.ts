import type { Capability } from '../../access/capability.ts';
import { asCofferError, type CofferError, denied, invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { asksAgain, type Call, type Operation, STORE_SECRET } from '../declaration/operation.ts';
import { type Params, type Parsed, parseValues } from '../declaration/params.ts';
import { type AdmittedRequest, withinLimits } from './admission.ts';
import type { AskedRequest, Door, GuardedCore, PolicyPaths, Result } from './asked-request.ts';
import { capabilityOf, type Judge, judgeOf } from './judge.ts';
import { countLogin } from './login-limits.ts';
import { afterChange, Trail } from './trail.ts';
import { keepWrapped } from './wrapped-answer.ts';

type Raw = Readonly<Record<string, unknown>>;

/**
 * The way of every request, whatever door it came through: rate limits, authenticate, authorize the path, read and parse what
 * was sent, authorize that, record, run, record, answer. A step that fails ends it: nothing of the body is looked at for a
 * caller who may not use the path.
 * @returns the answer, whatever becomes of the request; what can't be recorded is not given.
 * @see docs/decisions/0068
 */
export function perform<A>(guarded: GuardedCore, asked: AskedRequest, door: Door<A>): Promise<A> {
  const request = { guarded, asked, door };
  return asked.byOwner ? answerTo(request) : withinLimits(request, answerTo);
}

async function answerTo<A>(request: AdmittedRequest<A>): Promise<A> {
  const { guarded, asked, door } = request;
  const { token, match } = asked;
  const operation = typeof match === 'string' ? undefined : match.served.operation;
  const identity =
    token === undefined || asked.byOwner || operation?.unauthenticated
      ? asked.identity
      : await guarded.access.authenticate(token, asked.revision, asked.remoteAddress);
  const awaited = Trail.awaited(guarded, asked);
  if (awaited !== undefined) await awaited;
  const trail = new Trail(guarded, asked, identity);
  const login = countLogin(guarded, asked);
  let result: Result<A>;
  let failure: unknown;
  try {
    const judge = judgeOf(asked, identity);
    result =
      judge === undefined
        ? door.unauthenticated()
        : login.isBarred
          ? (door.tooOften?.(1) ?? door.unauthenticated())
          : (door.refused?.() ?? (await carryOut({ ...request, judge, trail })));
  } catch (error) {
    failure = error;
    login.failed(error);
    result = door.failed(error, operation);
  }
  try {
    await trail.respond(result);
  } catch (error) {
    return door.unrecorded(whyUnrecorded(error, failure, trail.isChange));
  } finally {
    login.end();
  }
  return result.answer;
}

/** What was made, or may have been, stays so whatever becomes of its record: nobody may be invited to make it again. */
function whyUnrecorded(error: unknown, failure: unknown, isChange: boolean): unknown {
  if (failure === undefined) return isChange ? afterChange(error) : error;
  return asCofferError(failure)?.kind === 'unconfirmed' ? failure : error;
}

/** A request of a caller who is known, as far as the operation needs one. */
interface JudgedRequest<A> extends AdmittedRequest<A> {
  readonly judge: Judge;
  readonly trail: Trail;
}

async function carryOut<A>(request: JudgedRequest<A>): Promise<Result<A>> {
  const { guarded, asked, door, judge, trail } = request;
  const { match } = asked;
  // What policies know of paths is nothing to the owner, who is told by the operation what there is not.
  const { paths, leadNowhere }: PolicyPaths = asked.byOwner
    ? { paths: [] }
    : await asked.policyPaths(guarded.core);
  if (!judge.allowsPaths(paths) || leadNowhere) return door.denied();
  if (typeof match === 'string') return door.missing(match);
  const { captures } = match;
  const { operation } = match.served;
  const { sent, recorded } = await asked.parameters(operation);
  trail.sent(operation, recorded);
  const raw = { ...sent, ...captures };
  refuseUnfit(asked, operation, raw);
  const call = callOf(request, operation, sent);
  const needsValues = operation.exists !== undefined || request.roleLimit !== undefined;
  const early = needsValues ? await lookAhead(request, operation, call, raw) : NOTHING_KNOWN;
  if (early.tooOften !== undefined) return early.tooOften;
  const capability = early.capability ?? capabilityOf(operation, asked.method);
  if (!judge.allows(paths, operation, capability, sent)) return door.denied();
  await trail.request(operation, capability);
  const { values, unrecognized } = early.parsed ?? parseValues(operation.params, raw);
  const outcome = await operation.run(call, values);
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

/** @throws `denied`, `invalid` for what is refused to everybody who asks in this way. */
function refuseUnfit({ byOwner, wrapTtl }: AskedRequest, operation: Operation, raw: Raw): void {
  if (byOwner && asksAgain(operation, raw)) throw secretNeeded();
  if (wrapTtl !== undefined && operation.answersText) {
    throw invalid(ownWords('this answer can not be wrapped'), {
      hint: 'ask for it without a time for wrapping',
    });
  }
}

const secretNeeded = (): CofferError =>
  denied(ownWords('this hands out what outlives the agent, so the secret of the store is asked for again'), {
    field: STORE_SECRET,
    hint: 'run it where it can be asked for, or see "coffer help environment"',
  });

function callOf<A>(
  { guarded: { core }, asked, judge }: JudgedRequest<A>,
  operation: Operation,
  sent: Raw,
): Call {
  const { dialect, remoteAddress, mount, clientCertificates, baseUrl, wrapTtl } = asked;
  return {
    core: dialect === undefined ? core : core.speaking(dialect),
    caller: judge.caller,
    remoteAddress,
    ...(operation.mount === undefined ? {} : { mount: mount?.path ?? '' }),
    ...(clientCertificates === undefined ? {} : { clientCertificates }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(wrapTtl === undefined ? {} : { wrapTtl }),
    sent,
  };
}

/** What is known of the values before the caller may have them worked on. */
interface LookAhead<A> {
  /** The refusal by a limit for the role that logs in. */
  readonly tooOften?: Result<A> | undefined;
  readonly capability?: Capability;
  readonly parsed?: Parsed<Params>;
}

const NOTHING_KNOWN: LookAhead<never> = {};

/** Limits for a role need its name, and whether `create` or `update` is asked for depends on whether the target exists. */
async function lookAhead<A>(
  { roleLimit }: JudgedRequest<A>,
  operation: Operation,
  call: Call,
  raw: Raw,
): Promise<LookAhead<A>> {
  const parsed = parseValues(operation.params, raw);
  const tooOften = roleLimit?.(await operation.roleOf?.(call, parsed.values));
  if (tooOften !== undefined || operation.exists === undefined) return { tooOften, parsed };
  return { capability: (await operation.exists(call, parsed.values)) ? 'update' : 'create', parsed };
}
