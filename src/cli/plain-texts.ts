import { existsSync } from 'node:fs';
import { CofferError, withOtherHint } from '../ground/errors.ts';
import { trimSlashes } from '../ground/trim.ts';
import { LOGIN_PREFIX } from '../mounts/paths.ts';
import { LOGIN_METHODS } from '../operations/mount-types.ts';
import { directoryOf } from '../store/backends/registry.ts';
import { API_WORDINGS, HINT_WORDINGS } from './api-wordings.ts';
import type { Invocation } from './command.ts';
import { textOption } from './given.ts';
import type { Rewording } from './key-wordings.ts';
import { mountOfMethod } from './parse/operation-spec.ts';
import type { Session } from './session.ts';
import { shellWord } from './terminal/shell-word.ts';

/*
 * Texts of errors that clients of Vault compare, in words that a user of the command line understands. The API, its log
 * and the library keep them to the letter.
 */

/** Vault calls a key a policy, and a mount a backend. */
const REWORDINGS: readonly Rewording[] = [
  [/^error deleting policy (.+): deletion is not allowed for this key/, 'key $1 may not be deleted'],
  [/^error deleting policy (.+): could not delete key; not found/, 'key "$1" not found'],
  [/^failed to restore the policy "/, 'cannot restore the key "'],
  [
    /exporting is disallowed on the policy/,
    'backups of this key are not allowed, because it is not exportable',
  ],
  [/^plaintext backup is disallowed on the policy/, 'backups of this key are not allowed'],
  [
    /ciphertext or signature version is disallowed by policy \(too old\)/,
    'the key version of the ciphertext or signature is no longer allowed',
  ],
  [/\bversion is too old \(disallowed by policy\)/, 'the key version is no longer allowed'],
  [/^imported key (.+) does not allow rotation within Vault/, 'imported key $1 may not be rotated'],
  [/^unable to get associated_data\/additional_data from factory\[0\]: /, ''],
  [/^backend type must be specified as a string/, 'missing type'],
  [/^token credential backend cannot be instantiated/, 'the login method "token" is always enabled'],
  [/^token credential backend cannot be disabled/, 'the login method "token" cannot be disabled'],
  [/is greater than the backend's maximum/, "is greater than the mount's maximum"],
  [/^plugin not found in the catalog: (.*)/, 'unknown type "$1"'],
  [/^No secret engine mount at (.+?)\/?$/, 'no mount "$1"'],
  [/go-jose\/go-jose(?:\/jwt)?: /, ''],
  ...API_WORDINGS,
];

/** Text about a key that does not exist; each operation has its own. */
const NO_KEY: readonly RegExp[] = [
  /^(?:encryption |signing |signature verification )?key not found/,
  /^key "[^"]*" not found/,
  /^key with provided name '[^']*' not found/,
  /^invalid key name/,
  /^no existing key named \S+ could be found/,
  /^error deleting policy .+: could not delete key; not found/,
  /^no such (?:destination key to export to|source key for export)/,
  /^specified base key not found/,
  /^no key found with name [^;]*; to import a new key, use the import\/ endpoint/,
];
/** Name of the key in the hint, and the rest of the hint. */
const NAMED_KEY = /^no key "([^"]*)"(?:; )?(.*)$/;

/** Text about a path at which nothing is mounted. */
const NO_MOUNT = /^no handler for route "(.+)"\. route entry not found\.$/;

/** Text about a token that is not there, or no longer. */
const NO_TOKEN = /^bad token$/;
const TOKEN_HINT = 'it may have expired or been revoked; "coffer token list" lists the accessors of tokens';

/** Text about a login method whose path is taken, and its hint if the method itself took it. */
const PATH_IN_USE = /^path is already in use at (.+)\/$/;
const ENABLED_THERE = /^(\S+) is already enabled there: /;

/** Text about a login method of an unknown type; an engine of an unknown type has the same one without this hint. */
const UNKNOWN_TYPE = /^plugin not found in the catalog: (.*)/;

/** Text about a server that cannot be reached, and its hint if nothing else is known about that. */
const UNREACHABLE = /^cannot reach /;
const NOT_SERVED = 'check that "coffer serve" is running';

/** What Vault writes before the reason why a token of an issuer is refused. */
const REFUSED_TOKEN = /^error validating token: (?:error verifying token signature: )?/;

/**
 * Returns an error in plain words: the same one if its text is plain already.
 * @param variables variable that the address of a server comes from
 * @param mount mount that the command is about, without slashes at the ends; a server names only the whole path
 * @param hasStore whether there may be a local store to use instead of the server
 */
export function inPlainWords(
  error: CofferError,
  variables?: string,
  mount?: string,
  hasStore = true,
): CofferError {
  const { message, hint } = error;
  const reason = message.replace(REFUSED_TOKEN, '');
  const isKnown = inWords(message, REWORDINGS) !== message;
  if (reason !== message && !isKnown && inWords(reason, REWORDINGS) !== reason)
    return inPlainWords(reworded(error, reason, hint, error.field), variables, mount, hasStore);
  const isSilent = hint === undefined || hint.startsWith(NOT_SERVED);
  if (variables !== undefined && isSilent && UNREACHABLE.test(message)) {
    const local = hasStore ? [`to use the local store, run "unset ${variables}"`] : [];
    const check = hint === undefined ? [] : [`${NOT_SERVED} at the address in ${variables}`];
    return reworded(error, message, [...check, ...local].join('; ') || undefined);
  }
  const [, path] = PATH_IN_USE.exec(message) ?? [];
  const [, type] = ENABLED_THERE.exec(hint ?? '') ?? [];
  if (path !== undefined && type !== undefined && LOGIN_METHODS.includes(type))
    return reworded(error, `${type} is already enabled at ${path}/`, 'use --path for another one');
  const [, unknown] = UNKNOWN_TYPE.exec(message) ?? [];
  if (unknown !== undefined && hint?.includes('userpass') === true)
    return reworded(error, `unknown login method "${unknown}"`, hint, error.field);
  const [, name, rest] = error.kind === 'not-found' ? (NAMED_KEY.exec(hint ?? '') ?? []) : [];
  const missing = NO_KEY.find((text) => text.test(message));
  if (name !== undefined && missing !== undefined) {
    const named = message.replace(missing, () => `key "${name}" not found`);
    return reworded(error, named, rest, error.field);
  }
  const [, route] = NO_MOUNT.exec(message) ?? [];
  if (route !== undefined) return notMounted(error, route, mount);
  if (NO_TOKEN.test(message)) return reworded(error, 'unknown token', hint ?? TOKEN_HINT, error.field);
  const plain = inWords(message, REWORDINGS);
  const advice = hint ?? REWORDINGS.find(([text, , own]) => own !== undefined && text.test(message))?.[2];
  const plainHint = advice && inWords(advice, HINT_WORDINGS);
  if (plain === message && plainHint === hint) return error;
  return reworded(error, plain, plainHint, error.field);
}

/** Warnings that clients of Vault know by their text; it names a log that a store of one's own does not have. */
const WARNINGS: readonly Rewording[] = [
  [
    /^Tidy operation successfully started\. .*/,
    'tidying has started; if there is anything to report, a server writes it to its log',
  ],
];

/** Prints warnings of an outcome in plain words. */
export function sayWarnings(session: Session, warnings: readonly string[]): void {
  for (const warning of warnings) session.warn(inWords(warning, WARNINGS));
}

const inWords = (text: string, wordings: readonly Rewording[]): string =>
  wordings.reduce((words, [known, plain]) => words.replace(known, plain), text);

/**
 * Returns the error about a path at which nothing is mounted, with the name of the mount if that is known.
 * @param mount as for `inPlainWords`
 */
function notMounted(error: CofferError, path: string, mount: string | undefined): CofferError {
  const isBelow = mount !== undefined && `${path}/`.startsWith(`${mount}/`);
  const missing = error.field === 'mount' ? path : isBelow ? mount : undefined;
  const hint = error.hint ?? mountHint(path);
  if (missing === undefined) return reworded(error, `nothing is mounted at "${path}"`, hint, error.field);
  const what = missing.startsWith(LOGIN_PREFIX) ? 'login method at' : 'mount';
  return reworded(error, `no ${what} "${missing}"`, hint);
}

/** Returns what to do about a missing mount, of which a server says only that. */
const mountHint = (path: string): string =>
  path.startsWith(LOGIN_PREFIX)
    ? 'list the login methods with "coffer auth list", or enable one with "coffer auth enable METHOD"'
    : 'list the mounts with "coffer mounts list"';

/** Whether there may be a local store: a database is not asked for one. */
export function mayHaveStore(session: Session | undefined): boolean {
  const directory = session && directoryOf(session.settings.storeLocation);
  return directory === undefined || existsSync(directory);
}

/** Returns the mount that a command is about, for `inPlainWords`. */
export function mountOf({ path, given }: Invocation, session: Session | undefined): string | undefined {
  const [group, method = ''] = path;
  if (group === 'auth' && LOGIN_METHODS.includes(method)) return mountOfMethod(method, given.options);
  return session && trimSlashes(session.settings.mount);
}

/** Command about a role of a login method, in a hint. */
const OF_ROLE = /("coffer auth ([\w-]+) [\w-]+) ROLE\b/g;

/** Returns the error with the role that the command names in the commands of its hint. */
export function withRole(error: CofferError, { path: [group, method], given }: Invocation): CofferError {
  const [role] = given.arguments;
  const { hint } = error;
  if (group !== 'auth' || role === undefined || hint === undefined) return error;
  const at = textOption(given.options, 'path');
  const words = [shellWord(role), ...(at === undefined ? [] : ['--path', shellWord(at)])].join(' ');
  const named = hint.replace(OF_ROLE, (all: string, before: string, of: string) =>
    of === method ? `${before} ${words}` : all,
  );
  return named === hint ? error : withOtherHint(error, named);
}

const reworded = (error: CofferError, message: string, hint: string | undefined, field?: string) =>
  new CofferError(error.kind, message, {
    field,
    hint,
    cause: error,
    isGone: error.isGone ? true : undefined,
  });
