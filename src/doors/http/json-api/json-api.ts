import { randomUUID } from 'node:crypto';
import type { TokenIdentity } from '../../../access/access.ts';
import { asCofferError, attempt, type CofferError } from '../../../ground/errors.ts';
import type { Operation, Outcome } from '../../../operations/declaration/operation.ts';
import type { Method } from '../../../operations/declaration/route.ts';
import { errorSource, queryFamily, readDocument, readQuery } from '../../../operations/json-api/request.ts';
import type { AnswerPrinter, AskedRequest, Result } from '../../../operations/pipeline/asked-request.ts';
import { DocumentEndpoints } from '../../../operations/pipeline/endpoints.ts';
import { isWelcome } from '../../../operations/pipeline/judge.ts';
import { perform } from '../../../operations/pipeline/perform.ts';
import type { ServedRoute } from '../../../operations/routes.ts';
import type { NoteFailure, ServedCore } from '../../../service/served-core.ts';
import {
  type Answer,
  type Exchange,
  errorDetails,
  type PendingRequest,
  settled,
  tokenOf,
  withHeaders,
} from '../exchange.ts';
import { parseObject, parseQuery } from '../request-body.ts';
import { DOCUMENT_TITLES, documentStatus } from '../status-codes.ts';

/** Path prefix of the tags API. */
export const JSON_API_PREFIX = '/api/v2/';

/** Documents, errors and media types of the JSON:API at `/api/v2`. */

export const MEDIA_TYPE = 'application/vnd.api+json';

/** Headers of every response, including errors: clients refuse a server without them. */
const VERSION_HEADERS = { 'tfp-api-version': '2.5', 'cache-control': 'no-store' } as const;

const NO_DOCUMENT: Answer = { status: 204, headers: VERSION_HEADERS };

/** Formats 200 or 201 with the document, 204 without one. */
function documentAnswer({ data, created }: Outcome<unknown>): Answer {
  if (data === undefined) return NO_DOCUMENT;
  return {
    status: created ? 201 : 200,
    contentType: MEDIA_TYPE,
    headers: VERSION_HEADERS,
    body: JSON.stringify(data),
  };
}

interface ErrorMembers {
  readonly title?: string | undefined;
  readonly detail?: string;
  readonly source?: object | undefined;
  readonly meta?: object | undefined;
}

export function errorDocument(status: number, members: ErrorMembers = {}): Answer {
  const { title = DOCUMENT_TITLES[status] ?? 'error', ...others } = members;
  return {
    status,
    contentType: MEDIA_TYPE,
    headers: VERSION_HEADERS,
    // The status is a text: clients ignore the whole message if it is a number.
    body: JSON.stringify({ errors: [{ status: String(status), title, ...others }] }),
  };
}

/** Same response for missing resources and for those that the caller may not see. */
const NOT_FOUND: Answer = errorDocument(404);
const UNAUTHORIZED: Answer = errorDocument(401);

/**
 * Formats an error of the core. Missing and forbidden are the same, without any name.
 * @param details sent as `meta`, for Coffer's own client
 * @param byOwner whether the caller may know of everything
 */
function coreErrorDocument(
  error: CofferError,
  operation: Operation | undefined,
  details: object | undefined,
  byOwner = false,
): Answer {
  const status = documentStatus(error);
  if (status === 404 && !byOwner) return NOT_FOUND;
  if (status === 503 && error.kind === 'sealed')
    return errorDocument(503, { detail: 'The store is sealed.' });
  const source =
    operation === undefined || error.field === undefined ? undefined : errorSource(operation, error.field);
  // JSON:API has a separate status for an unsupported query; clients look for the text about include.
  const family = source !== undefined && 'parameter' in source ? queryFamily(source.parameter) : undefined;
  const isBadQuery = error.kind === 'invalid' && family !== undefined;
  return errorDocument(isBadQuery ? 400 : status, {
    title: isBadQuery
      ? `invalid ${family} parameter`
      : error.kind === 'unsupported'
        ? 'not supported'
        : undefined,
    detail: error.message,
    source,
    meta: details,
  });
}

const MUTATIONS = new Set(['POST', 'PATCH', 'DELETE']);

/** Whether a request may omit the body and its type: one client deletes projects like that. */
const hasNothing = ({ method, headers }: Exchange): boolean =>
  method === 'DELETE' &&
  headers['content-type'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  (headers['content-length'] ?? '0') === '0';

/**
 * Checks the media types of a JSON:API request.
 * @returns a 415 or 406 response, or undefined if they are acceptable
 */
export function refusedMediaType(exchange: Exchange): Answer | undefined {
  const { method, headers } = exchange;
  if (MUTATIONS.has(method) && !hasNothing(exchange) && !isMediaType(headers['content-type'])) {
    return errorDocument(415, {
      detail: mediaTypeWanted(headers['content-type']),
      source: { header: 'Content-Type' },
    });
  }
  const accepted = (headers.accept ?? '').split(',').map(parametersOf);
  const ours = accepted.filter((parameters) => parameters !== undefined);
  const anyPlain = ours.some((parameters) => parameters.every((name) => name === 'profile' || name === 'q'));
  return ours.length > 0 && !anyPlain ? errorDocument(406, { source: { header: 'Accept' } }) : undefined;
}

/** Formats the remedy for a refused media type: some programs add a parameter automatically. */
function mediaTypeWanted(header: string | undefined): string {
  const parameter = parametersOf(header ?? '')?.find((name) => name !== 'profile');
  if (parameter === undefined) return `Send ${MEDIA_TYPE}.`;
  return `Send ${MEDIA_TYPE} without "${parameter}": JSON:API allows no such parameter here.`;
}

/** Whether a media type has no parameters except `profile`, which may be ignored: no extensions are supported. */
const isMediaType = (header: string | undefined): boolean =>
  parametersOf((header ?? '').replace(UTF_8, ''))?.every((name) => name === 'profile') ?? false;

/** Redundant charset of JSON; some libraries add it automatically. */
const UTF_8 = /;\s*charset=(?:utf-8|"utf-8")(?=\s*(?:;|$))/i;

/** Returns the parameter names of a JSON:API media type; undefined for another type. */
function parametersOf(mediaType: string): readonly string[] | undefined {
  const [type, ...parameters] = mediaType.split(';').map((part) => part.trim());
  if (type?.toLowerCase() !== MEDIA_TYPE) return undefined;
  return parameters.map((parameter) => (parameter.split('=')[0] ?? '').trim().toLowerCase());
}

const BELIEVABLE_HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Returns scheme and host for links: those of the request if they are plausible, else the listener's own. */
export function baseUrlOf({ headers, origin }: Exchange): string {
  const scheme = forwardedScheme(headers) ?? origin.slice(0, origin.indexOf(':'));
  const { host } = headers;
  return host !== undefined && BELIEVABLE_HOST.test(host) ? `${scheme}://${host}` : origin;
}

/**
 * Returns the scheme of the client's connection to a proxy, as reported by the proxy. Links are only for that client,
 * so it need not be trusted.
 */
function forwardedScheme(headers: Exchange['headers']): string | undefined {
  const said =
    [headers['x-forwarded-proto']].flat()[0] ?? /proto="?(\w+)/i.exec(headers.forwarded ?? '')?.[1];
  const scheme = said?.split(',')[0]?.trim().toLowerCase();
  return scheme === 'https' || scheme === 'http' ? scheme : undefined;
}

interface JsonApiOptions {
  readonly routes: readonly ServedRoute[];
  readonly served: () => ServedCore | undefined;
  readonly failed: NoteFailure;
  /** Present if only the owner can connect: tokens are ignored. */
  readonly byOwner?: boolean;
}

/** Tags API: `/api/v2`, following JSON:API. */
export class JsonApi {
  readonly #endpoints: DocumentEndpoints;
  readonly #options: JsonApiOptions;

  constructor(options: JsonApiOptions) {
    this.#endpoints = new DocumentEndpoints(options.routes);
    this.#options = options;
  }

  /** Reads what is requested, without the body. */
  take(exchange: Exchange): PendingRequest {
    const { target } = exchange;
    const mark = target.indexOf('?');
    const path = target.slice(JSON_API_PREFIX.length, mark === -1 ? undefined : mark);
    if (!isEncoded(path)) return settled(MALFORMED_PATH);
    // First call of every client, answered whatever its token is.
    if (path === 'ping') return settled(NO_DOCUMENT);
    const query = mark === -1 ? '' : target.slice(mark + 1);
    return {
      weight: exchange.body.isLarge ? 'large' : 'light',
      answer: () => this.#answer(exchange, path, query),
      caller: () => this.#caller(exchange, path, query),
      failed: (error) => this.#failure(exchange, undefined, error).answer,
    };
  }

  async #answer(exchange: Exchange, path: string, query: string): Promise<Answer> {
    try {
      const served = this.#options.served();
      if (served === undefined) return SEALED;
      const asked = await this.#ask(exchange, path, query, served);
      return await perform(served, asked, this.#door(exchange));
    } catch (error) {
      return this.#failure(exchange, undefined, error).answer;
    }
  }

  async #caller(exchange: Exchange, path: string, query: string): Promise<TokenIdentity | undefined> {
    const served = this.#options.served();
    if (served === undefined) return undefined;
    const asked = await this.#ask(exchange, path, query, served);
    return asked.endpoint.operation === undefined ? undefined : isWelcome(served, asked);
  }

  async #ask(exchange: Exchange, path: string, query: string, served: ServedCore): Promise<AskedRequest> {
    const method = METHODS[exchange.method];
    const endpoint = this.#endpoints.at(await served.look(), method, path);
    const { match } = endpoint;
    return {
      id: randomUUID(),
      endpoint,
      ...(this.#options.byOwner ? { token: undefined, byOwner: true } : { token: tokenOf(exchange) }),
      remoteAddress: exchange.remoteAddress,
      headers: exchange.headers,
      baseUrl: baseUrlOf(exchange),
      async parameters(operation) {
        const body = method === 'GET' ? undefined : await exchange.body.read();
        const sent = {
          ...readQuery(operation, parseQuery(query)),
          ...readDocument(operation, parseBody(body)),
        };
        return { sent, recorded: typeof match === 'string' ? sent : { ...sent, ...match.captures } };
      },
    };
  }

  #door(exchange: Exchange): AnswerPrinter<Answer> {
    return {
      unauthenticated: () => resultOf(UNAUTHORIZED, 'unauthorized'),
      refused() {
        const refused = refusedMediaType(exchange);
        return refused === undefined ? undefined : resultOf(refused);
      },
      denied: () => MISSING,
      tooOften: (seconds) =>
        resultOf(withHeaders(TOO_OFTEN, { 'retry-after': String(seconds) }), 'rate limit quota exceeded'),
      told: withHeaders,
      missing: () => MISSING,
      printed({ outcome }) {
        const answer = documentAnswer(outcome);
        return { answer, status: answer.status, data: outcome.data };
      },
      failed: (error, operation) => this.#failure(exchange, operation, error),
      unrecorded: (error, failed) => {
        const { answer } = failed ?? this.#failure(exchange, undefined, error);
        return asCofferError(error)?.kind === 'unconfirmed' ? answer : UNRECORDED;
      },
    };
  }

  #failure(exchange: Exchange, operation: Operation | undefined, error: unknown): Result<Answer> {
    if (error instanceof MalformedBody) {
      return resultOf(errorDocument(400, { detail: error.message }), error.message);
    }
    const known = this.#options.failed(error);
    if (known === undefined) return resultOf(errorDocument(500), 'internal error');
    const details = errorDetails(exchange, known);
    return resultOf(coreErrorDocument(known, operation, details, this.#options.byOwner), known.message);
  }
}

const METHODS: Readonly<Record<string, Method>> = {
  GET: 'GET',
  // Node omits the body.
  HEAD: 'GET',
  POST: 'POST',
  PATCH: 'PATCH',
  DELETE: 'DELETE',
};

const resultOf = (answer: Answer, error?: string): Result<Answer> => ({
  answer,
  status: answer.status,
  error,
});

const SEALED = errorDocument(503, { detail: 'The store is sealed.' });
const TOO_OFTEN = errorDocument(429, { detail: 'Too many requests.' });
const UNRECORDED = errorDocument(503, { detail: 'The request could not be audited.' });
const MALFORMED_PATH = errorDocument(400, { detail: 'the path is not percent-encoded UTF-8' });
const MISSING = resultOf(NOT_FOUND, 'not found');

const isEncoded = (path: string): boolean =>
  attempt(() => !path.includes('%') || decodeURIComponent(path) !== undefined, false);

class MalformedBody extends Error {}

function parseBody(body: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  if (body === undefined || body.length === 0) return undefined;
  try {
    return parseObject(body);
  } catch (error) {
    throw new MalformedBody('The body is not a JSON object.', { cause: error });
  }
}
