import { invalid } from '../../ground/errors.ts';
import { isElsewhere, PAIR, pairOf, textOf } from '../files/pairs.ts';
import { secretText } from '../secrets/secret-sources.ts';
import type { Session } from '../session.ts';
import { type JobTokenRequest, jobToken } from './job-token.ts';

/** Login method, as far as the command line needs to know it: the rest is checked by the server. */
interface LoginMethod {
  /** Required parameters. */
  readonly needs: readonly string[];
  /** Parameter that must not appear in the process list, and its prompt. */
  readonly secret?: {
    readonly name: string;
    readonly question: string;
    /** Whether it may be empty, in which case it is not sent and the server decides. */
    readonly isOptional?: true;
    /** Whether it is accepted as an argument: it is short-lived, and its issuer puts it where others may read it. */
    readonly isExposed?: true;
  };
  /** Returns the secret from its usual source if the user did not give one, before the user is asked. */
  own?(session: Session, request: JobTokenRequest): Promise<string>;
  /** Returns the path below the mount; absent if nothing is sent to log in. */
  path?(values: TypedValues): string;
}

type TypedValues = Readonly<Record<string, string>>;

const METHODS = {
  token: { needs: [], secret: { name: 'token', question: 'Token' } },
  userpass: {
    needs: ['username'],
    secret: { name: 'password', question: 'Password' },
    path: ({ username = '' }) => `login/${username}`,
  },
  approle: {
    needs: ['role_id'],
    secret: { name: 'secret_id', question: 'Secret ID', isOptional: true },
    path: () => 'login',
  },
  jwt: {
    needs: [],
    secret: { name: 'jwt', question: 'JWT', isExposed: true },
    own: ({ environment }, request) => jobToken(environment, request),
    path: () => 'login',
  },
  cert: { needs: [], path: () => 'login' },
} as const satisfies Readonly<Record<string, LoginMethod>>;

type MethodName = keyof typeof METHODS;

export const METHOD_NAMES = Object.keys(METHODS) as readonly MethodName[];

/** Login method and its parameters, as typed. */
export interface TypedLogin {
  readonly method: MethodName;
  readonly pairs: ReadonlyMap<string, string>;
}

/**
 * Parses `jwt role=release`, or `role=release` if an option names the method.
 * @throws `invalid` for an unknown method, a missing parameter, and a secret among the arguments
 */
export function askedIn(words: readonly string[], option: string | undefined): TypedLogin {
  const [first] = words;
  const named = first === undefined || first.includes('=') ? undefined : first;
  if (named !== undefined && option !== undefined && named !== option) {
    throw invalid(`METHOD ${named} contradicts --method ${option}`, { hint: 'use only one of them' });
  }
  const method = methodNamed(named ?? option ?? 'token');
  const pairs = new Map(words.slice(named === undefined ? 0 : 1).map(pairOf));
  const { needs, secret }: LoginMethod = METHODS[method];
  for (const name of needs) {
    if ((pairs.get(name) ?? '') === '')
      throw invalid(`missing ${name}`, { field: PAIR, hint: `use ${name}=…` });
  }
  if (pairs.get('username')?.includes('/'))
    throw invalid('the user name must not contain "/"', { field: 'username' });
  if (secret !== undefined && !isElsewhere(pairs.get(secret.name) ?? '-')) {
    throw invalid('secrets cannot be passed as arguments: other users could see them', {
      field: secret.name,
      hint: `use ${secret.name}=@FILE or ${secret.name}=-, or omit it to be prompted`,
    });
  }
  return { method, pairs };
}

function methodNamed(word: string): MethodName {
  const found = METHOD_NAMES.find((name) => name === word);
  if (found !== undefined) return found;
  throw invalid(`unknown login method ${JSON.stringify(word)}`, {
    field: 'method',
    hint: `use one of ${METHOD_NAMES.join(', ')}`,
  });
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
  const { secret, path }: LoginMethod = METHODS[method];
  const values: Record<string, string> = {};
  for (const [name, value] of pairs) {
    values[name] = name === secret?.name ? secretIn(session, value, secret) : textOf(session, value);
  }
  if (secret !== undefined && values[secret.name] === undefined) {
    const found = await missingSecret(session, METHODS[method], request);
    if (found !== undefined) values[secret.name] = found;
  }
  if (path === undefined) return { token: (values['token'] ?? '').trim() };
  const inPath = method === 'userpass' ? ['username'] : [];
  const parameters = Object.fromEntries(Object.entries(values).filter(([name]) => !inPath.includes(name)));
  return { path: path(values), parameters };
}

function secretIn(
  session: Session,
  value: string,
  { name, isExposed }: NonNullable<LoginMethod['secret']>,
): string {
  const isPrivate = value.startsWith('@') && isExposed !== true;
  return isPrivate ? secretText(value.slice(1), name) : textOf(session, value);
}

async function missingSecret(
  session: Session,
  { secret, own }: LoginMethod,
  request: JobTokenRequest,
): Promise<string | undefined> {
  if (secret === undefined) return undefined;
  if (own !== undefined) return own(session, request);
  if (session.prompts.available()) {
    const answer = await session.prompts.secret(secret.question);
    return answer === '' && secret.isOptional ? undefined : answer;
  }
  if (secret.isOptional) return undefined;
  throw invalid(`cannot prompt for the ${secret.question.toLowerCase()}`, {
    field: secret.name,
    hint: `use ${secret.name}=@FILE or ${secret.name}=-`,
  });
}
