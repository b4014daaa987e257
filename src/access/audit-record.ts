import type { KeyObject } from 'node:crypto';
import type { Clock } from '../ground/clock.ts';
import { jsonOf } from '../ground/objects.ts';
import { keyedHash } from './access-keys.ts';
import { hiddenError } from './audit-error.ts';
import type { RecordedHeader } from './audited-headers.ts';
import type { WrapInfo } from './wrapping.ts';

/** Request to be recorded. Values are those of the API. */
export interface AuditedRequest {
  /** `request_id` of the response. */
  readonly id: string;
  /** `read`, `create`, `update`, `delete` or `list`. */
  readonly operation: string;
  /** Path as in policies, e.g. `transit/encrypt/orders`. */
  readonly path: string;
  /** Transit mount, with its final slash, e.g. `transit/`; absent for paths such as `sys/`. */
  readonly mountPoint?: string | undefined;
  /** Client address; empty on a Unix socket. */
  readonly remoteAddress: string;
  /** Token as sent, valid or not. */
  readonly token?: string | undefined;
  /** Present if the token is valid, or the caller is known without one. */
  readonly identity?: AuditedIdentity | undefined;
  /** Body or query. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Names of parameters, also within lists and objects, whose values are recorded in the clear. */
  readonly shown?: readonly string[] | undefined;
  /** Request headers to record. */
  readonly headers?: readonly RecordedHeader[] | undefined;
  /** Requested time to live of the wrapped response, in seconds. */
  readonly wrapTtl?: number | undefined;
  /**
   * Whether a number or boolean has the declared type of the parameter, so that it is not a secret in the wrong place.
   */
  isPlain?(name: string, value: unknown): boolean;
  /** Whether the operation uses the parameter; errors do not repeat unknown ones. */
  isKnown?(name: string): boolean;
}

/** Caller, as far as it is recorded. */
interface AuditedIdentity {
  readonly accessor: string;
  readonly displayName: string;
  /** Metadata of the token, recorded in the clear, as Vault does. */
  readonly meta?: Readonly<Record<string, string>> | null;
  readonly policies: readonly string[];
  /** Present for a batch token. */
  readonly batch?: string | undefined;
}

/** Response to be recorded. */
export interface AuditedResponse {
  readonly status: number;
  /** `data` object or document of the response. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** Like `shown` of a request. */
  readonly shown?: readonly string[] | undefined;
  /** Error text of the response. */
  readonly error?: string | undefined;
  /** Wrapping information, returned instead of the data. */
  readonly wrapInfo?: WrapInfo | undefined;
}

/** Pattern of tokens: a segment of a path, also where an error quotes the path. */
const TOKEN =
  /(?<=^|[\s/"'])(?:(?:cfr|hv[sbr])\.[^\s/"']{8,}|[sbr]\.[A-Za-z0-9]{24,}(?=[\s/"']|$)|b\.[\w-]{48,})/g;
/**
 * Pattern of parameter names. A body that was sent in the wrong format arrives as one long name, and may be a secret.
 */
const PARAMETER_NAME = /^[a-z][a-z0-9_-]{0,30}(?:\[[a-z-]{1,20}\])*$/;
const MAX_PATH_LENGTH = 2048;
/** Maximum number of unknown members of an object that are recorded individually. All others are hashed together. */
const MOST_MEMBERS = 100;
/** Name that no parameter has. */
const OTHER_MEMBERS = '\u2026';

/**
 * Formats audit records: one JSON object per line, without the final newline, in the layout of Vault's audit log. Texts
 * of requests and responses only appear as `hmac-sha256:…` under a key that never leaves the sealed store: anyone who
 * knows a value can search for it, but the values cannot be read; the same applies to names that do not look like
 * parameter names. Numbers and booleans are recorded in the clear in responses, and in requests if the parameter is
 * declared as such. Of an object's members that are unknown to the operation, a hundred are recorded and the others
 * hashed together. A list or an object is hashed as a whole (its JSON), so that a batch costs one hash; unless a part
 * of it is recorded in the clear, in which case each text is hashed separately.
 * @see docs/decisions/0053
 */
export class AuditRecorder {
  readonly #key: KeyObject;
  readonly #clock: Clock;
  /** Cache of the `auth` part by identity, which is the same object from request to request while nothing changes. */
  readonly #auth = new WeakMap<AuditedIdentity, { readonly token: string; readonly json: string }>();
  /**
   * Cache of the parameters of a request that was recorded already, with the rules used, for the record of its
   * response.
   */
  readonly #told = new WeakMap<object, { readonly by: AuditedRequest; readonly json: string }>();

  /** Time of the last record, and its text: a busy server writes dozens within a millisecond. */
  #timeMs = Number.NaN;
  #timeText = '';

  constructor(key: KeyObject, clock: Clock) {
    this.#key = key;
    this.#clock = clock;
  }

  /** Formats the record that is written before a modifying operation runs. */
  request(request: AuditedRequest): string {
    const { parameters } = request;
    if (parameters !== undefined)
      this.#told.set(parameters, { by: request, json: this.#dataJson(request, parameters) });
    return this.#line('request', request, '');
  }

  /** Formats the record that is written before the response is sent; repeats the request. */
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

  /** Returns `hmac-sha256:` and the keyed hash of a value in hex, to search the log for it. */
  hash(value: string): string {
    return `hmac-sha256:${keyedHash(this.#key, value)}`;
  }

  #line(type: string, request: AuditedRequest, rest: string): string {
    return `{"time":"${this.#time()}","type":"${type}","auth":${this.#authJson(request)},"request":${this.#requestJson(request)}${rest}}`;
  }

  #time(): string {
    const now = this.#clock.now();
    if (now !== this.#timeMs) {
      this.#timeMs = now;
      this.#timeText = new Date(now).toISOString();
    }
    return this.#timeText;
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

  /** Replaces tokens: old Vault clients put them into paths. */
  #withoutTokens(text: string, maxLength: number): string {
    const short = text.slice(0, maxLength);
    return short.includes('.') ? short.replace(TOKEN, (found) => this.hash(found)) : short;
  }

  /** Hides request values in an error, which may repeat what it rejects. */
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

  #members(values: Readonly<Record<string, unknown>>, rules: HashingRules, isWithin = false): string {
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
    // Equivalent to the JSON of an object with only these members, which would take longer to create than everything
    // else.
    let others = '';
    for (const name of all) {
      const value = values[name];
      if (named.has(name) || value === undefined) continue;
      others += `${others === '' ? '' : ','}${JSON.stringify(name)}:${jsonOf(value)}`;
    }
    return `{${members},"${OTHER_MEMBERS}":"${this.hash(`{${others}}`)}"}`;
  }

  /** @param isWithin whether it is a list or object of which a part is recorded in the clear */
  #value(name: string, value: unknown, rules: HashingRules, isWithin: boolean): string {
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

/** Returns the identity of a caller that is known without a token. */
const tokenless = ({ accessor, displayName, policies, meta }: AuditedIdentity) => ({
  accessor,
  display_name: displayName,
  policies,
  metadata: meta === null || meta === undefined || Object.keys(meta).length === 0 ? undefined : meta,
});

/** Members that determine how parameters are recorded. */
const RULES = ['shown', 'isPlain', 'isKnown'] as const;

/** Rules for the parts of a request or response that are not hashed. */
interface HashingRules {
  readonly shown: readonly string[] | undefined;
  isPlain(name: string, value: unknown): boolean;
  isKnown?(name: string): boolean;
}

/**
 * Returns the names that are recorded individually: known parameters must be searchable by hash, regardless of others.
 */
function toldOf(names: readonly string[], { isKnown }: HashingRules): readonly string[] {
  const known = names.filter((name) => isKnown?.(name));
  const others = names.filter((name) => !isKnown?.(name));
  return [...known, ...others.slice(0, MOST_MEMBERS)];
}

/** Whether any part of the value has one of the names; items of a list have the name of the list. */
function holdsShown(name: string, value: unknown, shown: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => holdsShown(name, item, shown));
  if (typeof value !== 'object' || value === null) return value !== undefined && shown.includes(name);
  return Object.entries(value).some(([member, inner]) => holdsShown(member, inner, shown));
}

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';
