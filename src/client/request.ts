import { type CofferError, invalid, unconfirmed } from '../ground/errors.ts';
import type { JsonObject } from '../ground/objects.ts';
import { changesSomething, type Operation, type PathRequest } from '../operations/declaration/operation.ts';
import { pathParams, printPath, type Route, routesOf } from '../operations/declaration/route.ts';
import { printDocument } from '../operations/json-api/request.ts';
import type { SentRequest } from '../service/agent/calls.ts';

/** Transport of requests and responses. */
export interface Transport {
  /**
   * Sends a request.
   * @throws `unavailable` if there is no response; `unconfirmed` if the request may have been carried out
   */
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

export interface WireRequest extends SentRequest {
  /** Whether it changes something, so that it must not be repeated if there is no response. */
  readonly changes?: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** With 429: the time in milliseconds after which the server accepts requests again. */
  readonly waitMs?: number | undefined;
}

/** Status of requests that exceed a rate limit. */
export const TOO_MANY_REQUESTS = 429;

/** Response timeout in milliseconds, the same as in Vault servers. */
export const ANSWER_WITHIN_MS = 90_000;

export const STRANGER_HINT = { hint: 'check what is listening at that address' } as const;

/** Converts the error of a modifying request that was sent, because it may have been carried out. */
export const perhapsDone = (error: CofferError): CofferError =>
  unconfirmed(error.message, {
    hint: 'the request may have been carried out: check before retrying',
    cause: error,
  });

const MEDIA_TYPE = 'application/vnd.api+json';

/** Credentials of requests. */
export interface Bearer {
  readonly token: string | undefined;
  /** Namespace, for Vault servers that support it. */
  readonly namespace: string | undefined;
}

/** Creates the request for an arbitrary path. */
export function printPathRequest({ method, path, parameters }: PathRequest, bearer: Bearer): WireRequest {
  const query = new URLSearchParams(method === 'LIST' ? [['list', 'true']] : []);
  const isWrite = method === 'POST';
  for (const [name, value] of isWrite ? [] : Object.entries(parameters)) query.append(name, String(value));
  const target = `/v1/${plain('path', path).split('/').map(encodeURIComponent).join('/')}`;
  return {
    method: method === 'LIST' ? 'GET' : method,
    target: query.size === 0 ? target : `${target}?${query}`,
    headers: headersOf(false, isWrite, bearer),
    body: isWrite ? JSON.stringify(parameters) : undefined,
  };
}

/** Creates the request for an operation from raw values. */
export function printRequest(
  operation: Operation,
  raw: JsonObject,
  mount: string,
  bearer: Bearer,
): WireRequest {
  const route = routeFor(operation, raw);
  const isDocument = operation.api === 'json-api';
  const inPath = new Set(pathParams(route));
  const rest = Object.entries(raw).filter(([name, value]) => !inPath.has(name) && value !== undefined);
  const body = isDocument ? printDocument(operation, raw) : dataBody(operation, route, rest);
  const inQuery = isDocument
    ? rest.filter(([name]) => operation.params[name]?.document === undefined)
    : route.method === 'POST'
      ? []
      : rest;
  return {
    // Proxies know GET, but not always LIST.
    method: route.method === 'LIST' ? 'GET' : route.method,
    target: pathOf(operation, route, raw, mount) + queryOf(route, written(operation, inQuery)),
    headers: headersOf(isDocument, isDocument ? route.method !== 'GET' : body !== undefined, bearer),
    body: body === undefined ? undefined : JSON.stringify(body),
    changes: changesSomething(operation, operation.capability),
  };
}

/** Chooses the first route whose path can be filled. */
function routeFor(operation: Operation, raw: JsonObject): Route {
  const routes = routesOf(operation);
  const route = routes.find(({ parts }) =>
    parts.every((part) => 'text' in part || part.optional || isText(raw[part.param])),
  );
  if (route !== undefined) return route;
  const missing = routes.flatMap(pathParams).find((name) => !isText(raw[name])) ?? 'path';
  throw invalid(`missing ${missing}`, { field: missing });
}

const isText = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || typeof value === 'number';

function pathOf(operation: Operation, route: Route, raw: JsonObject, mount: string): string {
  const path = printPath(route, (name) => (isText(raw[name]) ? plain(name, String(raw[name])) : undefined));
  if (operation.api === 'json-api') return `/api/v2/${path}`;
  if (route.mount === undefined) return `/v1/${path}`;
  return `/v1/${plain('mount', mount).split('/').map(encodeURIComponent).join('/')}/${path}`;
}

/**
 * Refuses dot segments: a proxy may resolve them, so that the request would have another target.
 * @throws `invalid`
 */
function plain(name: string, value: string): string {
  if (!value.split('/').some((segment) => segment === '.' || segment === '..')) return value;
  throw invalid(`${name} ${JSON.stringify(value)} is not allowed`, {
    field: name,
    hint: 'names cannot be "." or ".."',
  });
}

/** Expands parameters that a query writes as several. */
const written = (
  { params }: Operation,
  entries: readonly (readonly [string, unknown])[],
): readonly (readonly [string, unknown])[] =>
  entries.flatMap((entry): readonly (readonly [string, unknown])[] => {
    const [name, value] = entry;
    return params[name]?.query?.print(value) ?? [entry];
  });

function queryOf(route: Route, entries: readonly (readonly [string, unknown])[]): string {
  const query = new URLSearchParams(route.method === 'LIST' ? [['list', 'true']] : []);
  for (const [name, value] of entries) {
    for (const item of [value].flat()) query.append(name, String(item));
  }
  return query.size === 0 ? '' : `?${query}`;
}

const dataBody = (
  { params }: Operation,
  { method }: Route,
  entries: readonly (readonly [string, unknown])[],
): object | undefined =>
  method === 'POST'
    ? Object.fromEntries(entries.map(([name, value]) => [params[name]?.sentAs ?? name, value]))
    : undefined;

function headersOf(
  isDocument: boolean,
  hasContent: boolean,
  { token, namespace }: Bearer,
): Readonly<Record<string, string>> {
  const type = isDocument ? MEDIA_TYPE : 'application/json';
  const headers: Record<string, string> = {
    accept: type,
    // Requests the details of errors, so that they equal local ones.
    'x-coffer-details': '1',
  };
  if (hasContent) headers['content-type'] = type;
  if (isDocument) return token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
  // The second is for Vault servers; Coffer servers use the first one, and respond in their own dialect.
  if (token !== undefined) Object.assign(headers, { 'x-service-token': token, 'x-vault-token': token });
  headers['x-vault-request'] = 'true';
  if (namespace !== undefined) headers['x-vault-namespace'] = namespace;
  return headers;
}
