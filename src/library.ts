import { isAnyArrayBuffer } from 'node:util/types';
import { asCofferError, CofferError, invalid } from './ground/errors.ts';
import { meantText, nearest } from './ground/nearness.ts';
import { isObject } from './ground/objects.ts';
import { trimSlashes } from './ground/trim.ts';
import { LOGIN_PREFIX } from './mounts/paths.ts';
import { type Catalogue, catalogue } from './operations/catalogue.ts';
import { type CatalogueBranch, type CatalogueEntry, isEntry } from './operations/catalogue-entry.ts';
import { openCore } from './operations/core.ts';
import { type Operation, type Runner, resultOf } from './operations/declaration/operation.ts';
import { flagOf, type InputOf, type Params, type SuggestedWords } from './operations/declaration/params.ts';
import { usualPath } from './operations/mount-types.ts';
import { ownerRunner } from './operations/runner.ts';
import { lasting } from './store/backends/registry.ts';
import { parseMasterKey } from './store/master-key.ts';
import { openStore as openSealedStore } from './store/open.ts';
import { STORE_CLOSED } from './store/refusals.ts';
import type { Credential } from './store/slots/unlock.ts';

export { CofferError, type ErrorKind } from './ground/errors.ts';

type Camel<Word extends string> = Word extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Word;

interface WhichMount {
  /**
   * Mount of a function that has one, without slashes at the ends. Default: `transit`, and for a login method the path
   * with its name, `auth/approle`; other paths of login methods can be given without `auth/`.
   */
  readonly mount?: string;
}

/** Value of a parameter: one of its words, if their type lists them, so that the compiler finds a mistyped one. */
type LibraryValue<P, T> = [SuggestedWords<P>] extends [never]
  ? T
  : string extends SuggestedWords<P>
    ? T
    : SuggestedWords<P>;

type LibraryInput<P extends Params> = {
  readonly [K in keyof InputOf<P>]: K extends keyof P ? LibraryValue<P[K], InputOf<P>[K]> : InputOf<P>[K];
} & WhichMount;
type Single<D> = Extract<D, { readonly batch_results?: never }>;
type BatchAnswer<D> = Extract<D, { readonly batch_results: unknown }>;

/** Function of an operation; with `batch_input` it returns `batch_results`, without it the result itself. */
type LibraryCall<P extends Params, D> = [BatchAnswer<D>] extends [never]
  ? Record<string, never> extends InputOf<P>
    ? (input?: LibraryInput<P>) => Promise<D>
    : (input: LibraryInput<P>) => Promise<D>
  : {
      (input: LibraryInput<P> & { readonly batch_input: unknown }): Promise<BatchAnswer<D>>;
      (input: Omit<LibraryInput<P>, 'batch_input'>): Promise<Single<D>>;
    };

/** Catalogue as functions: `catalogue.transit.keys.create` becomes `transit.keys.create(input)`. */
export type Functions<B> = {
  readonly [Word in keyof B as Word extends string ? Camel<Word> : never]: B[Word] extends CatalogueEntry<
    Operation<infer P, infer D>
  >
    ? LibraryCall<P, D>
    : B[Word] extends CatalogueBranch
      ? Functions<B[Word]>
      : never;
};

/**
 * Opened store: a function for every operation, with the parameters of the HTTP API (`min_decryption_version`, base64
 * where the API has base64), returning its `data` (the whole document for tags, undefined where the API returns 204).
 * Errors are `CofferError`s. The caller is the owner: no token is needed.
 */
export type Coffer = Functions<Catalogue> & {
  /** Forgets the root key; every later call throws `sealed`. */
  close(): void;
};

interface StorePlace {
  /** Directory of the store, or `postgres://…`, created by `coffer init`. */
  readonly location: string;
}

interface WithMasterKey {
  /** 32 bytes, which are copied, or their base64 or hex text as printed by `coffer keygen`. */
  readonly masterKey: string | Uint8Array | ArrayBuffer | undefined;
  readonly passphrase?: string | undefined;
}

interface WithPassphrase {
  readonly passphrase: string | undefined;
  readonly masterKey?: WithMasterKey['masterKey'];
}

/** Place of a store, and a secret that unlocks it. */
export type OpenOptions = StorePlace & (WithMasterKey | WithPassphrase);

const SECRETS = ['masterKey', 'passphrase'] as const;
const OPEN_OPTIONS = ['location', ...SECRETS];

/**
 * Opens a store for a Node program.
 * @throws `invalid` without a location, as in programs written for release 0.1, for an unknown option, and for a secret
 * that is neither text nor bytes;
 * `not-found` if there is no store;
 * `sealed` without a secret; `denied` with a wrong one
 */
export async function openStore(options: OpenOptions): Promise<Coffer> {
  const given: Partial<OpenOptions> = options ?? {};
  refuseOther(given, 'options', 'location, and masterKey or passphrase');
  if (typeof given.location !== 'string') throw noLocation(given);
  refuseUnknown(given, OPEN_OPTIONS, 'option');
  // The program may change its directory later.
  const location = lasting(options.location);
  const opening = openSealedStore({ location, credentials: credentialsOf(options) });
  const store = await opening.catch((error: unknown) => inOwnWords(ofSecret(error, options)));
  const runner = ownerRunner(openCore(store));
  return { ...(functionsOf(catalogue, runner) as Functions<Catalogue>), close: () => runner.close() };
}

/** Returns the error of a store that stays locked, which says whether a secret was given at all. */
function ofSecret(error: unknown, options: OpenOptions): unknown {
  const known = asCofferError(error);
  if (known?.kind !== 'sealed') return error;
  const given = SECRETS.filter((name) => isGiven(options[name]));
  const message =
    given.length === 0
      ? 'the store is locked: no secret was given'
      : `the store is locked: it has no key slot for ${given.join(' or ')}`;
  const hint = known.hint ?? 'give masterKey or passphrase';
  return new CofferError(known.kind, message, { hint, cause: error });
}

/** Words of the command line in hints, and what they are for a program. */
const OWN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/, or use --store or COFFER_STORE$/, ', or give another location'],
  [/, or choose another location with --store$/, ', or choose another location'],
  [/\buse --force\b/, 'use force: true'],
  [/^use --org NAME or set COFFER_ORG$/, 'give the parameter organization'],
  [/^use --address or COFFER_ADDR to name a server$/, 'send the request to a server, over its HTTP API'],
  [/^use --org NAME or set COFFER_ORG, or /, ''],
];

/** Command in quotes, with the verb before it, and an option alone. */
const COMMAND = /(\brun )?"coffer ([^"]+)"/g;
const OPTION = /--([a-z][a-z-]*)(?: ([a-z\d][\w.-]*))?/g;
const WORDS = /'[^']*'|\S+/g;

/**
 * Rethrows an error with its hint in the words of a program, which calls functions with parameters. Commands without a
 * function, such as `coffer doctor`, stay unchanged: a person has to run them.
 * @param params parameters of the function that was called
 * @throws the error
 */
async function inOwnWords(error: unknown, params: Params = {}): Promise<never> {
  const ofCore = asCofferError(error);
  if (ofCore === undefined) throw error;
  const { inPlainWords } = await import('./cli/plain-texts.ts');
  const known = inPlainWords(ofCore);
  if (known.hint === undefined) throw known;
  if (known.kind === 'sealed' && known.hint === STORE_CLOSED) {
    throw new CofferError('sealed', 'the store was closed', {
      hint: 'open it again with openStore',
      cause: error,
    });
  }
  const plain = OWN_WORDS.reduce((text, [words, own]) => text.replace(words, own), known.hint);
  const calls = new Map<string, string | undefined>();
  for (const [, , line = ''] of plain.matchAll(COMMAND)) calls.set(line, await callsFor(line));
  const hint = plain
    .replace(COMMAND, (whole, run: string | undefined, line: string) => {
      const call = calls.get(line);
      return call === undefined ? whole : `${run === undefined ? '' : 'call '}${call}`;
    })
    .replace(
      OPTION,
      (whole, flag: string, value: string | undefined) => optionSetting(params, flag, value) ?? whole,
    );
  if (hint === known.hint) throw known;
  const { kind, field, cause, isGone, texts } = known;
  throw new CofferError(kind, texts.message, { field, hint, cause, isGone: isGone || undefined });
}

/** Returns the function calls for the commands of a line; undefined if one of them has no function. */
async function callsFor(line: string): Promise<string | undefined> {
  const commands = line.split(' | coffer ');
  const calls = await Promise.all(commands.map(callFor));
  if (calls.some((call) => call === undefined)) return undefined;
  // The arguments come through the pipe, so they are not in the command.
  return commands.length === 1 ? calls[0] : calls.map((call) => call?.replace(/\(.*/, '')).join(' and ');
}

/** Returns the function call for a command: `transit.keys.config({ name: 'orders', deletion_allowed: true })`. */
async function callFor(command: string): Promise<string | undefined> {
  const words = (command.match(WORDS) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1'));
  let node: CatalogueBranch | CatalogueEntry<Operation> = catalogue;
  const path: string[] = [];
  while (!isEntry(node)) {
    const word: string = words.shift() ?? '';
    const next: CatalogueBranch | CatalogueEntry<Operation> | undefined = node[word];
    if (next === undefined) return undefined;
    path.push(camel(word));
    node = next;
  }
  const { params } = (await node.load()).declaration;
  const positional = Object.keys(params).filter((name) => params[name]?.cli.positional);
  const settings: string[] = [];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const value = word.startsWith('--') && !words[0]?.startsWith('--') ? words[0] : undefined;
    const setting = word.startsWith('--')
      ? settingOf(params, word.slice(2), value)
      : `${positional.shift()}: '${word}'`;
    if (word.startsWith('--') && setting?.endsWith(`'${value}'`)) words.shift();
    if (setting !== undefined) settings.push(setting);
  }
  return `${path.join('.')}(${settings.length === 0 ? '' : `{ ${settings.join(', ')} }`})`;
}

/** Words of a hint that follow an option, and are not its value. */
const PROSE: ReadonlySet<unknown> = new Set(['and', 'as', 'for', 'or', 'to', 'with']);

/** Returns the parameter that an option stands for in a sentence, with the value or the word after it. */
function optionSetting(params: Params, flag: string, word: string | undefined): string | undefined {
  if (!PROSE.has(word)) return settingOf(params, flag, word);
  const setting = settingOf(params, flag);
  return setting === undefined ? undefined : `${setting} ${word}`;
}

/** Returns the parameter that an option stands for, with its value; undefined if there is none. */
function settingOf(params: Params, flag: string, value?: string): string | undefined {
  const [name, param] = Object.entries(params).find(([name, param]) => flagOf(name, param) === flag) ?? [];
  if (name === undefined || param === undefined) return undefined;
  const key = /^\w+$/.test(name) ? name : `'${name}'`;
  if (param.schema.type === 'boolean') return `${key}: true`;
  return value === undefined ? key : `${key}: '${value}'`;
}

/** @throws `invalid` for something else than an object with members, as other libraries take */
function refuseOther(input: unknown, kind: string, names: string): void {
  if (isObject(input)) return;
  throw invalid(`the ${kind} are not an object`, { hint: `give one object, with ${names}` });
}

/** @throws `invalid` for a member that none of the names has; one that is undefined has no effect and is accepted */
function refuseUnknown(input: object, names: readonly string[], kind: string): void {
  const unknown = Object.entries(input).find(([name, value]) => value !== undefined && !names.includes(name));
  if (unknown === undefined) return;
  const [field] = unknown;
  const near = nearest(field, names);
  throw invalid(`unknown ${kind} "${field}"`, {
    field,
    hint: near.length > 0 ? meantText(near) : `use one of ${names.join(', ')}`,
  });
}

/** Refuses parameters that an operation does not have, which would have no effect, also in the items of a batch. */
function refuseUnknownIn({ params, mount }: Operation, raw: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(params);
  refuseUnknown(raw, mount === undefined ? names : [...names, 'mount'], 'parameter');
  for (const [name, param] of Object.entries(params)) {
    const items = raw[name];
    if (!('fields' in param) || !isObject(param.fields) || !Array.isArray(items)) continue;
    const fields = Object.keys(param.fields);
    for (const item of items) if (isObject(item)) refuseUnknown(item, fields, 'parameter');
  }
}

const noLocation = (options: object): CofferError =>
  invalid('openStore needs the location of the store', {
    field: 'location',
    hint:
      'directory' in options
        ? 'use "location" instead of "directory"'
        : 'give its directory, or postgres://…',
  });

const isGiven = (secret: unknown): boolean => secret !== undefined && secret !== null;

const SECRET_HINTS = {
  masterKey: 'give 32 bytes as a Uint8Array, or their base64 or hex text',
  passphrase: 'give a string',
};

function credentialsOf(options: OpenOptions): Credential[] {
  const { masterKey, passphrase } = options;
  for (const name of SECRETS) refuseOtherSecret(name, options[name]);
  const credentials: Credential[] = [];
  if (isGiven(masterKey)) {
    const reveal = () => (typeof masterKey === 'string' ? parseMasterKey(masterKey) : copyOf(masterKey));
    credentials.push({ kind: 'raw', source: 'masterKey', reveal });
  }
  if (isGiven(passphrase)) {
    const reveal = () => (typeof passphrase === 'string' ? passphrase : copyOf(passphrase));
    credentials.push({ kind: 'passphrase', source: 'passphrase', reveal });
  }
  return credentials;
}

/** @throws `invalid` for a secret that is neither text nor bytes, as a program without types may give it */
function refuseOtherSecret(field: keyof typeof SECRET_HINTS, secret: unknown): void {
  if (!isGiven(secret) || typeof secret === 'string') return;
  if (isAnyArrayBuffer(secret) || ArrayBuffer.isView(secret) || Array.isArray(secret)) return;
  throw invalid(`${field} is neither text nor bytes`, { field, hint: SECRET_HINTS[field] });
}

/**
 * Copies the caller's bytes, because the store overwrites its input. `Buffer.from` alone would share the memory of an
 * ArrayBuffer, which may hold much else: small Buffers are parts of a common one.
 */
function copyOf(bytes: ArrayBuffer | ArrayBufferView | readonly number[] | undefined): Buffer {
  if (!ArrayBuffer.isView(bytes)) return Buffer.from(new Uint8Array(bytes ?? []));
  return Buffer.from(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

const camel = (word: string): string => word.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

function functionsOf(branch: CatalogueBranch, runner: Runner): object {
  return Object.fromEntries(
    Object.entries(branch).map(([word, node]) => [
      camel(word),
      isEntry(node) ? functionOf(node, runner) : functionsOf(node, runner),
    ]),
  );
}

/** Returns the mount of an operation: that of a login method is below `auth/`. */
function mountOf({ mount: type }: Operation, given: unknown): string | undefined {
  if (type === undefined) return undefined;
  const usual = usualPath(type);
  const path = given === undefined ? usual : trimSlashes(String(given));
  return usual.startsWith(LOGIN_PREFIX) && !path.startsWith(LOGIN_PREFIX) ? LOGIN_PREFIX + path : path;
}

function functionOf(entry: CatalogueEntry<Operation>, runner: Runner) {
  let declaration: Operation | undefined;
  return async (input: Readonly<Record<string, unknown>> = {}): Promise<unknown> => {
    // An `import()` of a loaded module still costs as much as hashing a few kilobytes.
    declaration ??= (await entry.load()).declaration;
    refuseOther(input, 'parameters', Object.keys(declaration.params).join(', '));
    if (!declaration.freeForm) refuseUnknownIn(declaration, input);
    const { mount, ...raw } = input;
    const work = runner.run(declaration, raw, mountOf(declaration, mount));
    const { params } = declaration;
    return resultOf(await work.catch((error: unknown) => inOwnWords(error, params)));
  };
}
