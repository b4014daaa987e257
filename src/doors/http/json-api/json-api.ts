import { randomUUID } from 'node:crypto';
import type { TokenIdentity } from '../../../access/access.ts';
import type { AuditedRequest } from '../../../access/audit-record.ts';
import type { Call, Operation } from '../../../operations/declaration/operation.ts';
import { parseValues } from '../../../operations/declaration/params.ts';
import { type Method, pathParams, routesOf } from '../../../operations/declaration/route.ts';
import { readDocument } from '../../../operations/json-api/request.ts';
import { RouteTable, routesUnder, type ServedRoute } from '../../../operations/routes.ts';
import type { NoteFailure } from '../../../service/outside-view.ts';
import type { ServedCore } from '../../../service/served-core.ts';
import { CAPABILITY_OF, callerOf, capabilityOf, isAllowed, meaningOf } from '../authorization.ts';
import type { Answer, Exchange, Result } from '../exchange.ts';
import { parseObject, parseQuery } from '../request-body.ts';
import { errorDetails, tokenOf } from '../vault/request.ts';
import {
  baseUrlOf,
  coreErrorDocument,
  documentAnswer,
  errorDocument,
  NO_DOCUMENT,
  NOT_FOUND,
  refusedMediaType,
  UNAUTHORIZED,
} from './documents.ts';

export const DOCUMENT_PREFIX = '/api/v2/';

/** The prefix again as policies see it, so that no transit mount's rules can be meant. */
const POLICY_PREFIX = 'api/v2/';

/** A request whose token is good, on its way through the API. */
interface Progress {
  readonly exchange: Exchange;
  readonly method: Method;
  readonly path: string;
  readonly query: string;
  readonly token: string;
  readonly identity: TokenIdentity;
  readonly served: ServedCore;
  audited: AuditedRequest;
}

/** The tags API: `/api/v2`, in the manners of JSON:API. */
export class DocumentApi {
  readonly #routes: RouteTable;
  readonly #served: () => ServedCore | undefined;
  readonly #failed: NoteFailure;

  constructor(options: {
    readonly routes: readonly ServedRoute[];
    readonly served: () => ServedCore | undefined;
    readonly failed: NoteFailure;
  }) {
    this.#routes = new RouteTable(routesUnder(options.routes, 'json-api'), decodeURIComponent);
    this.#served = options.served;
    this.#failed = options.failed;
  }

  async answer(exchange: Exchange): Promise<Answer> {
    try {
      return await this.#route(exchange);
    } catch (error) {
      return this.#failure(exchange, undefined, error).answer;
    }
  }

  async #route(exchange: Exchange): Promise<Answer> {
    const { target } = exchange;
    const mark = target.indexOf('?');
    const path = target.slice(DOCUMENT_PREFIX.length, mark === -1 ? undefined : mark);
    // The first call of every client, answered whatever its token is.
    if (path === 'ping') return NO_DOCUMENT;
    const served = this.#served();
    if (served === undefined) return SEALED;
    const token = tokenOf(exchange);
    const identity =
      token === undefined ? undefined : await served.access.authenticate(token, await served.revision());
    const method = METHODS[exchange.method];
    const audited: AuditedRequest = {
      id: randomUUID(),
      operation: CAPABILITY_OF[method ?? 'GET'],
      path: POLICY_PREFIX + path,
      remoteAddress: exchange.remoteAddress,
      ...(token === undefined ? {} : { token }),
      ...(identity === undefined ? {} : { identity }),
    };
    if (token === undefined || identity === undefined) {
      return finish(served, audited, { answer: UNAUTHORIZED, error: 'unauthorized' });
    }
    if (method === undefined) return finish(served, audited, MISSING);
    const query = mark === -1 ? '' : target.slice(mark + 1);
    const progress: Progress = { exchange, method, path, query, token, identity, served, audited };
    return this.#answerToken(progress);
  }

  async #answerToken(progress: Progress): Promise<Answer> {
    const { exchange, method, path, served } = progress;
    const refused = refusedMediaType(exchange);
    if (refused !== undefined) return finish(served, progress.audited, { answer: refused });
    let operation: Operation | undefined;
    let result: Result = MISSING;
    try {
      const match = this.#routes.match(method, path);
      if (typeof match === 'object') {
        operation = match.served.operation;
        result = await run(progress, operation, match.captures);
      }
    } catch (error) {
      result = this.#failure(exchange, operation, error);
    }
    return finish(served, progress.audited, result);
  }

  #failure(exchange: Exchange, operation: Operation | undefined, error: unknown): Result {
    // A path that is not percent-encoded UTF-8 names nothing.
    if (error instanceof URIError) return MISSING;
    if (error instanceof MalformedBody) {
      return { answer: errorDocument(400, { detail: error.message }), error: error.message };
    }
    const known = this.#failed(error);
    if (known === undefined) return { answer: errorDocument(500), error: 'internal error' };
    const answer = coreErrorDocument(known, operation, errorDetails(exchange, known));
    return { answer, error: known.message };
  }
}

const METHODS: Readonly<Record<string, Method>> = {
  GET: 'GET',
  POST: 'POST',
  PATCH: 'PATCH',
  DELETE: 'DELETE',
};

const SEALED = errorDocument(503, { detail: 'The store is sealed.' });
const MISSING: Result = { answer: NOT_FOUND, error: 'not found' };

/** The record goes first: an answer that can't be recorded is not given. */
async function finish(served: ServedCore, audited: AuditedRequest, result: Result): Promise<Answer> {
  try {
    await served.recordResponse(audited, result);
  } catch {
    return errorDocument(503, { detail: 'The request could not be audited.' });
  }
  return result.answer;
}

async function run(
  progress: Progress,
  operation: Operation,
  captures: Readonly<Record<string, string>>,
): Promise<Result> {
  const { exchange, method, identity, token, served, query } = progress;
  const caller = callerOf(served, identity, token, POLICY_PREFIX);
  const capability = capabilityOf(operation, method);
  const { policyPath, leadsNowhere } = await policyPathOf(progress, captures);
  if (!isAllowed(operation, capability, (wanted) => caller.may(policyPath, wanted)) || leadsNowhere) {
    return MISSING;
  }
  const sent = { ...queryBeside(operation, query), ...readDocument(operation, readBody(exchange)) };
  const raw = { ...sent, ...captures };
  progress.audited = { ...progress.audited, operation: capability, parameters: raw };
  const meant = () => meaningOf(operation, sent);
  // Only now: what is wrong with a body is told to nobody who may not use the path at all.
  if (!served.access.authorize(identity, POLICY_PREFIX + policyPath, capability, sent, meant)) return MISSING;
  const { values } = parseValues(operation.params, raw);
  if (method !== 'GET') await served.recordRequest(progress.audited);
  const call: Call = { core: served.core, caller, baseUrl: baseUrlOf(exchange) };
  const outcome = await operation.run(call, values);
  return { answer: documentAnswer(outcome), data: outcome.data };
}

/**
 * What policies are asked about: the path with its escapes undone. Where an identifier stands alone, the path below its
 * organization (`organizations/acme/tags/tag-…/relationships/workspaces`), so that one rule covers all that an
 * organization has. Nothing is looked up that depends on whether the identified thing exists, so that neither
 * the answer nor its time tells.
 */
async function policyPathOf(
  { path, served }: Progress,
  { tag_id, workspace_id }: Readonly<Record<string, string>>,
): Promise<{ readonly policyPath: string; readonly leadsNowhere: boolean }> {
  const decoded = decodeURIComponent(path);
  const identifier = tag_id ?? workspace_id;
  if (identifier === undefined) return { policyPath: decoded, leadsNowhere: false };
  const tags = await served.core.tags();
  const organization = await tags.organizationOf(identifier);
  return {
    policyPath: `organizations/${organization ?? ''}/${decoded}`,
    leadsNowhere: organization === undefined,
  };
}

/**
 * The query without what a path of the operation carries, be it another one than was taken: what an operation is about is
 * in the path alone, which is what policies judge.
 */
function queryBeside(operation: Operation, query: string): Readonly<Record<string, unknown>> {
  const inPaths = new Set(routesOf(operation).flatMap(pathParams));
  return Object.fromEntries(Object.entries(parseQuery(query)).filter(([name]) => !inPaths.has(name)));
}

class MalformedBody extends Error {}

function readBody({ body }: Exchange): Readonly<Record<string, unknown>> | undefined {
  if (body === undefined || body.length === 0) return undefined;
  try {
    return parseObject(body);
  } catch (error) {
    throw new MalformedBody('The body is not a JSON object.', { cause: error });
  }
}
