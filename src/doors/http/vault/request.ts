import { MOST_SECONDS } from '../../../ground/clock.ts';
import { parseGoDuration } from '../../../ground/durations.ts';
import { attempt } from '../../../ground/errors.ts';
import { withoutLast } from '../../../ground/trim.ts';
import type { Method } from '../../../operations/declaration/route.ts';
import type { Answer, Exchange } from '../exchange.ts';
import { formPairs, parseForm, parseObject, parseQuery } from '../request-body.ts';
import { errorBody, wrapped } from './envelope.ts';

/** Parsed request to `/v1`, before authentication. */
export interface VaultRequest {
  readonly method: Method;
  /** Decoded, below `/v1/`, without the final slash of a list. */
  readonly path: string;
  readonly query: string;
  /** Present if only the help of the path is requested. */
  readonly isForHelp?: true;
  /** Requested time to live of the wrapped response, in seconds; absent for an unwrapped one. */
  readonly wrapTtl?: number;
}

/**
 * Reads method and path; no later code decodes a path again.
 * @returns a response if the request is invalid regardless of the caller
 */
export function readVaultRequest(exchange: Exchange, prefix: string): VaultRequest | Answer {
  const { target } = exchange;
  const mark = target.indexOf('?');
  const query = mark === -1 ? '' : target.slice(mark + 1);
  const path = decodePath(target.slice(prefix.length, mark === -1 ? undefined : mark));
  if (path === undefined) return errorBody(400, ['the path is not percent-encoded UTF-8']);
  // Regardless of the method: a request for help must not run anything.
  const isForHelp = asksForHelp(query);
  const method = isForHelp ? 'GET' : methodOf(exchange.method, path, query);
  if (typeof method !== 'string') return method;
  if (hasDotSegment(path)) return errorBody(400, ['relative paths not supported']);
  if (isForHelp) return { method, path, query, isForHelp };
  const wrapTtl = readWrapTtl(exchange);
  if (typeof wrapTtl === 'object') return wrapTtl;
  const wrapping = wrapTtl === 0 ? {} : { wrapTtl };
  if (method === 'LIST') return { method, path: path.replace(/\/$/, ''), query, ...wrapping };
  if (method === 'POST' && REVOKED_PREFIX.test(path)) {
    return { method, path: withoutLast(path, '/'), query, ...wrapping };
  }
  if (method === 'POST' && path.endsWith('/')) {
    return errorBody(400, ["cannot write to a path ending in '/'"]);
  }
  return { method, path, query, ...wrapping };
}

/** Paths that end with a prefix, which users terminate with a slash. */
const REVOKED_PREFIX = /^sys\/(?:leases\/)?revoke-(?:prefix|force)\/.*[^/]\/+$/;

/**
 * Reads the requested TTL. Fractions of a second are rounded up: a response to be wrapped must not be sent unwrapped.
 */
function readWrapTtl({ headers }: Exchange): number | Answer {
  const given = String(headers['x-service-wrap-ttl'] || headers['x-vault-wrap-ttl'] || '0');
  const seconds = parseGoDuration(given);
  if (seconds >= 0 && seconds <= MOST_SECONDS) return Math.ceil(seconds);
  const why =
    seconds < 0 ? 'requested wrap ttl cannot be negative' : `time: invalid duration ${JSON.stringify(given)}`;
  return errorBody(400, [`error parsing X-Vault-Wrap-TTL header: ${why}`]);
}

export const isAnswer = (value: VaultRequest | Answer): value is Answer => 'status' in value;

const decodePath = (path: string): string | undefined =>
  path.includes('%') ? attempt(() => decodeURIComponent(path)) : path;

const hasDotSegment = (path: string): boolean => path.includes('..') && /(?:^|\/)\.\.(?:\/|$)/.test(path);

const TRUE = /^(?:1|t|T|TRUE|true|True)$/;
const FALSE = /^(?:0|f|F|FALSE|false|False)$/;

function methodOf(method: string, path: string, query: string): Method | Answer {
  if (method === 'POST' || method === 'PUT') return 'POST';
  if (method === 'DELETE' || method === 'LIST') return method;
  // Load balancers use HEAD only for this path.
  if (method === 'HEAD' && path === 'sys/health') return 'GET';
  if (method !== 'GET') return errorBody(405, [wrapped('unsupported operation')]);
  if (!query.includes('list=')) return 'GET';
  const list = formPairs(query).get('list');
  if (list === null || FALSE.test(list)) return 'GET';
  return TRUE.test(list) ? 'LIST' : errorBody(400, []);
}

/** Whether help is requested: any text counts, even `false`, as in OpenBao. */
function asksForHelp(query: string): boolean {
  if (!query.includes('help=')) return false;
  return Boolean(formPairs(query).get('help'));
}

/**
 * Reads the parameters: of a write from its body, otherwise from the query.
 * @param longNumbers rounded for unauthenticated clients, who do not need exact ones
 * @throws `invalid`
 */
export function readParameters(
  { method, query }: VaultRequest,
  { headers }: Exchange,
  body: Buffer | undefined,
  longNumbers: 'exact' | 'rounded' = 'exact',
): Readonly<Record<string, unknown>> {
  if (method !== 'POST') return withoutSwitches(parseQuery(query));
  if (body === undefined || body.length === 0) return NOTHING;
  return isForm(headers['content-type'], body) ? parseForm(body) : parseObject(body, longNumbers);
}

const NOTHING = Object.freeze({});
const OPENING_BRACE = 0x7b;
/** White space before a JSON text, RFC 8259. */
const WHITE_SPACE: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** Whether a body is a form: `curl -d` declares every body as a form, so check the first character. */
const isForm = (contentType: string | undefined, body: Buffer): boolean =>
  contentType?.startsWith('application/x-www-form-urlencoded') === true &&
  body.find((byte) => !WHITE_SPACE.includes(byte)) !== OPENING_BRACE;

/** Removes `list`, which only selects the method, and is not a parameter of the operation. */
function withoutSwitches(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(values, 'list')) return values;
  const { list: _list, ...rest } = values;
  return rest;
}

/** Refuses headers that must not be ignored. */
export function refusedHeader({ headers }: Exchange): Answer | undefined {
  const namespace = headers['x-vault-namespace'];
  if (typeof namespace === 'string' && !NO_NAMESPACE.has(namespace)) {
    return errorBody(404, ['namespace not found']);
  }
  return undefined;
}

const NO_NAMESPACE = new Set(['', 'root', 'root/', '/']);
