import { MOST_SECONDS } from '../../../ground/clock.ts';
import { parseGoDuration } from '../../../ground/durations.ts';
import { withoutLast } from '../../../ground/trim.ts';
import type { Method } from '../../../operations/declaration/route.ts';
import type { Answer, Exchange } from '../exchange.ts';
import { formPairs, parseForm, parseObject, parseQuery } from '../request-body.ts';
import { errorBody, wrapped } from './envelope.ts';

/** What a request to `/v1` asks for, before anybody looks who asks. */
export interface VaultRequest {
  readonly method: Method;
  /** Decoded, below `/v1/`, without the final slash of a list. */
  readonly path: string;
  readonly query: string;
  /** What can be done at the path is asked for, and nothing is done. */
  readonly isForHelp?: true;
  /** Seconds for which the answer is to be wrapped; absent for an open one. */
  readonly wrapTtl?: number;
}

/**
 * Reads method and path; nothing after this decodes a path again.
 * @returns an answer when the request can't be right whoever sends it.
 */
export function readVaultRequest(exchange: Exchange, prefix: string): VaultRequest | Answer {
  const { target } = exchange;
  const mark = target.indexOf('?');
  const query = mark === -1 ? '' : target.slice(mark + 1);
  const path = decodePath(target.slice(prefix.length, mark === -1 ? undefined : mark));
  if (path === undefined) return errorBody(400, ['the path is not percent-encoded UTF-8']);
  // Whatever the method: nobody who asks for help wants anything done.
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

/** What is written here is a prefix, and people end it in a slash. */
const REVOKED_PREFIX = /^sys\/(?:leases\/)?revoke-(?:prefix|force)\/.*[^/]\/+$/;

/** Part of a second counts as one: an answer that is to be wrapped must not be open. */
function readWrapTtl({ headers }: Exchange): number | Answer {
  const given = String(headers['x-service-wrap-ttl'] || headers['x-vault-wrap-ttl'] || '0');
  const seconds = parseGoDuration(given);
  if (seconds >= 0 && seconds <= MOST_SECONDS) return Math.ceil(seconds);
  const why =
    seconds < 0 ? 'requested wrap ttl cannot be negative' : `time: invalid duration ${JSON.stringify(given)}`;
  return errorBody(400, [`error parsing X-Vault-Wrap-TTL header: ${why}`]);
}

export const isAnswer = (value: VaultRequest | Answer): value is Answer => 'status' in value;

function decodePath(path: string): string | undefined {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

const hasDotSegment = (path: string): boolean => path.includes('..') && /(?:^|\/)\.\.(?:\/|$)/.test(path);

const TRUE = /^(?:1|t|T|TRUE|true|True)$/;
const FALSE = /^(?:0|f|F|FALSE|false|False)$/;

function methodOf(method: string, path: string, query: string): Method | Answer {
  if (method === 'POST' || method === 'PUT') return 'POST';
  if (method === 'DELETE' || method === 'LIST') return method;
  // The one path that load balancers ask for without wanting a body.
  if (method === 'HEAD' && path === 'sys/health') return 'GET';
  if (method !== 'GET') return errorBody(405, [wrapped('unsupported operation')]);
  if (!query.includes('list=')) return 'GET';
  const list = formPairs(query).get('list');
  if (list === null || FALSE.test(list)) return 'GET';
  return TRUE.test(list) ? 'LIST' : errorBody(400, []);
}

/** Any text will do, `false` as well: so does OpenBao. */
function asksForHelp(query: string): boolean {
  if (!query.includes('help=')) return false;
  return Boolean(formPairs(query).get('help'));
}

/**
 * Parameters of a write are in its body, all others' in the query.
 * @param longNumbers rounded for strangers, who have no use for them.
 * @throws `invalid`.
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
/** Before a JSON text, RFC 8259. */
const WHITE_SPACE: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** `curl -d` says form whatever it sends: the first character tells. */
const isForm = (contentType: string | undefined, body: Buffer): boolean =>
  contentType?.startsWith('application/x-www-form-urlencoded') === true &&
  body.find((byte) => !WHITE_SPACE.includes(byte)) !== OPENING_BRACE;

/** `list` turned the request into a listing, and is no parameter of the operation. */
function withoutSwitches(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(values, 'list')) return values;
  const { list: _list, ...rest } = values;
  return rest;
}

/** Headers whose meaning would be lost if they were ignored. */
export function refusedHeader({ headers }: Exchange): Answer | undefined {
  const namespace = headers['x-vault-namespace'];
  if (typeof namespace === 'string' && !NO_NAMESPACE.has(namespace)) {
    return errorBody(404, ['namespace not found']);
  }
  return undefined;
}

const NO_NAMESPACE = new Set(['', 'root', 'root/', '/']);
