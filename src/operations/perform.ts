import type { Access, TokenIdentity } from '../access/access.ts';
import type { AuditedRequest, AuditedResponse } from '../access/audit-record.ts';
import type { Capability } from '../access/capability.ts';
import type { RequestParameters } from '../access/parameter-rule.ts';
import { asCofferError, failedAfter } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';
import type { Mount } from '../mounts/mounts.ts';
import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import type { Dialect } from '../transit/engine.ts';
import {
  type Call,
  type Caller,
  type Core,
  changesSomething,
  NOBODY,
  type Operation,
  type Outcome,
} from './declaration/operation.ts';
import { type Params, type Parsed, parseValues } from './declaration/params.ts';
import { type Method, printPath } from './declaration/route.ts';
import type { Match } from './routes.ts';

/**
 * The way of every request of a caller who brings a token, whatever door it came through: authenticate, authorize the
 * path, read and parse what was sent, authorize that, record, run, record, answer. A step that fails ends it: who may not
 * use a path is answered before anything of the body is looked at.
 * @see docs/decisions/0068
 */

/** The core of an unsealed store, with what stands between it and callers who bring a token. */
export interface GuardedCore {
  readonly core: Core;
  readonly access: Access;
  /** Written before an operation runs that changes something. @throws `unavailable`: then it must not run. */
  recordRequest(request: AuditedRequest): Promise<void>;
  /** Written before the answer is sent. @throws `unavailable`: then it must not be sent. */
  recordResponse(request: AuditedRequest, response: AuditedResponse): Promise<void>;
}

type Raw = Readonly<Record<string, unknown>>;

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
  /** What the caller speaks; absent where a door has but one way to speak. */
  readonly dialect?: Dialect;
  /** Empty on a Unix socket. */
  readonly remoteAddress: string;
  /** Scheme, host and port for links. */
  readonly baseUrl?: string;
  /** The store's revision, asked for since the request came in: what it was then is what it is answered from. */
  readonly revision: string;
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
}

/** How a door answers in the words of its protocol. */
export interface Door<A> {
  /** There is no good token. */
  unauthenticated(): Result<A>;
  /** What the path alone is refused for whoever asks with a good token; undefined when there is nothing. */
  refused?(): Result<A> | undefined;
  denied(): Result<A>;
  /** There is no such path or method, and the caller may know it. */
  missing(match: Extract<Match, string>): Result<A>;
  printed(performed: Performed): Result<A>;
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

/** Answers a request, whatever becomes of it; what can't be recorded is not given. */
export async function perform<A>(guarded: GuardedCore, asked: AskedRequest, door: Door<A>): Promise<A> {
  const { token, match } = asked;
  const operation = typeof match === 'string' ? undefined : match.served.operation;
  const identity =
    token === undefined || operation?.unauthenticated
      ? undefined
      : await guarded.access.authenticate(token, asked.revision);
  const trail = new Trail(guarded, asked, identity);
  let result: Result<A>;
  let failure: unknown;
  try {
    const judge = operation?.unauthenticated ? ANYBODY : identity && new PolicyJudge(asked, identity);
    result =
      judge === undefined
        ? door.unauthenticated()
        : (door.refused?.() ?? (await carryOut(guarded, asked, door, judge, trail)));
  } catch (error) {
    failure = error;
    result = door.failed(error, operation);
  }
  try {
    await trail.respond(result);
  } catch (error) {
    return door.unrecorded(whyUnrecorded(error, failure, trail.isChange));
  }
  return result.answer;
}

/** What was made, or may have been, stays so whatever becomes of its record: nobody may be invited to make it again. */
function whyUnrecorded(error: unknown, failure: unknown, isChange: boolean): unknown {
  if (failure === undefined)
    return isChange ? failedAfter('the change is made', error, 'look at it before you make it again') : error;
  return asCofferError(failure)?.kind === 'unconfirmed' ? failure : error;
}

/** Whether a token's policies may allow a request, as far as its path tells; the token is not used up by this. */
export async function isWelcome(
  guarded: GuardedCore,
  asked: AskedRequest,
): Promise<TokenIdentity | undefined> {
  if (asked.token === undefined) return undefined;
  const identity = await guarded.access.identify({ token: asked.token });
  if (identity === undefined) return undefined;
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
): Promise<Result<A>> {
  const { match } = asked;
  const { paths, leadNowhere } = await asked.policyPaths(guarded.core);
  if (!judge.allowsPaths(paths) || leadNowhere) return door.denied();
  if (typeof match === 'string') return door.missing(match);
  const { captures } = match;
  const { operation } = match.served;
  const { sent, recorded } = await asked.parameters(operation);
  trail.sent(operation, recorded);
  const raw = { ...sent, ...captures };
  const call: Call = {
    core: asked.dialect === undefined ? guarded.core : guarded.core.speaking(asked.dialect),
    caller: judge.caller,
    ...(operation.mount === undefined ? {} : { mount: asked.mount?.path ?? DEFAULT_MOUNT }),
    ...(asked.baseUrl === undefined ? {} : { baseUrl: asked.baseUrl }),
  };
  // Whether the target is there may need the values, and decides about the capability.
  const early = operation.exists === undefined ? undefined : parseValues(operation.params, raw);
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
  return door.printed({ operation, outcome, captures, sent, unrecognized });
}

/** Who says what may be done with one request. */
interface Judge {
  readonly caller: Caller;
  /** As far as the paths tell: what is sent beside them may be refused yet. */
  allowsPaths(paths: readonly string[]): boolean;
  allows(paths: readonly string[], operation: Operation, capability: Capability, sent: Raw): boolean;
}

/** For operations that need no token: a login is open to everybody, and recorded all the same. */
const ANYBODY: Judge = { caller: NOBODY, allowsPaths: () => true, allows: () => true };

/** The policies of a token. */
class PolicyJudge implements Judge {
  readonly caller: Caller;
  readonly #asked: AskedRequest;
  readonly #identity: TokenIdentity;

  constructor(asked: AskedRequest, identity: TokenIdentity) {
    this.#asked = asked;
    this.#identity = identity;
    const { token = '', policyPrefix } = asked;
    this.caller = {
      accessor: identity.accessor,
      token,
      may: (path, capability) => identity.acl.allows(policyPrefix + path, capability),
      reaches: (path) => identity.acl.reaches(`${policyPrefix}${path}/`),
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
    const { policyPrefix } = this.#asked;
    return paths.every((path) => this.#identity.acl.allows(policyPrefix + path, capability, sent, meant));
  }
}

/** The audit records of one request. */
class Trail {
  readonly #guarded: GuardedCore;
  #request: AuditedRequest;
  /** Whether an operation was allowed to run that changes something. */
  isChange = false;

  constructor(guarded: GuardedCore, asked: AskedRequest, identity: TokenIdentity | undefined) {
    const { id, method, path, mount, token, remoteAddress } = asked;
    this.#guarded = guarded;
    this.#request = {
      id,
      operation: CAPABILITY_OF[method],
      path,
      remoteAddress,
      ...(mount === undefined ? {} : { mountPoint: `${mount.path}/` }),
      ...(token === undefined ? {} : { token }),
      ...(identity === undefined ? {} : { identity }),
    };
  }

  sent({ params }: Operation, parameters: Raw): void {
    this.#request = { ...this.#request, parameters, isPlain: (name, value) => isPlain(params, name, value) };
  }

  /** The record before an operation that changes something. */
  async request(operation: Operation, capability: Capability): Promise<void> {
    this.#request = { ...this.#request, operation: capability };
    if (!changes(operation, capability)) return;
    await this.#guarded.recordRequest(this.#request);
    this.isChange = true;
  }

  /** The record goes first: an answer that can't be recorded is not given. */
  respond({ status, data, error }: Result<unknown>): Promise<void> {
    return this.#guarded.recordResponse(this.#request, {
      status,
      ...(isObject(data) ? { data } : {}),
      ...(error === undefined ? {} : { error }),
    });
  }
}

/** Whether the parameter takes the value for what it is; else it may be a secret that was meant to be text. */
function isPlain(params: Params, name: string, value: unknown): boolean {
  try {
    return Object.hasOwn(params, name) && params[name]?.parse(value, name) === value;
  } catch {
    return false;
  }
}

/** What policies are asked for where no operation says otherwise. */
const CAPABILITY_OF: Readonly<Record<Method, Capability>> = {
  GET: 'read',
  LIST: 'list',
  POST: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

/** `sudo` is asked for beside the capability that the method has anyway. */
const capabilityOf = (operation: Operation, method: Method): Capability =>
  operation.capability === 'sudo' ? CAPABILITY_OF[method] : operation.capability;

const isAllowed = (
  operation: Operation,
  capability: Capability,
  may: (capability: Capability) => boolean,
): boolean =>
  operation.anyToken === true || (may(capability) && (operation.capability !== 'sudo' || may('sudo')));

const changes = (operation: Operation, capability: Capability): boolean =>
  capability === 'create' || changesSomething(operation, capability);

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

/**
 * The path that was sent, and where a name in it has another spelling (policies are called by lower-case names) the one
 * that it means. Else a refusal of one spelling could be walked around with another.
 * @see docs/decisions/0096
 */
export function spellingsOf(path: string, match: Match): readonly string[] {
  if (typeof match === 'string') return [path];
  const { served, captures } = match;
  const { params } = served.operation;
  if (!Object.keys(captures).some((name) => params[name]?.understoodAs !== undefined)) return [path];
  const understood = (name: string): string | undefined => {
    const given = captures[name];
    return given === undefined ? undefined : (params[name]?.understoodAs?.(given) ?? given);
  };
  return [path, printPath(served.route, understood, (segment) => segment)];
}
