import type { KeyObject } from 'node:crypto';
import type { Clock } from '../ground/clock.ts';
import { jsonOf } from '../ground/objects.ts';
import { keyedHash } from './access-keys.ts';
import { hiddenError } from './audit-error.ts';
import type { RecordedHeader } from './audited-headers.ts';
import type { WrapInfo } from './wrapping.ts';

/** What a server knows of one request when its record is written. Values are those of the wire. */
export interface AuditedRequest {
  /** The `request_id` of the answer. */
  readonly id: string;
  /** `read`, `create`, `update`, `delete` or `list`. */
  readonly operation: string;
  /** As in policies, e.g. `transit/encrypt/orders`. */
  readonly path: string;
  /** The transit mount, with its final slash, e.g. `transit/`; absent for `sys/` and the like. */
  readonly mountPoint?: string;
  /** The caller's address; empty on a Unix socket. */
  readonly remoteAddress: string;
  /** The token as it was sent, whether it is good or not. */
  readonly token?: string;
  /** Present once the token was found good, and where none is needed to know who calls. */
  readonly identity?: AuditedIdentity;
  /** Body or query. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Names of parameters, also within lists and objects, whose values stand in clear. */
  readonly shown?: readonly string[] | undefined;
  /** Those of its headers that are to be recorded. */
  readonly headers?: readonly RecordedHeader[];
  /** Seconds for which the answer is to be wrapped. */
  readonly wrapTtl?: number;
  /** Whether a number or truth value is what the parameter is declared to be, and so no secret in the wrong place. */
  isPlain?(name: string, value: unknown): boolean;
  /** Whether the operation has a use for the parameter; no error repeats what means nothing. */
  isKnown?(name: string): boolean;
}

/** Who called, as far as records tell. */
export interface AuditedIdentity {
  readonly accessor: string;
  readonly displayName: string;
  readonly policies: readonly string[];
  /** Present for a batch token. */
  readonly batch?: string;
}

/** How a request ended. */
export interface AuditedResponse {
  readonly status: number;
  /** The `data` object or the document of the answer. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** As those of a request. */
  readonly shown?: readonly string[] | undefined;
  /** The error text of the answer. */
  readonly error?: string;
  /** Given in place of the data. */
  readonly wrapInfo?: WrapInfo;
}

/** What looks like a token: a segment of a path, also where an error quotes the path. */
const TOKEN =
  /(?<=^|[\s/"'])(?:(?:cfr|hv[sbr])\.[^\s/"']{8,}|[sbr]\.[A-Za-z0-9]{24,}(?=[\s/"']|$)|b\.[\w-]{48,})/g;
/** As parameters are called. A body that was sent in the wrong form comes as one long name, and may be a secret. */
const PARAMETER_NAME = /^[a-z][a-z0-9_-]{0,30}(?:\[[a-z-]{1,20}\])*$/;
const MAX_PATH_LENGTH = 2048;
/** Members of one object that are told one by one, beside those that the operation knows. All others are hashed together. */
const MOST_MEMBERS = 100;
/** Like no parameter's name. */
const OTHER_MEMBERS = '\u2026';

/**
 * Makes the lines of the audit trail: one JSON object each, without the final newline, in the layout of Vault's
 * audit log. Texts of requests and answers appear only as `hmac-sha256:…` under a key that never leaves the sealed
 * store: whoever holds a value can look for it, nobody can read it; so do names that are like no parameter's. Numbers
 * and truth values stand as they are in answers, and in requests where the parameter is declared to be one.
 * Of an object's members that mean nothing to the operation, a hundred are told and the others hashed together.
 * A list or an object is hashed as a whole (its JSON), so that a batch costs one hash; unless something in it is to stand in
 * clear, and then text by text.
 * @see docs/decisions/0053
 */
export class AuditRecorder {
  readonly #key: KeyObject;
  readonly #clock: Clock;
  /** The `auth` part per identity, which is the same object from request to request while nothing changes. */
  readonly #auth = new WeakMap<AuditedIdentity, { readonly token: string; readonly json: string }>();
  /** What was told of the parameters of a request that has a record of its own, and by which rules, for the record of its answer. */
  readonly #told = new WeakMap<object, { readonly by: AuditedRequest; readonly json: string }>();

  constructor(key: KeyObject, clock: Clock) {
    this.#key = key;
    this.#clock = clock;
  }

  /** Written before an operation that changes something runs. */
  request(request: AuditedRequest): string {
    const { parameters } = request;
    if (parameters !== undefined)
      this.#told.set(parameters, { by: request, json: this.#dataJson(request, parameters) });
    return this.#line('request', request, '');
  }

  /** Written before the answer is sent; repeats the request. */
  response(request: AuditedRequest, { status, data, shown, error, wrapInfo }: AuditedResponse): string {
    const dataJson =
      data === undefined ? '' : `,"data":${this.#members(data, { shown, isPlain: () => true })}`;
    const errorJson =
      error === undefined ? '' : `,"error":${JSON.stringify(this.#errorText(error, request))}`;
    const wrapJson =
      wrapInfo === undefined
        ? ''
        : `,"wrap_info":${JSON.stringify({ ...wrapInfo, token: this.hash(wrapInfo.token) })}`;
    const responseJson = `{"status":${status}${dataJson}${wrapJson}}`;
    return this.#line('response', request, `,"response":${responseJson}${errorJson}`);
  }

  /** `hmac-sha256:` and the keyed hash in hex of a value, to look for it in the trail. */
  hash(value: string): string {
    return `hmac-sha256:${keyedHash(this.#key, value)}`;
  }

  #line(type: string, request: AuditedRequest, rest: string): string {
    const time = new Date(this.#clock.now()).toISOString();
    return `{"time":"${time}","type":"${type}","auth":${this.#authJson(request)},"request":${this.#requestJson(request)}${rest}}`;
  }

  #authJson({ token, identity }: AuditedRequest): string {
    if (token === undefined) return identity === undefined ? '{}' : JSON.stringify(tokenless(identity));
    if (identity === undefined) return `{"client_token":"${this.hash(token)}"}`;
    const known = this.#auth.get(identity);
    if (known?.token === token) return known.json;
    const json = JSON.stringify({
      client_token: this.hash(token),
      ...tokenless(identity),
      token_type: identity.batch === undefined ? 'service' : 'batch',
    });
    this.#auth.set(identity, { token, json });
    return json;
  }

  #requestJson(request: AuditedRequest): string {
    const mount =
      request.mountPoint === undefined ? '' : `,"mount_point":${JSON.stringify(request.mountPoint)}`;
    const { parameters, wrapTtl, headers = [] } = request;
    const wrapping = wrapTtl === undefined ? '' : `,"wrap_ttl":${wrapTtl}`;
    const data = parameters === undefined ? '' : `,"data":${this.#dataJson(request, parameters)}`;
    return (
      `{"id":${JSON.stringify(request.id)},"operation":${JSON.stringify(request.operation)}${mount}` +
      `,"path":${JSON.stringify(this.#withoutTokens(request.path, MAX_PATH_LENGTH))}` +
      `,"remote_address":${JSON.stringify(request.remoteAddress)}${wrapping}${this.#headers(headers)}${data}}`
    );
  }

  #dataJson(request: AuditedRequest, parameters: Readonly<Record<string, unknown>>): string {
    const told = this.#told.get(parameters);
    if (told !== undefined && RULES.every((rule) => told.by[rule] === request[rule])) return told.json;
    const isPlain = (name: string, value: unknown): boolean => request.isPlain?.(name, value) ?? false;
    const isKnown = (name: string): boolean => request.isKnown?.(name) ?? false;
    return this.#members(parameters, { shown: request.shown, isPlain, isKnown });
  }

  #headers(headers: readonly RecordedHeader[]): string {
    if (headers.length === 0) return '';
    const told = headers.map(({ name, hmac, values }) => [
      name,
      values.map((value) => (hmac ? this.hash(value) : this.#withoutTokens(value, value.length))),
    ]);
    return `,"headers":${JSON.stringify(Object.fromEntries(told))}`;
  }

  /** Old clients of the family put tokens into paths. */
  #withoutTokens(text: string, maxLength: number): string {
    const short = text.slice(0, maxLength);
    return short.includes('.') ? short.replace(TOKEN, (found) => this.hash(found)) : short;
  }

  /** Errors repeat what they refuse. */
  #errorText(error: string, { parameters = {}, shown = [], isKnown, isPlain }: AuditedRequest): string {
    const hidden = hiddenError(error, {
      sent: parameters,
      isHidden: (name, value) =>
        (isKnown?.(name) ?? true) &&
        !shown.includes(name) &&
        !(isScalar(value) && isPlain?.(name, value) === true),
      isName: (name) => PARAMETER_NAME.test(name),
      isParameter: (value) => isKnown?.(value) ?? false,
      hash: (value) => this.hash(value),
    });
    return this.#withoutTokens(hidden, hidden.length);
  }

  #members(values: Readonly<Record<string, unknown>>, rules: Rules, isWithin = false): string {
    let members = '';
    const all = Object.keys(values);
    const told = all.length > MOST_MEMBERS ? toldOf(all, rules) : all;
    for (const name of told) {
      const value = values[name];
      if (value === undefined) continue;
      const shownName = PARAMETER_NAME.test(name) ? name : this.hash(name);
      members += `${members === '' ? '' : ','}${JSON.stringify(shownName)}:${this.#value(name, value, rules, isWithin)}`;
    }
    if (told.length === all.length) return `{${members}}`;
    const named = new Set(told);
    // As JSON would be of an object with these alone, which would take longer to make than all else.
    let others = '';
    for (const name of all) {
      const value = values[name];
      if (named.has(name) || value === undefined) continue;
      others += `${others === '' ? '' : ','}${JSON.stringify(name)}:${jsonOf(value)}`;
    }
    return `{${members},"${OTHER_MEMBERS}":"${this.hash(`{${others}}`)}"}`;
  }

  /** @param isWithin a list or object of which something stands in clear. */
  #value(name: string, value: unknown, rules: Rules, isWithin: boolean): string {
    const { shown = [], isPlain } = rules;
    if (value === null || value === undefined) return 'null';
    if (typeof value === 'object') {
      const isOpened = isWithin || (shown.length > 0 && holdsShown(name, value, shown));
      if (!isOpened) return `"${this.hash(jsonOf(value))}"`;
      if (!Array.isArray(value))
        return this.#members(value as Readonly<Record<string, unknown>>, rules, true);
      return `[${value.map((item: unknown) => this.#value(name, item, rules, true)).join(',')}]`;
    }
    const isClear = shown.includes(name) || (isScalar(value) && isPlain(name, value));
    return isClear ? jsonOf(value) : `"${this.hash(String(value))}"`;
  }
}

/** Who called, where that is known without a token. */
const tokenless = ({ accessor, displayName, policies }: AuditedIdentity) => ({
  accessor,
  display_name: displayName,
  policies,
});

/** What decides how parameters are told. */
const RULES = ['shown', 'isPlain', 'isKnown'] as const;

/** What of a request or an answer is not hashed. */
interface Rules {
  readonly shown: readonly string[] | undefined;
  isPlain(name: string, value: unknown): boolean;
  isKnown?(name: string): boolean;
}

/** The names that are told one by one: what an operation knows must be found by its hash, whatever stands beside it. */
function toldOf(names: readonly string[], { isKnown }: Rules): readonly string[] {
  const known = names.filter((name) => isKnown?.(name));
  const others = names.filter((name) => !isKnown?.(name));
  return [...known, ...others.slice(0, MOST_MEMBERS)];
}

/** Whether anything of the value goes by one of the names; what is in a list goes by that of the list. */
function holdsShown(name: string, value: unknown, shown: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => holdsShown(name, item, shown));
  if (typeof value !== 'object' || value === null) return shown.includes(name);
  return Object.entries(value).some(([member, inner]) => holdsShown(member, inner, shown));
}

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';
