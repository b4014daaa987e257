import type { CofferError } from '../../../ground/errors.ts';
import type { Operation, Outcome } from '../../../operations/declaration/operation.ts';
import { queryFamily } from '../../../operations/json-api/query.ts';
import { errorSource } from '../../../operations/json-api/request.ts';
import type { Answer, Exchange } from '../exchange.ts';
import { DOCUMENT_TITLES, documentStatus } from '../status-codes.ts';

/** Documents, errors and media types of JSON:API, as `/api/v2` speaks it. */

export const MEDIA_TYPE = 'application/vnd.api+json';

/** On every answer, errors included: clients refuse a server without it. */
const VERSION_HEADERS = { 'tfp-api-version': '2.5', 'cache-control': 'no-store' } as const;

export const NO_DOCUMENT: Answer = { status: 204, headers: VERSION_HEADERS };

/** 200 or 201 with the document, 204 when there is none. */
export function documentAnswer({ data, created }: Outcome<unknown>): Answer {
  if (data === undefined) return NO_DOCUMENT;
  return {
    status: created ? 201 : 200,
    contentType: MEDIA_TYPE,
    headers: VERSION_HEADERS,
    body: JSON.stringify(data),
  };
}

interface ErrorMembers {
  readonly title?: string;
  readonly detail?: string;
  readonly source?: object;
  readonly meta?: object;
}

export function errorDocument(status: number, members: ErrorMembers = {}): Answer {
  const { title = DOCUMENT_TITLES[status] ?? 'error', ...others } = members;
  return {
    status,
    contentType: MEDIA_TYPE,
    headers: VERSION_HEADERS,
    // The status is a text: clients lose the whole message over a number.
    body: JSON.stringify({ errors: [{ status: String(status), title, ...others }] }),
  };
}

/** One constant answer for what is not there and for what the caller may not see. */
export const NOT_FOUND: Answer = errorDocument(404);
export const UNAUTHORIZED: Answer = errorDocument(401);

/**
 * The answer for an error of the core. What is missing and what is forbidden read the same, without any name.
 * @param details sent as `meta`, for the command's own client.
 * @param byOwner who may know of everything.
 */
export function coreErrorDocument(
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
  // JSON:API has its own status for a query that can't be kept; clients look for the words about include.
  const family = source !== undefined && 'parameter' in source ? queryFamily(source.parameter) : undefined;
  const isBadQuery = error.kind === 'invalid' && family !== undefined;
  return errorDocument(isBadQuery ? 400 : status, {
    ...(isBadQuery ? { title: `invalid ${family} parameter` } : {}),
    ...(error.kind === 'unsupported' ? { title: 'not supported' } : {}),
    detail: error.message,
    ...(source === undefined ? {} : { source }),
    ...(details === undefined ? {} : { meta: details }),
  });
}

const MUTATIONS = new Set(['POST', 'PATCH', 'DELETE']);

/** A request that may come without a body and its type: one client deletes projects so. */
const hasNothing = ({ method, headers }: Exchange): boolean =>
  method === 'DELETE' &&
  headers['content-type'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  (headers['content-length'] ?? '0') === '0';

/** @returns 415 or 406 when the request's media types are not those of JSON:API. */
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

/** What to do about a type that was refused: some programs add a parameter by themselves. */
function mediaTypeWanted(header: string | undefined): string {
  const parameter = parametersOf(header ?? '')?.find((name) => name !== 'profile');
  if (parameter === undefined) return `Send ${MEDIA_TYPE}.`;
  return `Send ${MEDIA_TYPE} without "${parameter}": JSON:API allows no such parameter here.`;
}

/** Without parameters but `profile`, which may be ignored: no extension is known here. */
const isMediaType = (header: string | undefined): boolean =>
  parametersOf((header ?? '').replace(UTF_8, ''))?.every((name) => name === 'profile') ?? false;

/** What a JSON document is written in anyway; some libraries add it by themselves. */
const UTF_8 = /;\s*charset=(?:utf-8|"utf-8")(?=\s*(?:;|$))/i;

/** The names of a JSON:API media type's parameters; undefined for another type. */
function parametersOf(mediaType: string): readonly string[] | undefined {
  const [type, ...parameters] = mediaType.split(';').map((part) => part.trim());
  if (type?.toLowerCase() !== MEDIA_TYPE) return undefined;
  return parameters.map((parameter) => (parameter.split('=')[0] ?? '').trim().toLowerCase());
}

const BELIEVABLE_HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** Scheme and host for links: those that the request names, when they look like some, else the listener's own. */
export function baseUrlOf({ headers, origin }: Exchange): string {
  const scheme = forwardedScheme(headers) ?? origin.slice(0, origin.indexOf(':'));
  const { host } = headers;
  return host !== undefined && BELIEVABLE_HOST.test(host) ? `${scheme}://${host}` : origin;
}

/** How the caller came to a proxy in front, as it says itself. Links are for that caller alone, so nothing is at stake. */
function forwardedScheme(headers: Exchange['headers']): string | undefined {
  const said =
    [headers['x-forwarded-proto']].flat()[0] ?? /proto="?(\w+)/i.exec(headers.forwarded ?? '')?.[1];
  const scheme = said?.split(',')[0]?.trim().toLowerCase();
  return scheme === 'https' || scheme === 'http' ? scheme : undefined;
}
