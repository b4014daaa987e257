import { asCofferError, invalid, withOtherHint } from '../../ground/errors.ts';
import type { LoginForm } from '../../mounts/mount.ts';
import { MOUNT_TYPES } from '../../operations/mount-types.ts';
import { isElsewhere, PAIR, pairOf, textOf } from '../files/pairs.ts';
import { secretText } from '../secrets/secret-sources.ts';
import type { Session } from '../session.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type JobTokenRequest, jobToken } from './job-token.ts';

type TypedForm = Omit<LoginForm, 'summary'>;
type TypedValues = Readonly<Record<string, string>>;

/** Default method: a token that the user brings, so that no login is sent. */
const TOKEN = 'token';

/** Login methods by name. */
const METHODS: ReadonlyMap<string, TypedForm> = new Map<string, TypedForm>([
  [TOKEN, { needs: [], secret: { name: 'token', question: 'Token' } }],
  ...MOUNT_TYPES.flatMap(({ name, login }) => (login === undefined ? [] : [[name, login] as const])),
]);

export const METHOD_NAMES: readonly string[] = [...METHODS.keys()];

/** Usual sources of secrets that the user did not give, by method; they are used before the user is asked. */
const OWN_SECRETS: Readonly<Record<string, (session: Session, request: JobTokenRequest) => Promise<string>>> =
  { jwt: ({ environment }, request) => jobToken(environment, request) };

/** Login method and its parameters, as typed. */
export interface TypedLogin {
  readonly method: string;
  readonly pairs: ReadonlyMap<string, string>;
}

/**
 * Parses `jwt role=release`, or `role=release` if an option names the method.
 * @throws `invalid` for an unknown method, and a secret among the arguments
 */
export function askedIn(words: readonly string[], option: string | undefined): TypedLogin {
  const [first, second] = words;
  if (first === '-' && words.length === 1) return askedIn([`${TOKEN}=-`], option);
  if (first === TOKEN && second === '-') return askedIn([TOKEN, `${TOKEN}=-`, ...words.slice(2)], option);
  const named = first === undefined || first.includes('=') ? undefined : first;
  if (named === TOKEN && second !== undefined && !second.includes('=')) throw tokenAsArgument();
  if (named !== undefined && option !== undefined && named !== option && METHODS.has(named)) {
    throw invalid(`METHOD ${named} contradicts --method ${option}`, { hint: 'use only one of them' });
  }
  const method = methodNamed(named ?? option ?? TOKEN, named === undefined ? 'method' : 'METHOD');
  const typed = words.slice(named === undefined ? 0 : 1);
  refuseBareName(method, typed);
  const pairs = new Map(typed.map(pairOf));
  const { secret } = formOf(method);
  requirePlainName(pairs);
  if (secret !== undefined && !isElsewhere(pairs.get(secret.name) ?? '-')) {
    throw invalid('secrets cannot be passed as arguments: other users could see them', {
      field: secret.name,
      hint: `use ${secret.name}=@FILE to read it from a file, ${secret.name}=- for standard input, or omit it to be prompted`,
    });
  }
  return { method, pairs };
}

/**
 * Asks for the parameters that the login needs, as far as they are no secrets.
 * @throws `invalid` if one is missing and the user cannot be asked
 */
export async function withNeeds({ prompts }: Session, { method, pairs }: TypedLogin): Promise<TypedLogin> {
  const filled = new Map(pairs);
  const { needs, secret } = formOf(method);
  for (const name of needs) {
    if ((pairs.get(name) ?? '') !== '') continue;
    const answer = prompts.available() ? (await prompts.text(questionFor(name))).trim() : '';
    // The user is not asked for an optional secret without a terminal, and no error would name it before the server's.
    if (answer === '' && secret?.isOptional === true && !pairs.has(secret.name))
      throw invalid(`missing ${name} and ${secret.name}`, {
        field: PAIR,
        hint: `add them: coffer login ${method} ${name}=… ${secret.name}=@FILE`,
      });
    if (answer === '')
      throw invalid(`missing ${name}`, { field: PAIR, hint: `add it: coffer login ${method} ${name}=…` });
    filled.set(name, answer);
  }
  requirePlainName(filled);
  return { method, pairs: filled };
}

/**
 * Refuses a value without the name of its parameter, with the command that names it.
 * @throws `invalid` if the login needs one parameter, and this is the only word that could be its value
 */
function refuseBareName(method: string, words: readonly string[]): void {
  const { needs } = formOf(method);
  const [need] = needs;
  const bare = words.filter((word) => !word.includes('='));
  const [value = ''] = bare;
  const isGiven = words.some((word) => word.startsWith(`${need}=`));
  if (need === undefined || needs.length > 1 || bare.length !== 1 || isGiven || isElsewhere(value)) return;
  const pairs = words.map((word) => shellWord(word === value ? `${need}=${value}` : word)).join(' ');
  throw invalid(`${JSON.stringify(value)} is not KEY=VALUE`, {
    field: PAIR,
    hint: `run "coffer login ${method} ${pairs}"`,
  });
}

/** @throws `invalid` for a user name that would be several segments of a path */
function requirePlainName(pairs: TypedLogin['pairs']): void {
  if (pairs.get('username')?.includes('/'))
    throw invalid('the user name must not contain "/"', { field: 'username' });
}

/** Returns the question for a parameter: `Role id` for `role_id`. */
const questionFor = (name: string): string =>
  `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;

/** Form of a word that may be a misspelt method or a user name. A token is longer, or has a dot in it. */
const PLAIN_WORD = /^[A-Za-z][\w-]{0,19}$/;
/** Error for a token among the arguments, which does not repeat it: logs of pipelines keep what a command prints. */
const tokenAsArgument = () =>
  invalid('a token cannot be passed as an argument: other users could see it', {
    hint: 'pipe it in, e.g. printf %s "$TOKEN" | coffer login token=-, or omit it to be prompted',
  });

/** @param field argument or option that names the method */
function methodNamed(word: string, field: string): string {
  if (METHODS.has(word)) return word;
  if (!PLAIN_WORD.test(word)) throw tokenAsArgument();
  throw invalid(`unknown login method ${JSON.stringify(word)}`, {
    field,
    hint: `use one of ${METHOD_NAMES.join(', ')}; users log in with "coffer login userpass username=NAME"`,
  });
}

function formOf(method: string): TypedForm {
  const form = METHODS.get(method);
  if (form === undefined) throw new Error(`unknown login method ${method}`);
  return form;
}

/** Returns the command that logs in again in the same way, without values that are read from elsewhere. */
export const againOf = ({ method, pairs }: TypedLogin, more: readonly string[]): string =>
  [
    'coffer login',
    method,
    ...more,
    ...[...pairs].filter(([, value]) => !isElsewhere(value)).map(([name, value]) => `${name}=${value}`),
  ].join(' ');

/** Login request, or the token that replaces one. */
export type LoginRequest =
  | { readonly token: string }
  | { readonly path: string; readonly parameters: TypedValues };

/**
 * Reads and asks for the parameters that the login still needs.
 * @throws `invalid` if the user cannot be asked
 */
export async function requestOf(
  session: Session,
  { method, pairs }: TypedLogin,
  request: JobTokenRequest,
): Promise<LoginRequest> {
  const { secret, inPath } = formOf(method);
  const values: Record<string, string> = {};
  for (const [name, value] of pairs) {
    values[name] = name === secret?.name ? secretIn(session, value, secret) : textOf(session, value);
  }
  if (secret !== undefined && values[secret.name] === undefined) {
    const found = await missingSecret(session, { method, pairs }, request);
    if (found !== undefined) values[secret.name] = found;
  }
  if (method === TOKEN) return { token: (values['token'] ?? '').trim() };
  const path = inPath === undefined ? 'login' : `login/${values[inPath] ?? ''}`;
  const parameters = Object.fromEntries(Object.entries(values).filter(([name]) => name !== inPath));
  return { path, parameters };
}

function secretIn(
  session: Session,
  value: string,
  { name, isExposed }: NonNullable<LoginForm['secret']>,
): string {
  const isPrivate = value.startsWith('@') && isExposed !== true;
  return isPrivate ? privateText(value.slice(1), name) : textOf(session, value);
}

/** Message about a file that other users can read or write. */
const OPEN_TO_OTHERS = /can be (?:read|written) by others$/;

/**
 * Reads a secret from a file that only the user can read.
 * @throws `unavailable` for any other file; the hint also has the form for one whose mode cannot be changed
 */
function privateText(path: string, name: string): string {
  try {
    return secretText(path, name);
  } catch (error) {
    const known = asCofferError(error);
    if (known === undefined || !OPEN_TO_OTHERS.test(known.message)) throw error;
    const standardInput = `if the mode of the file cannot be changed, pipe the secret in: ${name}=- < ${shellWord(path)}`;
    throw withOtherHint(known, `${known.hint}; ${standardInput}`);
  }
}

async function missingSecret(
  session: Session,
  typed: TypedLogin,
  request: JobTokenRequest,
): Promise<string | undefined> {
  const { method } = typed;
  const { secret } = formOf(method);
  if (secret === undefined) return undefined;
  const own = OWN_SECRETS[method];
  if (own !== undefined) return own(session, request);
  if (session.prompts.available()) {
    if (!session.streams.in.isTerminal)
      session.remark(`Standard input is not read; to use it, run "${againOf(typed, [`${secret.name}=-`])}".`);
    const answer = await session.prompts.secret(secret.question);
    return answer === '' && secret.isOptional ? undefined : answer;
  }
  if (secret.isOptional) return undefined;
  throw invalid(`cannot prompt for the ${secret.question.toLowerCase()}`, {
    field: secret.name,
    hint: `pipe it in, e.g. printf %s "$${secret.name.toUpperCase()}" | ${againOf(typed, [`${secret.name}=-`])}`,
  });
}
