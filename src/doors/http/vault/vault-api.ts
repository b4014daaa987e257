import { randomUUID } from 'node:crypto';
import type { TokenIdentity } from '../../../access/access.ts';
import { denied, notFound, ownWords } from '../../../ground/errors.ts';
import { withValue } from '../../../ground/maybe-promise.ts';
import type { Mount } from '../../../mounts/mount.ts';
import { isSystemPath, LOGIN_PREFIX } from '../../../mounts/paths.ts';
import {
  type Core,
  NOBODY,
  type Operation,
  operation,
  resultOf,
} from '../../../operations/declaration/operation.ts';
import { text } from '../../../operations/declaration/params.ts';
import { type Method, pathParams, printPath, routesOf } from '../../../operations/declaration/route.ts';
import type { AnswerPrinter, AskedRequest, Result } from '../../../operations/pipeline/asked-request.ts';
import { type Endpoint, type PathOffer, VaultEndpoints } from '../../../operations/pipeline/endpoints.ts';
import { isWelcome } from '../../../operations/pipeline/judge.ts';
import { perform } from '../../../operations/pipeline/perform.ts';
import { mountEnd, type StoreLook } from '../../../operations/pipeline/store-look.ts';
import { type Match, RouteTable, type ServedRoute } from '../../../operations/routes.ts';
import { runToPrint } from '../../../operations/runner.ts';
import type { NoteFailure, ServedCore } from '../../../service/served-core.ts';
import {
  type Answer,
  dialectOf,
  type Exchange,
  errorDetails,
  type PendingRequest,
  settled,
  tokenOf,
  wantsDetails,
  withHeaders,
} from '../exchange.ts';
import { dataStatus } from '../status-codes.ts';
import { ofWebPage } from './cors.ts';
import { errorBody, keptOf, type Labels, parameterNotes, printOutcome, wrapped } from './envelope.ts';
import { isAnswer, readParameters, readVaultRequest, refusedHeader, type VaultRequest } from './request.ts';

export const VAULT_PREFIX = '/v1/';

/** Maximum body size of operations on the server itself or on tokens, in bytes. */
const MAX_SYSTEM_BODY_BYTES = 1024 * 1024;
/** Maximum body size of a client without a token, in bytes. */
const MAX_STRANGER_BODY_BYTES = 64 * 1024;
/** Maximum number of unknown parameters of a login that are listed in a warning. */
const MOST_WARNED = 32;

interface VaultApiOptions {
  readonly routes: readonly ServedRoute[];
  /** Core while the server is unsealed. */
  readonly served: () => ServedCore | undefined;
  /** Core for the few operations that are available while it is sealed. */
  readonly sealedCore: Core;
  readonly failed: NoteFailure;
  /** Present if only the owner can connect: tokens are ignored. */
  readonly byOwner?: boolean;
}

/** Vault-compatible API: `/v1`. */
export class VaultApi {
  readonly #endpoints: VaultEndpoints;
  readonly #unfolding: RouteTable;
  readonly #options: VaultApiOptions;
  readonly #help: ServedRoute;

  constructor(options: VaultApiOptions) {
    const { routes } = options;
    this.#endpoints = new VaultEndpoints(routes);
    this.#unfolding = new RouteTable(
      routes.filter(({ operation, route }) => operation.unfolds && route.mount !== undefined),
    );
    this.#options = options;
    const operation = pathHelp((path) => this.#endpoints.offerAt(options.served(), path));
    const [route] = routesOf(operation);
    if (route === undefined) throw new Error('help has no route');
    this.#help = { name: 'help', summary: '', operation, route };
  }

  /** Reads what is requested, without the body. */
  take(exchange: Exchange): PendingRequest {
    const { origin } = exchange.headers;
    if (origin === undefined) return this.#take(exchange);
    const store = () => this.#options.served()?.core.store;
    return ofWebPage(exchange, origin, store, (seen) => this.#take(seen));
  }

  #take(exchange: Exchange): PendingRequest {
    const request = readVaultRequest(exchange, VAULT_PREFIX);
    if (isAnswer(request)) return settled(request);
    const refusal = refusedHeader(exchange);
    if (refusal !== undefined) return settled(refusal);
    return {
      weight: this.#weightOf(exchange, request),
      answer: () => this.#answer(exchange, request),
      caller: () => this.#caller(exchange, request),
      failed: (error) => this.#failure(exchange, request.method, error).answer,
    };
  }

  /** Returns the weight of a request; operations on the server itself are never large, and run in the server. */
  #weightOf({ body }: Exchange, { method, path, isForHelp }: VaultRequest): PendingRequest['weight'] {
    if (isSystemPath(path) || isForHelp) return 'light';
    // The mounts are not looked up, which would require reading the store.
    for (let end = mountEnd(path, 0); end !== -1; end = mountEnd(path, end + 1)) {
      if (typeof this.#unfolding.match(method, path.slice(end + 1)) === 'object') return 'unfolds';
    }
    return body.isLarge ? 'large' : 'light';
  }

  async #answer(exchange: Exchange, request: VaultRequest): Promise<Answer> {
    const { method, path } = request;
    try {
      const own = request.isForHelp ? 'unsupported-path' : this.#endpoints.ofServer(method, path);
      const served = this.#options.served();
      if (typeof own === 'object' && isProbe(own)) {
        return await this.#answerAnybody(exchange, request, own, served?.core);
      }
      if (own === 'unsupported-operation' && this.#endpoints.isOpen(path))
        return UNSUPPORTED_OPERATION.answer;
      if (isSystemPath(path) && exchange.body.exceeds(MAX_SYSTEM_BODY_BYTES)) return TOO_LARGE;
      if (served === undefined) return SEALED;
      const asked = this.#ask(exchange, request, await served.look());
      return await perform(served, asked, this.#door(exchange, asked));
    } catch (error) {
      return this.#failure(exchange, method, error).answer;
    }
  }

  async #caller(exchange: Exchange, request: VaultRequest): Promise<TokenIdentity | undefined> {
    const served = this.#options.served();
    if (served === undefined) return undefined;
    return isWelcome(served, this.#ask(exchange, request, await served.look()));
  }

  /** Answers health checks: no token, no audit record. */
  async #answerAnybody(
    exchange: Exchange,
    request: VaultRequest,
    match: Exclude<Match, string>,
    core: Core | undefined,
  ): Promise<Answer> {
    const { operation } = match.served;
    if (core === undefined && !operation.whileSealed) return SEALED;
    // The only request that a foreign web page could abuse: it can send it, although not read the response.
    if (request.method === 'POST' && isOfStrangePage(exchange)) {
      return OF_WEB_PAGE.answer;
    }
    const body = request.method === 'POST' ? await exchange.body.read(MAX_STRANGER_BODY_BYTES) : undefined;
    const raw = { ...readKnown(operation, request, exchange, { body }), ...match.captures };
    const call = { core: core ?? this.#options.sealedCore, caller: NOBODY };
    const labels = { id: randomUUID(), mountType: mountTypeOf(request.path, undefined) };
    return printOutcome(labels, operation, await runToPrint(call, operation, raw), []);
  }

  #ask(exchange: Exchange, request: VaultRequest, look: StoreLook): AskedRequest {
    const { method, path, wrapTtl } = request;
    const endpoint = request.isForHelp
      ? this.#endpoints.helpAt(look, path, this.#help)
      : this.#endpoints.at(look, method, path);
    const limit = isOpen(endpoint)
      ? MAX_STRANGER_BODY_BYTES
      : isSystemPath(path)
        ? MAX_SYSTEM_BODY_BYTES
        : undefined;
    return {
      id: randomUUID(),
      endpoint,
      token: this.#options.byOwner ? undefined : tokenOf(exchange),
      byOwner: this.#options.byOwner,
      dialect: dialectOf(exchange),
      wrapTtl,
      remoteAddress: exchange.remoteAddress,
      headers: exchange.headers,
      clientCertificates: exchange.clientCertificates,
      parameters: (operation) =>
        withValue(method === 'POST' ? exchange.body.read(limit) : undefined, (body) => {
          const mostUnknown = endpoint.mount === undefined ? 0 : MOST_WARNED;
          const sent = isOpen(endpoint)
            ? readKnown(operation, request, exchange, { body, mostUnknown })
            : readParameters(request, exchange, body);
          return { sent, recorded: sent };
        }),
    };
  }

  #door(exchange: Exchange, { id, endpoint, token }: AskedRequest): AnswerPrinter<Answer> {
    const { method, path, mount, isOpenPath } = endpoint;
    const isOfWebPage = isOpen(endpoint) && mount !== undefined && isOfStrangePage(exchange);
    return {
      unauthenticated: () => (token === undefined ? UNAUTHENTICATED : ofToken(exchange)),
      refused: () => (isOfWebPage ? OF_WEB_PAGE : undefined),
      denied: () => PERMISSION_DENIED,
      tooOften: (seconds, why) => tooOften(`request path "${path}": ${TOO_MANY[why]}`, seconds),
      told: withHeaders,
      missing: (found) => (isOpenPath ? UNSUPPORTED_LOGIN : missing(found, path, mount)),
      printed({ operation, outcome, captures, sent, unrecognized }) {
        const notes = parameterNotes(unrecognized, captures, sent);
        const labels: Labels = { id, mountType: mountTypeOf(path, mount) };
        const { existing, created } = outcome;
        const details = (existing || created) && wantsDetails(exchange);
        const shown = details ? { ...outcome, topLevel: { coffer: { existing, created } } } : outcome;
        const answer = printOutcome(labels, operation, shown, notes);
        const { wrapInfo } = outcome;
        const told = wrapInfo === undefined ? {} : { wrapInfo };
        return { answer, status: answer.status, data: resultOf(outcome), ...told };
      },
      kept: keptOf,
      failed: (error) => this.#failure(exchange, method, error),
      unrecorded: (error, failed) => (failed ?? this.#failure(exchange, method, error)).answer,
    };
  }

  #failure(exchange: Exchange, method: Method, error: unknown): Result<Answer> {
    const known = this.#options.failed(error);
    if (known === undefined) return refusal(500, wrapped('internal error'));
    const status = dataStatus(known, method);
    const text = known.kind === 'sealed' ? 'Vault is sealed' : known.message;
    const texts = status === 404 && !known.isGone ? [] : [text];
    return { answer: errorBody(status, texts, errorDetails(exchange, known)), status, error: text };
  }
}

/**
 * Reads the known parameters of an unauthenticated request: thousands of other names would be copied, sorted and hashed
 * for nothing.
 * @param mostUnknown maximum number of unknown ones to read, for a warning
 */
function readKnown(
  { params }: Operation,
  request: VaultRequest,
  exchange: Exchange,
  { body, mostUnknown = 0 }: { readonly body: Buffer | undefined; readonly mostUnknown?: number | undefined },
): Readonly<Record<string, unknown>> {
  const sent = readParameters(request, exchange, body, 'rounded');
  const known = Object.keys(params).filter((name) => Object.hasOwn(sent, name));
  const unknown = mostUnknown === 0 ? [] : Object.keys(sent).filter((name) => !Object.hasOwn(params, name));
  return Object.fromEntries([...known, ...unknown.slice(0, mostUnknown)].map((name) => [name, sent[name]]));
}

/** Whether a request comes from a web page of an origin that is not allowed. */
const isOfStrangePage = ({ headers, isOfAllowedPage }: Exchange): boolean =>
  headers.origin !== undefined && !isOfAllowedPage;

/** Whether the operation is available without a valid token. */
const isOpen = ({ operation }: Endpoint): boolean =>
  (operation?.unauthenticated ?? operation?.strangers) === true;

const isProbe = ({ served }: Exclude<Match, string>): boolean =>
  served.operation.unauthenticated === true && served.operation.whileSealed === true;

const refusal = (status: number, text: string): Result<Answer> => ({
  answer: errorBody(status, [text]),
  status,
  error: text,
});

const SEALED = errorBody(503, ['Vault is sealed']);
const TOO_LARGE = errorBody(413, ['http: request body too large']);
const UNAUTHENTICATED = refusal(403, ownWords('permission denied'));
/** Response to Coffer's own client for an invalid token, which no policy could help. */
const ofToken = (exchange: Exchange): Result<Answer> => ({
  ...UNAUTHENTICATED,
  answer: errorBody(403, [REFUSED.message], errorDetails(exchange, REFUSED)),
});
const REFUSED = denied(ownWords('permission denied'), {
  hint: 'the token is unknown, expired, revoked or not valid from your address: log in again with "coffer login", or use another token',
});
const PERMISSION_DENIED = refusal(403, ownWords(wrapped('permission denied')));
const UNSUPPORTED_OPERATION = refusal(405, ownWords(wrapped('unsupported operation')));
const UNSUPPORTED_LOGIN = refusal(405, ownWords('unsupported operation'));
const OF_WEB_PAGE = refusal(403, ownWords('requests from web pages of other origins are refused'));

/** The text of peers for rate limits. They have none for logins, for which there may be no limit to look for. */
const TOO_MANY = {
  'rate-limit': 'rate limit quota exceeded',
  logins: 'too many failed or simultaneous logins from this address',
} as const;

function tooOften(text: string, seconds: number): Result<Answer> {
  const { answer, ...result } = refusal(429, text);
  return { ...result, answer: withHeaders(answer, { 'retry-after': String(seconds) }) };
}

function missing(match: Extract<Match, string>, path: string, mount: Mount | undefined): Result<Answer> {
  if (match === 'unsupported-operation') return UNSUPPORTED_OPERATION;
  if (mount !== undefined) return refusal(404, wrapped('unsupported path'));
  return refusal(404, `no handler for route "${path}". route entry not found.`);
}

const mountTypeOf = (path: string, mount: Mount | undefined): Labels['mountType'] =>
  mount?.type ?? (path.startsWith(LOGIN_PREFIX) ? 'token' : 'system');

/**
 * Operation that answers `?help=1` on a path: lists the path's operations, from the declarations. It never runs any of
 * them.
 */
const pathHelp = (offerAt: (path: string) => PathOffer): Operation =>
  operation({
    route: 'GET /sys/help/:path+',
    anyToken: true,
    bare: true,
    params: { path: text({ help: 'API path.', required: true }) },
    async run(_, { path }) {
      const { routes, isMount } = offerAt(path);
      if (routes.length === 0) throw notFound(ownWords('no help for this path'), { field: 'path' });
      const help = isMount ? routes.map(headOf).join('') : routes.map(helpOn).join('\n');
      return { data: { help, see_also: [], openapi: null } };
    },
  });

function headOf({ summary, route }: ServedRoute): string {
  const path = printPath(
    route,
    (name) => `{${name}}`,
    (segment) => segment,
  );
  return `${route.method} ${path}\n    ${summary}.\n`;
}

function helpOn(served: ServedRoute): string {
  const { operation, route } = served;
  const inPath = new Set(pathParams(route));
  const lines = Object.entries(operation.params).map(([name, { help, schema }]) => {
    const kind = inPath.has(name) ? 'path' : (schema.type ?? 'any');
    return `    ${name} (${kind})\n        ${help}\n`;
  });
  return `${headOf(served)}${lines.length === 0 ? '' : `\n${lines.join('')}`}`;
}
