/** What an operation is: the types and parsers that declarations are written with. */

import type { Access } from '../../access/access.ts';
import type { Capability } from '../../access/capability.ts';
import type { WrapInfo } from '../../access/wrapping.ts';
import type { Clock } from '../../ground/clock.ts';
import { asCofferError } from '../../ground/errors.ts';
import type { Random } from '../../ground/random.ts';
import type { Mounts } from '../../mounts/mounts.ts';
import type { Store } from '../../store/store.ts';
import type { Tags } from '../../tags/tags.ts';
import type { Dialect, Engine } from '../../transit/engine.ts';
import type { Params, ValuesOf } from './params.ts';
import type { Method } from './route.ts';

/** Which of the two APIs, hence which paths, envelope and errors. */
export type Api = 'vault' | 'json-api';

/** The core as operations see it; each room is loaded when it is first asked for. */
export interface Core {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly mounts: Mounts;
  /**
   * The transit engine of one mount.
   * @throws `not-found` when nothing is mounted there.
   */
  engine(mount: string): Promise<Engine>;
  /** The same for callers who speak that dialect, on mounts for which nobody set one. */
  speaking(caller: Dialect): Core;
  tags(): Promise<Tags>;
  access(): Promise<Access>;
  /** Where a server writes its audit trail; undefined where there is none. */
  readonly auditFile?: string;
  /** What a served process knows and a command does not; undefined outside `serve`. */
  readonly server?: ServerState;
}

/** Whether a server can reach what its store holds, and what it still needs for that. */
export interface SealStatus {
  readonly sealed: boolean;
  /** Of `shares` recovery shares `threshold` unseal, and `progress` are there; 1, 1 and 0 where one key is enough. */
  readonly threshold: number;
  readonly shares: number;
  readonly progress: number;
  /** The store's id, which stays the same for good. */
  readonly storeId: string;
}

/** Of the numbers that a server prints. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What a running server lets operations under `sys/` see and turn. */
export interface ServerState {
  sealStatus(): Promise<SealStatus>;
  /**
   * Offers a master key, a passphrase, the text of a key file, or one recovery share.
   * @throws `invalid` when it opens nothing.
   */
  unseal(key: string): Promise<SealStatus>;
  /** Forgets the shares given so far. */
  resetUnseal(): Promise<SealStatus>;
  seal(): Promise<void>;
  /** Empties caches and takes up settings that wait for it. */
  reload(): Promise<void>;
  /** Numbers in the Prometheus text format. @param tokenEnds when the token ends that asks for them, in Unix seconds. */
  metrics(tokenEnds?: number): Promise<string>;
  /** The OpenAPI document of everything that is served. */
  apiDocument(): object;
}

/** On whose behalf an operation runs. The command line with the master key in hand is the owner. */
export interface Caller {
  /** Tells it from all others within this process. */
  readonly id: string;
  /** The token's accessor; undefined for the owner, empty for a batch token, which has none. */
  readonly accessor?: string;
  /** The token itself, for operations on oneself; undefined for the owner. */
  readonly token?: string;
  /**
   * Whether the caller may use `capability` on an API path (without `/v1/`). The owner may do everything.
   * @param sent parameters that this operation would take as they are, for rules about parameters; left out, those are not applied.
   */
  may(path: string, capability: Capability, sent?: Readonly<Record<string, unknown>>): boolean;
  /** Whether the caller may do anything at all on `path` or below it. */
  reaches(path: string): boolean;
  /** The answer that the token stood for, if it was a wrapping token. */
  readonly wrapped?: string;
  /** There is no good token. */
  readonly isStranger?: true;
}

// No accessor is so short.
export const owner: Caller = { id: 'owner', may: () => true, reaches: () => true };

/** Who calls where no token is asked for. */
export const NOBODY: Caller = { id: 'nobody', isStranger: true, may: () => false, reaches: () => false };

/** The field that an error names when the secret of the store is asked for again: no request has it. */
export const STORE_SECRET = 'secret of the store';

/** What an operation answers. */
export interface Outcome<D> {
  /** The `data` object, or the whole JSON:API document; absent when there is nothing to say (204). */
  readonly data?: D;
  readonly warnings?: readonly string[];
  /** A new resource was made (201 in the JSON:API). */
  readonly created?: true;
  /** What was to be made was there already, and was left as it is; only our own client is told. */
  readonly existing?: true;
  /** A list of nothing. Peers answer it as a thing that is not there; commands and programs get the empty list. */
  readonly nothingListed?: true;
  /** Items of a batch failed: answer with this status, and with the whole result in the body. */
  readonly failedItems?: { readonly statusCode: number };
  /** The result of operations that issue tokens: the `auth` object of the envelope, where `data` is null. */
  readonly auth?: D;
  /** Members repeated at the top level of the envelope, as some calls of the family do. */
  readonly topLevel?: object;
  /** How the answer can be had, in place of the answer itself. */
  readonly wrapInfo?: WrapInfo;
  /** The whole answer as it was written before, byte for byte, for those who speak the protocol that it was written in. */
  readonly verbatim?: string;
  /** A status other than the usual one, for probes and others that answer by it, and for work that is not said to be done. */
  readonly statusCode?: number;
  /** Sent in place of JSON. */
  readonly text?: { readonly contentType: string; readonly body: string };
}

/** What an operation has to show, wherever the envelope puts it. */
export const resultOf = <D>({ data, auth }: Outcome<D>): D | undefined => data ?? auth;

/** What a handler is told beside its values. */
export interface Call {
  readonly core: Core;
  readonly caller: Caller;
  /**
   * The mount that the request is for, without slashes at the ends; only for operations of a type of mounts.
   * Empty where the path names none, as below `sys/tools`.
   */
  readonly mount?: string;
  /** From where the request came: an address, empty on a Unix socket; absent for the owner. */
  readonly remoteAddress?: string;
  /** Of the caller's connection, its own first; that the caller has the key of that one is known, and nothing else. Base64 of DER. */
  readonly clientCertificates?: readonly string[];
  /** What was sent, whatever its names. */
  readonly sent?: Readonly<Record<string, unknown>>;
  /** Seconds for which the answer is to be wrapped; absent for an open one. */
  readonly wrapTtl?: number;
  /** Scheme and host as the request named them, for links (`https://host:port`); without it links are relative. */
  readonly baseUrl?: string;
}

/** What handlers of operations of a type of mounts are told. */
export interface MountCall extends Call {
  readonly mount: string;
}

type CallTo<Mount> = Mount extends string ? MountCall : Call;

/** How an operation shows on the command line; what is left out follows from the parameters. */
export interface CliShape<D> {
  /** The parameter that VALUE, `--in FILE` or standard input fills. */
  readonly input?: {
    readonly param: string;
    /** `bytes`: sent as base64. `text`: a ciphertext, blob or document, sent as it is without the final newline. */
    readonly as: 'bytes' | 'text';
    /** What VALUE is, where the parameter is told to be base64. */
    readonly help?: string;
    /** VALUE is the name of a file. */
    readonly fromFile?: true;
    /** Nothing is read when none of argument, flag or redirected input is there. */
    readonly optional?: true;
    /** The same, and redirected input is read only where `-` asks for it: a loop's own input is not the value. */
    readonly onRequest?: true;
    /** It is a secret, called so in questions: asked for on a terminal, and never an argument. */
    readonly secret?: string;
  };
  /** What must not depend on where a command cuts a batch into calls. */
  readonly batch?: BatchShape;
  /** Present: the command hashes the main input where it is, whatever its size, and needs neither store nor server. */
  hashesInput?(values: Readonly<Record<string, unknown>>): InputHash<D>;
  /** Present: what to do with an input that may be too large for one request. */
  readonly largeInput?: LargeInput;
  /** The member of `data` that is printed alone when the output is `raw`: text with a newline, or bytes without. */
  readonly result?: { readonly member: string; readonly as: 'text' | 'base64' | 'lines' };
  /** What is printed when the output is `raw`, one text a line, where that is not one member of `data`. */
  lines?(data: D): readonly string[];
  /** The answer is one page of a JSON:API list: `--all` gathers every page with `allPages` (json-api/pages.ts). */
  readonly paged?: true;
  /**
   * Turns what people write (names) into what the API takes (ids), by running other operations in the same place.
   * Gets and gives raw values, before they are parsed and before anything is asked.
   */
  resolve?(
    raw: Readonly<Record<string, unknown>>,
    runner: Runner,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** Rows of a table for people; default: one row per member of `data`. */
  table?(data: D): Table;
  /** What is asked before it is done; off a terminal `--yes` is demanded. It knows all values but the main input, as `done`. */
  confirm?(values: Readonly<Record<string, unknown>>, runner: Runner): Promise<string>;
  /** Whether these values need to be confirmed; default: all do. */
  asksFor?(values: Readonly<Record<string, unknown>>): boolean;
  /** False makes the exit code 5 (the signature is not valid); it is an answer, not an error. */
  holds?(data: D): boolean;
  /** What is said on a terminal beside the result or in place of one, e.g. `Deleted key orders.`; of what is `existing`, everywhere. */
  done?(values: Readonly<Record<string, unknown>>, data?: D, existing?: true): string;
  /** It makes something with a name: with `--if-missing` nothing is amiss when that is there already. @see docs/decisions/0154 */
  readonly makes?: true;
  /** In what the thing that is there is not as it was asked for; undefined when it is. */
  misfit?(values: Readonly<Record<string, unknown>>, data: D): string | undefined;
  /** It is run for what it does: its answer is printed only for `-o` or `--out`, as scripts expect of such a command. */
  readonly acts?: true;
  /** What it will make by the way because nothing of the name is there, e.g. `key ordres`; asked only where a person is watching. */
  byTheWay?(values: Readonly<Record<string, unknown>>, runner: Runner): Promise<readonly string[]>;
  /**
   * What undoes it when nobody has read its answer, in which a secret stands that can't be asked for again; undefined when it
   * left nothing behind.
   */
  undo?(data: D): Undoing | undefined;
  /** Another operation of the same branch to run when this parameter is absent. */
  readonly withoutParam?: { readonly param: string; readonly run: string };
  /** Example command lines with a comment each, for `--help`. */
  readonly examples?: readonly (readonly [command: string, comment: string])[];
}

/** @see docs/decisions/0294 */
export interface BatchShape {
  /** Items that must not come in one call are told apart by this. */
  apart?(item: Item): boolean;
  /**
   * Present: not all items go together, and a batch is refused as a whole that mixes them: nothing is printed before its end.
   * @returns a bare item of the same kind, one object for each kind, to ask with whether it goes together with others.
   */
  bare?(item: Item): Item;
}

type Item = Readonly<Record<string, unknown>>;

/** How an input of any size is hashed, piece by piece. */
export interface InputHash<T> {
  /** As `node:crypto` knows it. */
  readonly algorithm: string;
  /** What the hash stands for: an answer, or the parameters to run with. */
  of(digest: Buffer): T;
}

export interface LargeInput {
  /** What to do in place of this when the input is too large. */
  readonly hint: string;
  /**
   * Present: a hash may travel in place of the input.
   * @returns undefined when it may not: the input is sent as it is then.
   */
  hash?(
    values: Readonly<Record<string, unknown>>,
    runner: Runner,
  ): Promise<InputHash<Readonly<Record<string, unknown>>> | undefined>;
}

/** A request in the words of the family's API. */
export interface PathRequest {
  readonly method: Method;
  /** Without `/v1/`, e.g. `transit/keys/orders`. */
  readonly path: string;
  /** Body of a write, query of anything else. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** An operation that undoes another. */
export interface Undoing {
  readonly operation: string;
  readonly raw: Readonly<Record<string, unknown>>;
  /** What is undone: `the token`. */
  readonly what: string;
  /** What a person does in its stead, when it fails. */
  readonly hint: string;
}

/** Where operations run for a command or a program: an opened store, or a server. */
export interface Runner {
  /**
   * @param operation The declaration, or its words in the catalogue, e.g. `tags list`.
   * @param raw wire name → JSON value, not yet parsed.
   * @param mount default: the one that the runner was opened with.
   * @throws a `CofferError`, the same wherever the operation runs; `unavailable` when a server does not answer.
   */
  run(
    operation: Operation | string,
    raw: Readonly<Record<string, unknown>>,
    mount?: string,
  ): Promise<Outcome<unknown>>;
  /** Runs whatever a path of the family's API names, without `/v1/`; on a server also what only the server knows. */
  at(asked: PathRequest): Promise<Outcome<unknown>>;
  /**
   * Runs operations that only read over one state of the store, whatever others write meanwhile. `work` may run again from the
   * start, so it must have no effects. Absent where operations run elsewhere, one by one.
   */
  snapshot?<T>(work: (runner: Runner) => Promise<T>): Promise<T>;
  /** What `--org` or its environment variable says, for operations whose path has no organization. */
  readonly organization?: string | undefined;
  /** Forgets keys, closes connections. */
  close(): void;
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The column that is copied into other commands, counted from 0: it is never cut to fit a terminal. */
  readonly whole?: number;
  /** A line below the table, e.g. page and total. */
  readonly summary?: string;
}

/**
 * One operation, declared once. The command, the HTTP route, the remote request, the OpenAPI document and the completions
 * derive from it; its name and summary stand in the catalogue.
 * @see docs/decisions/0071
 */
export interface Operation<P extends Params = Params, D = unknown, Mount = string | undefined>
  extends Declaration<P, D, Mount> {
  readonly api: Api;
}

/** All of an operation but its API. @typeParam C what its handlers are told. */
export interface Declaration<P extends Params, D, Mount, C = CallTo<Mount>> {
  /** The type of the mounts that it is an operation of, e.g. `transit`. */
  readonly mount?: Mount;
  /**
   * Method and path, in the notation of the API's documents: `POST keys/:name/trim`, `POST random(/:bytes)`.
   * Relative to each mount of the type when it does not start with `/`; else below `/v1` or `/api/v2`.
   * Several when they mean the same. POST answers PUT too, LIST answers `GET ?list=true` too.
   */
  readonly route: string | readonly string[];
  /** The capability that a policy must grant on the path. */
  readonly capability: Capability;
  /**
   * For operations that may create: whether the target is there. When it is not, the capability demanded is `create`.
   */
  exists?(call: C, values: ValuesOf<P>): Promise<boolean>;
  /** Of a login: the name of the role that is asked for, as limits for its rate know it. */
  roleOf?(call: C, values: ValuesOf<P>): Promise<string | undefined> | string | undefined;
  /** Answered without a token (health, seal status, ping, logins). */
  readonly unauthenticated?: true;
  /**
   * It tells by itself who may ask and how much they are told: it is run without a good token, too, for a stranger, with
   * the token that was sent.
   */
  readonly strangers?: true;
  /** Parameters of any name, which it finds in `Call.sent`. */
  readonly freeForm?: true;
  /** Changes nothing (a key made by the way aside), though its method is POST: it computes or looks up. */
  readonly computes?: true;
  /** A short request may ask for much work (its content is compressed), so a server never does it beside others. */
  readonly unfolds?: true;
  /** Any valid token will do (operations on oneself). */
  readonly anyToken?: true;
  /**
   * It is harmless without the secret of the store, which was given to an agent some time ago: it reads, or works on data or with keys, and
   * leaves nothing behind by which somebody gets in, or gets at keys, once the store is locked again. Absent where it does; a function where
   * that depends on what was sent. @param raw as it was sent.
   * @see docs/decisions/0143
   */
  readonly withoutSecret?: true | ((raw: Readonly<Record<string, unknown>>) => boolean);
  /** Answered while the store is sealed. */
  readonly whileSealed?: true;
  /** Answered in plain text in place of JSON (metrics). */
  readonly answersText?: true;
  /** The data are one object for as long as a server runs, of which the text is made once. */
  readonly answersTheSame?: true;
  /** Body and answer are not wrapped in `data` (health, seal status). */
  readonly bare?: true;
  readonly params: P;
  /** JSON:API: the `type` of the one resource in the request body whose attributes and relationships are parameters. */
  readonly resource?: string;
  readonly cli?: CliShape<D>;
  run(call: C, values: ValuesOf<P>): Promise<Outcome<D>>;
}

/** Whether an operation finds nothing; false when that can't be told. */
export const isMissing = (runner: Runner, operation: string, raw: Readonly<Record<string, unknown>>) =>
  runner.run(operation, raw).then(
    () => false,
    (error: unknown) => asCofferError(error)?.kind === 'not-found',
  );

/** Whether an agent does it only for who gives the secret of the store again. @param raw as it was sent. */
export const asksAgain = ({ withoutSecret }: Operation, raw: Readonly<Record<string, unknown>>): boolean =>
  withoutSecret !== true && withoutSecret?.(raw) !== true;

/** Whether it is there to change something, so that doing it twice is not the same as doing it once. */
export const changesSomething = ({ computes }: Operation, capability: Capability): boolean =>
  capability !== 'read' && capability !== 'list' && !computes;

/** Declares an operation below `/v1`. */
export const operation = <P extends Params, D, const Mount extends string | undefined = undefined>(
  declaration: Declaration<P, D, Mount>,
): Operation<P, D, Mount> => ({ api: 'vault', ...declaration });

/** Declares an operation below `/api/v2`. */
export const documentOperation = <P extends Params, D>(
  declaration: Declaration<P, D, undefined>,
): Operation<P, D, undefined> => ({ api: 'json-api', ...declaration });
