import { randomUUID } from 'node:crypto';
import type { TokenIdentity } from '../../../access/access.ts';
import type { AuditedRequest } from '../../../access/audit-record.ts';
import type { Mount } from '../../../mounts/mounts.ts';
import { DEFAULT_MOUNT, LOGIN_PREFIX } from '../../../mounts/paths.ts';
import {
  type Call,
  type Caller,
  type Capability,
  type Core,
  type Operation,
  resultOf,
} from '../../../operations/declaration/operation.ts';
import { type Params, type Parsed, parseValues } from '../../../operations/declaration/params.ts';
import type { Method } from '../../../operations/declaration/route.ts';
import {
  type Match,
  mountedRoutes,
  RouteTable,
  routesUnder,
  type ServedRoute,
} from '../../../operations/routes.ts';
import type { NoteFailure } from '../../../service/outside-view.ts';
import { mountEnd, type ServedCore } from '../../../service/served-core.ts';
import {
  CAPABILITY_OF,
  callerOf,
  capabilityOf,
  isAllowed,
  meaningOf,
  NOBODY,
  spellingsOf,
} from '../authorization.ts';
import type { Answer, Exchange, Result } from '../exchange.ts';
import { dataStatus } from '../status-codes.ts';
import { errorBody, type Labels, parameterNotes, printOutcome, wrapped } from './envelope.ts';
import {
  type DataRequest,
  errorDetails,
  isAnswer,
  readDataRequest,
  readParameters,
  refusedHeader,
  tokenOf,
} from './request.ts';

export const DATA_PREFIX = '/v1/';

/** A request on its way through the API. */
interface Progress {
  readonly id: string;
  readonly exchange: Exchange;
  readonly request: DataRequest;
  readonly match: Match;
  readonly mount: Mount | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly revision: string;
}

/** The API of the Vault family: `/v1`. */
export class DataApi {
  readonly #own: RouteTable;
  /** Below mounts, by their type. */
  readonly #mounted: ReadonlyMap<string, RouteTable>;
  readonly #unfolding: RouteTable;
  readonly #served: () => ServedCore | undefined;
  readonly #sealedCore: Core;
  readonly #failed: NoteFailure;

  /**
   * @param served the core while the server is unsealed.
   * @param sealedCore for the few operations that are answered while it is not.
   */
  constructor(options: {
    readonly routes: readonly ServedRoute[];
    readonly served: () => ServedCore | undefined;
    readonly sealedCore: Core;
    readonly failed: NoteFailure;
  }) {
    const { routes } = options;
    this.#own = new RouteTable(routesUnder(routes, 'vault'));
    this.#mounted = mountedRoutes(routes, 'vault');
    this.#unfolding = new RouteTable(
      routes.filter(({ operation, route }) => operation.unfolds && route.mount !== undefined),
    );
    this.#served = options.served;
    this.#sealedCore = options.sealedCore;
    this.#failed = options.failed;
  }

  async answer(exchange: Exchange): Promise<Answer> {
    const request = readDataRequest(exchange, DATA_PREFIX);
    if (isAnswer(request)) return request;
    try {
      return refusedHeader(exchange) ?? (await this.#route(exchange, request));
    } catch (error) {
      return this.#failure(exchange, request.method, error).answer;
    }
  }

  /** Whether a request may ask for far more work than its length tells. */
  unfolds(exchange: Exchange): boolean {
    const request = readDataRequest(exchange, DATA_PREFIX);
    if (isAnswer(request)) return false;
    const { method, path } = request;
    // To know which mounts there are takes a look at the store.
    for (let end = mountEnd(path, 0); end !== -1; end = mountEnd(path, end + 1)) {
      if (typeof this.#unfolding.match(method, path.slice(end + 1)) === 'object') return true;
    }
    return false;
  }

  async #route(exchange: Exchange, request: DataRequest): Promise<Answer> {
    const own = this.#own.match(request.method, request.path);
    const served = this.#served();
    if (typeof own === 'object' && own.served.operation.unauthenticated) {
      return this.#answerAnybody(exchange, request, own, served?.core);
    }
    if (own === 'unsupported-operation' && this.#own.isOpen(request.path)) {
      return UNSUPPORTED_OPERATION.answer;
    }
    if (served === undefined) return errorBody(503, ['Vault is sealed']);
    const parameters = readParameters(request, exchange);
    // Asked for once: what the store held when the request had come in is what it is answered from.
    const revision = await served.revision();
    const found = own === 'unsupported-path' ? served.mountOf(request.path) : undefined;
    const table = found && this.#mounted.get(found.type);
    const mount = table && found;
    const match = table?.match(request.method, request.path.slice((mount?.path.length ?? 0) + 1)) ?? own;
    return this.#answerToken(
      { id: randomUUID(), exchange, request, match, mount, parameters, revision },
      served,
    );
  }

  /** Probes: no token, no audit record. */
  async #answerAnybody(
    exchange: Exchange,
    request: DataRequest,
    match: Exclude<Match, string>,
    core: Core | undefined,
  ): Promise<Answer> {
    const { operation } = match.served;
    if (core === undefined && !operation.whileSealed) return errorBody(503, ['Vault is sealed']);
    // The one thing that a page in somebody's browser could do here: it can send this, though not read the answer.
    if (request.method === 'POST' && exchange.headers.origin !== undefined) {
      return errorBody(403, ['requests of web pages are refused']);
    }
    const call: Call = { core: core ?? this.#sealedCore, caller: NOBODY };
    const { values } = parseValues(operation.params, {
      ...readParameters(request, exchange),
      ...match.captures,
    });
    const labels = labelsOf({ id: randomUUID(), request, mount: undefined });
    return printOutcome(labels, operation, await operation.run(call, values), []);
  }

  async #answerToken(progress: Progress, served: ServedCore): Promise<Answer> {
    const { exchange, request, revision } = progress;
    const token = tokenOf(exchange);
    const identity = token === undefined ? undefined : await served.access.authenticate(token, revision);
    let audited = auditedRequest(progress, token, identity);
    let result: Result;
    try {
      if (token === undefined || identity === undefined) {
        result = refusal(403, 'permission denied');
      } else {
        const caller = callerOf(served, identity, token);
        const target = await this.#authorize(progress, served, identity, caller);
        if ('answer' in target) {
          result = target;
        } else {
          audited = { ...audited, operation: target.capability };
          if (changes(target)) await served.recordRequest(audited);
          result = await run(progress, target, served, caller);
        }
      }
    } catch (error) {
      result = this.#failure(exchange, request.method, error);
    }
    await served.recordResponse(audited, result);
    return result.answer;
  }

  /** What is to be run, once the token's policies allow it. */
  async #authorize(
    { match, request, parameters, mount }: Progress,
    served: ServedCore,
    identity: TokenIdentity,
    caller: Caller,
  ): Promise<Target | Result> {
    const { path, method } = request;
    const meant = () => (typeof match === 'string' ? {} : meaningOf(match.served.operation, parameters));
    const spellings = spellingsOf(path, match);
    const may = (capability: Capability) =>
      spellings.every((spelling) =>
        served.access.authorize(identity, spelling, capability, parameters, meant),
      );
    if (typeof match === 'string') {
      if (!may(CAPABILITY_OF[method])) return PERMISSION_DENIED;
      if (mount === undefined && match === 'unsupported-path') {
        return refusal(404, `no handler for route "${path}". route entry not found.`);
      }
      return match === 'unsupported-path' ? refusal(404, wrapped('unsupported path')) : UNSUPPORTED_OPERATION;
    }
    const { captures } = match;
    const { operation } = match.served;
    const raw = { ...parameters, ...captures };
    if (operation.exists !== undefined) {
      const parsed = parseValues(operation.params, raw);
      const call = callOf(served, caller, operation, mount);
      const capability = (await operation.exists(call, parsed.values)) ? 'update' : 'create';
      return may(capability) ? { operation, captures, raw, parsed, capability } : PERMISSION_DENIED;
    }
    const capability = capabilityOf(operation, method);
    return isAllowed(operation, capability, may)
      ? { operation, captures, raw, capability }
      : PERMISSION_DENIED;
  }

  #failure(exchange: Exchange, method: Method, error: unknown): Result {
    const known = this.#failed(error);
    if (known === undefined) return refusal(500, wrapped('internal error'));
    const status = dataStatus(known, method);
    const text = known.kind === 'sealed' ? 'Vault is sealed' : known.message;
    const texts = status === 404 ? [] : [text];
    return { answer: errorBody(status, texts, errorDetails(exchange, known)), error: text };
  }
}

interface Target {
  readonly operation: Operation;
  readonly captures: Readonly<Record<string, string>>;
  readonly raw: Readonly<Record<string, unknown>>;
  /** Present when the question whether the target exists needed the values. */
  readonly parsed?: Parsed<Params>;
  readonly capability: Capability;
}

const refusal = (status: number, text: string): Result => ({
  answer: errorBody(status, [text]),
  error: text,
});

const PERMISSION_DENIED = refusal(403, wrapped('permission denied'));
const UNSUPPORTED_OPERATION = refusal(405, wrapped('unsupported operation'));

const changes = ({ operation, capability }: Target): boolean =>
  capability === 'create' || (capability !== 'read' && capability !== 'list' && !operation.computes);

async function run(
  progress: Progress,
  { operation, captures, raw, parsed }: Target,
  served: ServedCore,
  caller: Caller,
): Promise<Result> {
  const { parameters, mount } = progress;
  const { values, unrecognized } = parsed ?? parseValues(operation.params, raw);
  const outcome = await operation.run(callOf(served, caller, operation, mount), values);
  const notes = parameterNotes(unrecognized, captures, parameters);
  return { answer: printOutcome(labelsOf(progress), operation, outcome, notes), data: resultOf(outcome) };
}

const callOf = (
  { core }: ServedCore,
  caller: Caller,
  operation: Operation,
  mount: Mount | undefined,
): Call => ({
  core,
  caller,
  ...(operation.mount === undefined ? {} : { mount: mount?.path ?? DEFAULT_MOUNT }),
});

const labelsOf = ({ id, request, mount }: Pick<Progress, 'id' | 'request' | 'mount'>): Labels => ({
  id,
  mountType: mount?.type ?? (request.path.startsWith(LOGIN_PREFIX) ? 'token' : 'system'),
});

function auditedRequest(
  { id, exchange, request, mount, parameters }: Progress,
  token: string | undefined,
  identity: TokenIdentity | undefined,
): AuditedRequest {
  return {
    id,
    operation: CAPABILITY_OF[request.method],
    path: request.path,
    remoteAddress: exchange.remoteAddress,
    parameters,
    ...(mount === undefined ? {} : { mountPoint: `${mount.path}/` }),
    ...(token === undefined ? {} : { token }),
    ...(identity === undefined ? {} : { identity }),
  };
}
