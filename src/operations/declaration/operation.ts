/** Types and functions for declaring operations. */

import type { Access } from '../../access/access.ts';
import type { Capability } from '../../access/capability.ts';
import type { IssuedToken } from '../../access/tokens.ts';
import type { WrapInfo } from '../../access/wrapping.ts';
import type { Clock } from '../../ground/clock.ts';
import type { CofferError } from '../../ground/errors.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { JsonObject } from '../../ground/objects.ts';
import type { Random } from '../../ground/random.ts';
import type { Mounts } from '../../mounts/mounts.ts';
import type { Store } from '../../store/store.ts';
import type { Tags } from '../../tags/tags.ts';
import type { Dialect, Engine } from '../../transit/engine.ts';
import type { NoParams, Params, ValuesOf } from './params.ts';
import { CAPABILITY_OF, type Method, methodOf } from './route.ts';
import type { Details, EmptyList, Table } from './table.ts';
import type { ShownOnce } from './undoing.ts';

/** API, which determines paths, envelope and errors. */
export type Api = 'vault' | 'json-api';

/** Core as operations see it; each module is loaded on first use. */
export interface Core {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly mounts: Mounts;
  /**
   * Opens the transit engine of one mount; without a promise if it is open already.
   * Rejects with `not-found` if nothing is mounted there
   */
  engine(mount: string): MaybePromise<Engine>;
  /** Returns the core for callers of that dialect, on mounts that set none. */
  speaking(caller: Dialect): Core;
  tags(): Promise<Tags>;
  access(): Promise<Access>;
  /** Path of a server's audit log; undefined without one. */
  readonly auditFile?: string | undefined;
  /** State of a server process; undefined outside `serve`. */
  readonly server?: ServerState | undefined;
}

/** Seal status: whether the store is accessible, and what unsealing still requires. */
export interface SealStatus {
  readonly sealed: boolean;
  /**
   * Unsealing requires `threshold` of `shares` recovery shares, of which `progress` have been received; 1, 1 and 0 if a
   * single key is enough.
   */
  readonly threshold: number;
  readonly shares: number;
  readonly progress: number;
  /** Store ID, which never changes. */
  readonly storeId: string;
}

/** Content type of Prometheus metrics. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Interface of a running server for operations under `sys/`. */
export interface ServerState {
  sealStatus(): Promise<SealStatus>;
  /**
   * Submits a master key, a passphrase, the text of a key file, or one recovery share.
   * @throws `invalid` if it opens nothing
   */
  unseal(key: string): Promise<SealStatus>;
  /** Discards the shares received so far. */
  resetUnseal(): Promise<SealStatus>;
  seal(): Promise<void>;
  /** Clears caches and applies settings that require it. */
  reload(): Promise<void>;
  /**
   * Returns metrics in the Prometheus text format.
   * @param tokenEnds expiration time of the caller's token, in Unix seconds
   */
  metrics(tokenEnds?: number): Promise<string>;
  /** Returns the OpenAPI document of the whole API. */
  apiDocument(): object;
}

/** Caller of an operation. The command line with a credential of the store is the owner. */
export interface Caller {
  /** Identifier that is unique within this process. */
  readonly id: string;
  /** The token's accessor; undefined for the owner, empty for a batch token, which has none. */
  readonly accessor?: string;
  /** The token itself, for operations on oneself; undefined for the owner. */
  readonly token?: string;
  /**
   * Whether the caller may use `capability` on an API path (without `/v1/`). The owner may do everything.
   * @param sent parameters with the meaning of this operation, for rules about parameters; undefined to ignore those
   */
  may(path: string, capability: Capability, sent?: JsonObject): boolean;
  /** Whether the caller may do anything on `path` or below it. */
  reaches(path: string): boolean;
  /** Wrapped response, if it was a wrapping token. */
  readonly wrapped?: string | undefined;
  /** Present without a valid token. */
  readonly isStranger?: true;
}

// Accessors are longer, so this ID is unique.
export const owner: Caller = { id: 'owner', may: () => true, reaches: () => true };

/** Caller of operations that require no token. */
export const NOBODY: Caller = { id: 'nobody', isStranger: true, may: () => false, reaches: () => false };

/** Error field if the secret of the store is required again; no request has a field of that name. */
export const STORE_SECRET = 'secret of the store';

/** Result of an operation. */
export interface Outcome<D> {
  /** `data` object, or the whole JSON:API document; absent for an empty response (204). */
  readonly data?: D | undefined;
  readonly warnings?: readonly string[] | undefined;
  /**
   * Present if a new resource was created (201 in the JSON:API), or a key that did not exist; the latter is only reported
   * to our own client.
   */
  readonly created?: true | undefined;
  /** Present if the resource already existed and was left unchanged; only reported to our own client. */
  readonly existing?: true | undefined;
  /** Present for an empty list. Vault responds with "not found"; commands and programs get the empty list. */
  readonly nothingListed?: true | undefined;
  /** Present if items of a batch failed: respond with this status, and the complete result in the body. */
  readonly failedItems?: { readonly statusCode: number } | undefined;
  /** Result of operations that issue tokens: the `auth` object of the envelope, with `data` null. */
  readonly auth?: D | undefined;
  /** Token of a login, for the audit log. */
  readonly issued?: IssuedToken | undefined;
  /** Members repeated at the top level of the envelope, as in some of Vault's responses. */
  readonly topLevel?: object;
  /** Members of a server's envelope beside the result, such as those of a lease; only for requests of any path. */
  readonly envelope?: JsonObject | undefined;
  /** Wrapping information, returned instead of the response itself. */
  readonly wrapInfo?: WrapInfo | undefined;
  /** Complete response as serialized before, for frontends of the same protocol. */
  readonly verbatim?: string;
  /** Status other than the default, for health checks and similar, and for work that is not reported as done. */
  readonly statusCode?: number;
  /** Text response instead of JSON. */
  readonly text?: { readonly contentType: string; readonly body: string };
}

/** Returns the result, wherever the envelope has it. */
export const resultOf = <D>({ data, auth }: Outcome<D>): D | undefined => data ?? auth;

/** Context of a handler, besides its values. */
export interface Call {
  readonly core: Core;
  readonly caller: Caller;
  /**
   * Mount of the request, without slashes at the ends; only for operations of a mount type. Empty if the path names
   * none, as below `sys/tools`.
   */
  readonly mount?: string | undefined;
  /** Client address, empty on a Unix socket; absent for the owner. */
  readonly remoteAddress?: string;
  /**
   * Client certificates of the connection, leaf first; possession of its key was proved, nothing else was verified.
   * Base64 of DER.
   */
  readonly clientCertificates?: readonly string[] | undefined;
  /** All members of the request, whatever their names. */
  readonly sent?: JsonObject;
  /** Requested time to live of the wrapped response, in seconds; absent for an unwrapped one. */
  readonly wrapTtl?: number | undefined;
  /** Scheme and host as in the request, for links (`https://host:port`); links are relative without it. */
  readonly baseUrl?: string | undefined;
}

/** Context of handlers of a mount type's operations. */
export interface MountCall extends Call {
  readonly mount: string;
}

/** Appearance on the command line; defaults are derived from the parameters. */
export interface CliShape<D> extends ShownOnce<D> {
  /** Name of the parameter filled by VALUE, `--in FILE` or standard input. */
  readonly input?: {
    readonly param: string;
    /** `bytes`: sent as base64. `text`: a ciphertext, blob or document, sent unchanged except for the final newline. */
    readonly as: 'bytes' | 'text';
    /** Description of VALUE, if the parameter's says base64. */
    readonly help?: string;
    /** Noun for the input in the help of `--in`; default: the placeholder of its argument. */
    readonly what?: string;
    /** What the input must be, as `a key backup`, and where to get it: for an input that is not even base64. */
    readonly expected?: { readonly what: string; readonly hint: string };
    /** Present if VALUE is a file name. */
    readonly fromFile?: true;
    /** Present if the input usually is a file, so that scripts are warned of a VALUE that is the name of one. */
    readonly isOftenFile?: true;
    /** Present if nothing is read without an argument, flag or redirected input. */
    readonly optional?: true;
    /**
     * Like `optional`, but redirected input is read only if `-` requests it: that of a shell loop is not the value. For
     * a secret, the operation that reads the object: a new one needs the secret.
     */
    readonly onRequest?: true | string;
    /** Name of the secret, for prompts: it is prompted for on a terminal, and never an argument. */
    readonly secret?: string;
  };
  /** Constraints on splitting a batch into several calls. */
  readonly batch?: BatchShape;
  /** Present if the command hashes the main input locally, whatever its size, and needs neither store nor server. */
  hashesInput?(values: JsonObject): InputHash<D>;
  /** Present: handling of an input that may be too large for one request. */
  readonly largeInput?: LargeInput;
  /** Member of `data` that is printed alone for raw output: text with a newline, or bytes without. */
  readonly result?: { readonly member: string; readonly as: 'text' | 'base64' | 'lines' };
  /** Present if the result is a secret that a person uses elsewhere: `--copy` puts it on the clipboard. */
  readonly copies?: true;
  /** Returns the lines of raw output, if it is not one member of `data`. */
  lines?(data: D): readonly string[];
  /**
   * Present if the result is one page of a JSON:API list: `--all` collects every page with `allPages`
   * (json-api/pages.ts).
   */
  readonly paged?: true;
  /**
   * Translates names that users type into IDs of the API, by running other operations. Receives and returns raw values,
   * before they are parsed and before any confirmation.
   */
  resolve?(raw: JsonObject, runner: Runner): Promise<JsonObject>;
  /** Formats a table; default: one row per member of `data`. */
  table?(data: D): Table;
  /**
   * Returns the tables that a terminal shows instead of `table` or the lines, one below the other; may look up further
   * details with other operations.
   */
  forTerminal?(data: D, context: TerminalContext): Promise<readonly Table[]>;
  /** Present if the result is one object, for whose members a terminal has plain labels; `-o wide` shows everything. */
  readonly details?: Details;
  /** Message of a list without entries, on a terminal. */
  readonly empty?: EmptyList | undefined;
  /**
   * Fails if the operation would certainly be refused, so that the user is not asked for confirmation of something that
   * will fail, or for the secret of the store. Called before that, with a runner that asks a server only what the caller
   * may ask.
   */
  foresee?(values: JsonObject, runner: Runner): Promise<unknown>;
  /**
   * Fails if the values, main input included, would be refused by any store. Called before a user is asked to unlock
   * one.
   */
  requireValid?(values: JsonObject): void;
  /**
   * Returns warnings about values that are accepted, but probably not meant; called only on a terminal, after the
   * operation, with its result.
   */
  doubts?(values: JsonObject, runner: Runner, data?: D): Promise<readonly string[]>;
  /** Returns the warnings of a response in words for a user; called only on a terminal or a local store. */
  explained?(warnings: readonly string[], runner: Runner): Promise<readonly string[]>;
  /**
   * Returns the confirmation question; without a terminal, `--yes` is required. Receives all values except the main
   * input, like `done`.
   */
  confirm?(values: JsonObject, runner: Runner): Promise<string>;
  /** Whether these values require confirmation; default: always. */
  asksFor?(values: JsonObject): boolean;
  /**
   * Returns the error that a command reports for a normal response which says that nothing was found: whoever mistypes
   * a token, for example, would otherwise rely on a revocation that did not happen.
   */
  missed?(outcome: Outcome<D>): CofferError | undefined;
  /**
   * Whether the result is positive; false sets exit code 5 (the signature is not valid), which is a result, not an
   * error.
   */
  holds?(data: D): boolean;
  /**
   * Returns how many of the listed objects are already as requested, for `done`; called before the operation runs, on a
   * terminal, and for a removal on a local store.
   */
  unchanged?(values: JsonObject, runner: Runner): Promise<number>;
  /**
   * Returns the message on a terminal besides or instead of a result, e.g. `Deleted key orders.`; for `existing`,
   * printed everywhere.
   */
  done?(values: JsonObject, data?: D, existing?: true, unchanged?: number): string;
  /** Returns the name in the main input, for `done` on a terminal if none was given. */
  nameIn?(input: string): Promise<string | undefined>;
  /** Returns the message that a terminal shows in place of the result, e.g. `Created workspace web in acme.` */
  instead?(values: JsonObject, data: D): string;
  /**
   * Present if it creates something with a name: with `--if-missing`, it succeeds if that already exists.
   * @see docs/decisions/0154
   */
  readonly makes?: true;
  /** Returns the difference between the existing object and the requested one; undefined if there is none. */
  misfit?(values: JsonObject, data: D): string | undefined;
  /**
   * Present if it is run for its effect: its result is only printed for `-o` or `--out`, as scripts expect of such a
   * command.
   */
  readonly acts?: true;
  /** Returns what it would create implicitly because the name does not exist; called only on a terminal. */
  byTheWay?(values: JsonObject, runner: Runner): Promise<readonly NewName[]>;
  /** Other operation of the same branch to run if this parameter is absent. */
  readonly withoutParam?: { readonly param: string; readonly run: string };
  /** Other operation of the same branch to run for `--self`: on the caller's own token. */
  readonly self?: string;
  /** Present if Vault has the same command, with its options `--format` and `--field`. @see docs/decisions/0322 */
  readonly isOfVault?: true;
  /** Comments on examples for `--help`, by their commands. */
  readonly examples?: Readonly<Record<string, string>>;
}

/**
 * Constraints on the items of a batch.
 * @see docs/decisions/0294
 */
export interface BatchShape {
  /** Items with different results must not be in the same call. */
  apart?(item: JsonObject): boolean;
  /**
   * Present if batches with mixed items are refused as a whole: nothing is printed before the end then.
   * @returns a minimal item of the same kind, the same object for each kind, to test whether it can be mixed with
   * others
   */
  bare?(item: JsonObject): JsonObject;
}

/** Context that `forTerminal` may use. */
export interface TerminalContext {
  readonly runner: Runner;
  /** Whether everything was requested, with `-o wide`. */
  readonly wide: boolean;
}

/** Hash of an input of any size, computed incrementally. */
export interface InputHash<T> {
  /** Name in `node:crypto`. */
  readonly algorithm: string;
  /** Converts the hash to a result, or to the parameters to run with. */
  of(digest: Buffer): T;
}

export interface LargeInput {
  /** Hint for an input that is too large. */
  readonly hint: string;
  /**
   * Present if a hash may be sent instead of the input.
   * @returns undefined if it may not: the input itself is sent then
   */
  hash?(values: JsonObject, runner: Runner): Promise<InputHash<JsonObject> | undefined>;
}

/** Name of an object that an operation creates implicitly. */
export interface NewName {
  readonly kind: 'key' | 'tag';
  readonly name: string;
}

/** Request of the Vault API. */
export interface PathRequest {
  readonly method: Method;
  /** Path without `/v1/`, e.g. `transit/keys/orders`. */
  readonly path: string;
  /** Body of a write; query of any other request. */
  readonly parameters: JsonObject;
}

/** Place where operations run for a command or a program: an open store, or a server. */
export interface Runner {
  /**
   * Runs an operation.
   * @param operation declaration, or its words in the catalogue, e.g. `tags list`
   * @param raw wire name → JSON value, not parsed yet
   * @param mount default: that of the runner
   * @throws a `CofferError`, the same wherever the operation runs; `unavailable` if a server does not respond
   */
  run(operation: Operation | string, raw: JsonObject, mount?: string): Promise<Outcome<unknown>>;
  /** Runs the operation of a Vault API path, without `/v1/`; on a server, also those that only servers have. */
  at(asked: PathRequest): Promise<Outcome<unknown>>;
  /**
   * Runs read-only operations on a single state of the store, regardless of writers. `work` may run again from the
   * start, so it must have no side effects. Absent if operations run remotely, one by one.
   */
  snapshot?<T>(work: (runner: Runner) => Promise<T>): Promise<T>;
  /** Value of `--org` or its environment variable, for operations whose path has no organization. */
  readonly organization?: string | undefined;
  /** Forgets keys, closes connections. */
  close(): void;
}

/**
 * Operation, declared once. The command, the HTTP route, the remote request, the OpenAPI document and the completions
 * are derived from it; its name and summary are in the catalogue.
 * @see docs/decisions/0071
 */
export interface Operation<P extends Params = Params, D = unknown, Mount = string | undefined>
  extends Declaration<P, D, Mount> {
  readonly api: Api;
  readonly capability: Capability;
  readonly params: P;
}

/** What handlers get: those of a mount type its mount. */
export type CallOf<Mount> = Mount extends string ? MountCall : Call;

/**
 * Operation without what follows from the function that declares it.
 * @typeParam C context of its handlers
 */
export interface Declaration<P extends Params, D, Mount, C = CallOf<Mount>> {
  /** Mount type that it belongs to, e.g. `transit`. */
  readonly mount?: Mount;
  /**
   * Method and path, in the notation of the API's documentation: `POST keys/:name/trim`, `POST random(/:bytes)`.
   * Relative to each mount of the type if it does not start with `/`; else below `/v1` or `/api/v2`. Several if they
   * are equivalent. POST also accepts PUT, LIST also accepts `GET ?list=true`.
   */
  readonly route: string | readonly string[];
  /** Capability that a policy must grant on the path; default: that of the method of the first route. */
  readonly capability?: Capability;
  /**
   * Whether the target exists, for operations that may create it. If it does not, the required capability is `create`.
   */
  exists?(call: C, values: ValuesOf<P>): MaybePromise<boolean>;
  /** Returns the name of a login's role, for rate limits. */
  roleOf?(call: C, values: ValuesOf<P>): Promise<string | undefined> | string | undefined;
  /** Present if it requires no token (health, seal status, ping, logins). */
  readonly unauthenticated?: true;
  /**
   * Present if it decides itself who may call it and what they see: it also runs without a valid token, as an anonymous
   * caller, with the token that was sent.
   */
  readonly strangers?: true;
  /** Present if it accepts parameters of any name, which are in `Call.sent`. */
  readonly freeForm?: true;
  /**
   * Present if it changes nothing (except an implicitly created key), although its method is POST: it computes or looks
   * up.
   */
  readonly computes?: true;
  /**
   * Present if a short request may require much work (its content is compressed), so a server always runs it in a
   * large-request worker.
   */
  readonly unfolds?: true;
  /** Present if any valid token is sufficient (operations on oneself). */
  readonly anyToken?: true;
  /**
   * Present if it is harmless without re-entering the secret of the store, which the agent received some time ago: it
   * reads, or works on data or with keys, and leaves nothing behind that grants access to the store or its keys once
   * the agent has locked. Absent otherwise; a function if that depends on the request.
   * @param raw values as sent
   * @see docs/decisions/0143
   */
  readonly withoutSecret?: true | ((raw: JsonObject) => boolean);
  /** Present if it is available while the store is sealed. */
  readonly whileSealed?: true;
  /** Present if it responds with plain text instead of JSON (metrics). */
  readonly answersText?: true;
  /** Present if the data is the same object for the lifetime of a server, so that it is serialized once. */
  readonly answersTheSame?: true;
  /** Present if body and response are not wrapped in `data` (health, seal status). */
  readonly bare?: true;
  /** Default: none. */
  readonly params?: P;
  /** JSON:API: `type` of the resource in the request body whose attributes and relationships are parameters. */
  readonly resource?: string;
  readonly cli?: CliShape<D>;
  run(call: C, values: ValuesOf<P>): Promise<Outcome<D>>;
}

/**
 * Whether an agent requires the secret of the store again.
 * @param raw values as sent
 */
export const asksAgain = ({ withoutSecret }: Operation, raw: JsonObject): boolean =>
  withoutSecret !== true && withoutSecret?.(raw) !== true;

/** Whether it modifies something, so that running it twice differs from running it once. */
export const changesSomething = ({ computes }: Operation, capability: Capability): boolean =>
  capability !== 'read' && capability !== 'list' && !computes;

const declaredFor =
  (api: Api) =>
  <D, const Mount extends string | undefined = undefined, P extends Params = NoParams>(
    declaration: Declaration<P, D, Mount>,
  ): Operation<P, D, Mount> => {
    const [route = ''] = [declaration.route].flat();
    return { api, capability: CAPABILITY_OF[methodOf(route)], params: {} as P, ...declaration };
  };

/** Declares an operation below `/v1`. */
export const operation = declaredFor('vault');

/** Declares an operation below `/api/v2`. */
export const documentOperation = declaredFor('json-api');

/** What operations that only compute or look up have in common. */
export const computing = { withoutSecret: true, computes: true } as const;

/** Returns the outcome of an operation whose result is repeated at the top level of the envelope. */
export const atTopToo = <D extends object>(data: D) => ({ data, topLevel: data });

/** Returns the warnings of an outcome, undefined if there are none. */
export const warned = (warnings: readonly string[]) => ({
  warnings: warnings.length > 0 ? warnings : undefined,
});

/** Returns the handler of an operation without a result. */
export const done =
  <C extends Call, V>(work: (call: C, values: V) => Promise<unknown>) =>
  async (call: C, values: V): Promise<Outcome<unknown>> => {
    await work(call, values);
    return {};
  };
