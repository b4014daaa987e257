import { idOf, isGoodFrom, type TokenIdentity } from '../access/access.ts';
import type { Capability } from '../access/capability.ts';
import type { RequestParameters } from '../access/parameter-rule.ts';
import type { WrapInfo } from '../access/wrapping.ts';
import { asCofferError, type CofferError, denied, invalid } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';
import { ownWords } from '../ground/own-words.ts';
import type { AskedRequest, Door, GuardedCore, Performed, PolicyPaths, Result } from './asked-request.ts';
import {
  asksAgain,
  type Call,
  type Caller,
  NOBODY,
  type Operation,
  type Outcome,
  owner,
  STORE_SECRET,
} from './declaration/operation.ts';
import { type Params, type Parsed, parseValues } from './declaration/params.ts';
import { CAPABILITY_OF, type Method } from './declaration/route.ts';
import { countLogin } from './login-limits.ts';
import { afterChange, Trail } from './trail.ts';
import { printWrapped } from './wrap-info.ts';

type Raw = Readonly<Record<string, unknown>>;

/**
 * The way of every request of a caller who brings a token, whatever door it came through: authenticate, authorize the
 * path, read and parse what was sent, authorize that, record, run, record, answer. A step that fails ends it: who may not
 * use a path is answered before anything of the body is looked at.
 * @see docs/decisions/0068
 */

/** Whether logins of a role come too often: then how that is answered. */
export type RoleLimit<A> = (role: string | undefined) => Result<A> | undefined;

/** Answers a request, whatever becomes of it; what can't be recorded is not given. */
export async function performAdmitted<A>(
  guarded: GuardedCore,
  asked: AskedRequest,
  door: Door<A>,
  roleLimit?: RoleLimit<A>,
): Promise<A> {
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
          : (door.refused?.() ?? (await carryOut(guarded, asked, door, judge, trail, roleLimit)));
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

/** Records what was refused before anybody looked who asks. @returns what is answered when that fails. */
export async function recordRefusal<A>(
  guarded: GuardedCore,
  asked: AskedRequest,
  door: Door<A>,
  result: Result<A>,
): Promise<A | undefined> {
  try {
    await Trail.awaited(guarded, asked);
    await new Trail(guarded, asked, undefined).respond(result);
    return undefined;
  } catch (error) {
    return door.unrecorded(error);
  }
}

/** Undefined for who may not ask without a good token. */
function judgeOf(asked: AskedRequest, identity: TokenIdentity | undefined): Judge | undefined {
  const { match, isOpenPath, byOwner } = asked;
  const operation = typeof match === 'string' ? undefined : match.served.operation;
  if (byOwner && !operation?.unauthenticated) return OWNER;
  if (identity !== undefined) return new PolicyJudge(asked, identity);
  const isOpen = operation === undefined ? isOpenPath : operation.unauthenticated || operation.strangers;
  return isOpen ? anybody(asked) : undefined;
}

/** What was made, or may have been, stays so whatever becomes of its record: nobody may be invited to make it again. */
function whyUnrecorded(error: unknown, failure: unknown, isChange: boolean): unknown {
  if (failure === undefined) return isChange ? afterChange(error) : error;
  return asCofferError(failure)?.kind === 'unconfirmed' ? failure : error;
}

/** Whether a token is good there and its policies may allow a request, as far as its path tells; it is not used up by this. */
export async function isWelcome(
  guarded: GuardedCore,
  asked: AskedRequest,
): Promise<TokenIdentity | undefined> {
  if (asked.token === undefined || asked.byOwner) return undefined;
  const identity = await guarded.access.identify({ token: asked.token });
  if (identity === undefined || !isGoodFrom(identity, asked.remoteAddress)) return undefined;
  const { paths, leadNowhere } = await asked.policyPaths(guarded.core);
  const isAllowedThere = new PolicyJudge(asked, identity).allowsPaths(paths);
  return isAllowedThere && !leadNowhere ? identity : undefined;
}

async function carryOut<A>(
  guarded: GuardedCore,
  asked: AskedRequest,
  door: Door<A>,
  judge: Judge,
  trail: Trail,
  roleLimit?: RoleLimit<A>,
): Promise<Result<A>> {
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
  if (asked.byOwner && asksAgain(operation, raw)) throw secretNeeded();
  const call: Call = {
    core: asked.dialect === undefined ? guarded.core : guarded.core.speaking(asked.dialect),
    caller: judge.caller,
    remoteAddress: asked.remoteAddress,
    ...(operation.mount === undefined ? {} : { mount: asked.mount?.path ?? '' }),
    ...(asked.clientCertificates === undefined ? {} : { clientCertificates: asked.clientCertificates }),
    ...(asked.baseUrl === undefined ? {} : { baseUrl: asked.baseUrl }),
    ...(asked.wrapTtl === undefined ? {} : { wrapTtl: asked.wrapTtl }),
    sent,
  };
  if (asked.wrapTtl !== undefined && operation.answersText) {
    throw invalid(ownWords('this answer can not be wrapped'), {
      hint: 'ask for it without a time for wrapping',
    });
  }
  // Whether the target is there may need the values, and decides about the capability.
  const isEarly = operation.exists !== undefined || roleLimit !== undefined;
  const early = isEarly ? parseValues(operation.params, raw) : undefined;
  const tooOften = early && roleLimit?.(await operation.roleOf?.(call, early.values));
  if (tooOften !== undefined) return tooOften;
  const capability =
    early === undefined || operation.exists === undefined
      ? capabilityOf(operation, asked.method)
      : (await operation.exists(call, early.values))
        ? 'update'
        : 'create';
  if (!judge.allows(paths, operation, capability, sent)) return door.denied();
  await trail.request(operation, capability);
  const { values, unrecognized }: Parsed<Params> = early ?? parseValues(operation.params, raw);
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
  const wrapInfo = await trail.sparing(() =>
    wrap(guarded, asked, door, judge.caller, performed, result.answer),
  );
  return wrapInfo === undefined ? result : door.printed({ ...performed, outcome: { wrapInfo } });
}

/**
 * Keeps an answer for the one who unwraps it, whatever operation gave it. What strangers can ask for stays open but for a login,
 * so that nobody without a token can have the store filled.
 * @throws when it can't be kept: it must not be given openly in that case.
 * @see docs/decisions/0170
 */
async function wrap<A>(
  { access }: GuardedCore,
  { wrapTtl, path, method }: AskedRequest,
  door: Door<A>,
  caller: Caller,
  { operation, outcome }: Performed,
  answer: A,
): Promise<WrapInfo | undefined> {
  if (wrapTtl === undefined || outcome.wrapInfo !== undefined || outcome.nothingListed) return undefined;
  if (caller.isStranger && outcome.auth === undefined) return undefined;
  const kept = door.kept?.(answer);
  if (kept === undefined) return undefined;
  const held = heldAccessor(operation, outcome);
  return printWrapped(
    await access.wrapping.wrap({
      answer: kept,
      ttl: wrapTtl,
      path: method === 'LIST' ? `${path}/` : path,
      ...(held === '' ? {} : { heldAccessor: held }),
    }),
  );
}

/** The accessor of the token or secret ID in an answer; empty where there is none. Data of the caller's own tell of none. */
function heldAccessor({ freeForm }: Operation, { auth, data }: Outcome<unknown>): string {
  const secretId =
    !freeForm && isObject(data) && 'secret_id' in data ? data['secret_id_accessor'] : undefined;
  const accessor = isObject(auth) ? auth['accessor'] : secretId;
  return typeof accessor === 'string' ? accessor : '';
}

/** Who says what may be done with one request. */
interface Judge {
  readonly caller: Caller;
  /** As far as the paths tell: what is sent beside them may be refused yet. */
  allowsPaths(paths: readonly string[]): boolean;
  allows(paths: readonly string[], operation: Operation, capability: Capability, sent: Raw): boolean;
}

/** For operations that need no token: a login is open to everybody, and recorded all the same. */
const anybody = ({ token }: AskedRequest): Judge => ({
  caller: token === undefined ? NOBODY : { ...NOBODY, token },
  allowsPaths: () => true,
  allows: () => true,
});

/** Whoever can open the store. */
const OWNER: Judge = { caller: owner, allowsPaths: () => true, allows: () => true };

const secretNeeded = (): CofferError =>
  denied(ownWords('this hands out what outlives the agent, so the secret of the store is asked for again'), {
    field: STORE_SECRET,
    hint: 'run it where it can be asked for, or see "coffer help environment"',
  });

/** The policies of a token. */
class PolicyJudge implements Judge {
  readonly caller: Caller;
  readonly #asked: AskedRequest;
  readonly #identity: TokenIdentity;

  constructor(asked: AskedRequest, identity: TokenIdentity) {
    this.#asked = asked;
    this.#identity = identity;
    const { token = '', policyPrefix, wrapTtl, match } = asked;
    const meaning = (sent: Raw = {}): Raw =>
      typeof match === 'string' ? sent : meaningOf(match.served.operation, sent);
    this.caller = {
      id: idOf(identity),
      accessor: identity.accessor,
      token,
      may: (path, capability, sent) =>
        identity.acl.allows(policyPrefix + path, capability, sent, () => meaning(sent), wrapTtl),
      reaches: (path) => identity.acl.reaches(`${policyPrefix}${path}/`),
      ...(identity.wrapped === undefined ? {} : { wrapped: identity.wrapped }),
    };
  }

  allowsPaths(paths: readonly string[]): boolean {
    const { match, method } = this.#asked;
    const may = (capability: Capability) => this.#may(paths, capability);
    if (typeof match === 'string') return may(CAPABILITY_OF[method]);
    const { operation } = match.served;
    if (operation.exists !== undefined) return may('update') || may('create');
    return isAllowed(operation, capabilityOf(operation, method), may);
  }

  allows(paths: readonly string[], operation: Operation, capability: Capability, sent: Raw): boolean {
    const meant = () => meaningOf(operation, sent);
    return isAllowed(operation, capability, (wanted) => this.#may(paths, wanted, sent, meant));
  }

  #may(paths: readonly string[], capability: Capability, sent?: Raw, meant?: () => Raw): boolean {
    const { policyPrefix, wrapTtl } = this.#asked;
    const { acl } = this.#identity;
    return paths.every((path) => acl.allows(policyPrefix + path, capability, sent, meant, wrapTtl));
  }
}

/** `sudo` is asked for beside the capability that the method has anyway. */
const capabilityOf = (operation: Operation, method: Method): Capability =>
  operation.capability === 'sudo' ? CAPABILITY_OF[method] : operation.capability;

const isAllowed = (
  operation: Operation,
  capability: Capability,
  may: (capability: Capability) => boolean,
): boolean =>
  operation.anyToken === true || (may(capability) && (operation.capability !== 'sudo' || may('sudo')));

/**
 * What an operation will understand parameters as, because policies deny values however they are spelled.
 * What it will refuse is left out.
 * @param parameters as they were sent; what a path or a default adds is not theirs.
 */
function meaningOf({ params }: Operation, parameters: RequestParameters): RequestParameters {
  const meant: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(params)) {
    if (!Object.hasOwn(parameters, name)) continue;
    try {
      meant[name] = param.parse(parameters[name], name);
    } catch (error) {
      if (asCofferError(error) === undefined) throw error;
    }
  }
  return meant;
}
