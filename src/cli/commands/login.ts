import { asCofferError, CofferError, invalid, unavailable, unsupported } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { LOGIN_PREFIX } from '../../mounts/paths.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import type { Command } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { printResult } from '../files/output.ts';
import { PAIR } from '../files/pairs.ts';
import { type Given, textOption, variable } from '../given.ts';
import { type KeptToken, TokenFile } from '../logins/kept-token.ts';
import {
  type Asked,
  againOf,
  askedIn,
  type LoginRequest,
  METHOD_NAMES,
  requestOf,
} from '../logins/methods.ts';
import { switching, taking, takingFile } from '../parse/everywhere.ts';
import { maskingLines } from '../processes/masking.ts';
import {
  authoritiesOf,
  type ClientCertificate,
  certificateIn,
  connectTo,
  givenToken,
  tokenIn,
  warnOfReaders,
} from '../runner-remote.ts';
import type { Session } from '../session.ts';

const METHOD = 'method';
const PATH = 'path';
const AUDIENCE = 'audience';
const CLIENT_CERT = 'client-cert';
const CLIENT_KEY = 'client-key';
const NO_STORE = 'no-store';
const FIELD = 'field';

/**
 * Returns the address of the server.
 * @throws `invalid` if no server is named
 */
function requireServer({ settings: { address } }: Session): string {
  if (address !== undefined) return address;
  throw invalid('there is no server to log in to: who has the store is its owner', {
    hint: 'give --address or set COFFER_ADDR',
  });
}

/** Result of a login. */
interface LoggedIn {
  readonly token: string;
  readonly expiresMs: number | undefined;
  readonly policies: readonly string[];
  /** Response of the server. */
  readonly told: Readonly<Record<string, unknown>>;
}

export const login: Command = {
  arguments: [
    { metavar: 'METHOD', help: 'How to log in; default: token.', required: false, choices: METHOD_NAMES },
    {
      metavar: PAIR,
      help: 'What the method wants to know, such as role=release. KEY=@FILE and KEY=- read from a file or from standard input.',
      required: false,
      many: true,
    },
  ],
  options: [
    taking(METHOD, 'METHOD', 'The same as METHOD.', { choices: METHOD_NAMES }),
    taking(PATH, 'P', 'Where the method is mounted below auth/.', { fallback: 'the name of the method' }),
    taking(AUDIENCE, 'URL', 'For whom GitHub is to make the token of the job.', {
      fallback: 'the address of the server',
    }),
    takingFile(CLIENT_CERT, 'Certificate to show the server, PEM; COFFER_CLIENT_CERT for later commands.'),
    takingFile(CLIENT_KEY, 'Its key, PEM; COFFER_CLIENT_KEY for later commands.'),
    switching(NO_STORE, 'Print the token, and keep nothing.'),
    taking(FIELD, 'NAME', 'Print this member of the answer alone, such as token.'),
  ],
  details:
    'The token is kept in a file that only you can read, one for each address, and later commands for that address find it, ' +
    'behind --token, COFFER_TOKEN and VAULT_TOKEN. Passwords and the like are asked for, or come from a file or standard input; ' +
    'they are never arguments, which others on the machine can read. In a job of GitHub Actions or GitLab, jwt takes the ' +
    "job's own token.",
  examples: [
    ['coffer login userpass username=ada', 'Asks for the password'],
    ['coffer login jwt role=release', 'In a job of GitHub Actions or GitLab'],
    ['coffer login approle role_id=deploy secret_id=@secret-id', 'The secret from a file'],
    ['token=$(coffer login jwt role=release --no-store)', 'For other programs; nothing is kept'],
  ],
  async run(session, { arguments: words, options }) {
    const address = requireServer(session);
    const asked = askedIn(words, textOption(options, METHOD));
    const file = options.has(NO_STORE) ? undefined : TokenFile.required(session.environment, address);
    const certificate = certificateOf(session, options);
    warnOfReaders(session, address);
    const request = await requested(session, asked, address, options);
    const found = await loggedIn(
      session,
      address,
      request,
      textOption(options, PATH) ?? asked.method,
      certificate,
    );
    if (session.environment['GITHUB_ACTIONS'] === 'true') {
      // The runner reads both streams, and only this one contains no results.
      session.streams.err.write(maskingLines('github', session.environment)([found.token]));
    }
    let isKept = false;
    try {
      await file?.write(keptFrom(found, asked, request, options));
      isKept = file !== undefined;
      if (!(await show(session, found, options)) && !isKept)
        throw unavailable('nobody has read what was printed');
    } catch (error) {
      // The user did not get the token, and no other user should.
      if (!isKept && 'path' in request) await endUnseen(session, address, found.token, certificate);
      throw error;
    }
    if (file !== undefined) tell(session, address, found);
    return DONE;
  },
};

async function endUnseen(
  session: Session,
  address: string,
  token: string,
  certificate: ClientCertificate | undefined,
): Promise<void> {
  const runner = connectTo(session, address, token, certificate);
  try {
    await revoke(runner);
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    session.warn('the token that was made could not be ended');
  } finally {
    runner.close();
  }
}

async function requested(
  session: Session,
  asked: Asked,
  address: string,
  options: Given['options'],
): Promise<LoginRequest> {
  // A token given to all commands applies here as well: it is the token to store.
  const isSaid =
    asked.method === 'token' && !asked.pairs.has('token') && session.settings.token.kind !== 'none';
  if (isSaid) return { token: tokenIn(await givenToken(session)) ?? '' };
  const authorities = authoritiesOf(session.environment);
  return requestOf(session, asked, {
    audience: textOption(options, AUDIENCE) ?? address,
    certificateAuthorities: authorities,
  });
}

function certificateOf({ environment }: Session, options: Given['options']): ClientCertificate | undefined {
  const certificate = textOption(options, CLIENT_CERT);
  const key = textOption(options, CLIENT_KEY);
  if (certificate === undefined && key === undefined) return certificateIn(environment);
  if (certificate !== undefined && key !== undefined) return { certificate, key };
  throw invalid('a certificate and its key go together', {
    field: `--${certificate === undefined ? CLIENT_KEY : CLIENT_CERT}`,
    hint: `give --${CLIENT_CERT} and --${CLIENT_KEY}`,
  });
}

/** Logs in. Sends no token except the one to be stored; that of an earlier login plays no part. */
async function loggedIn(
  session: Session,
  address: string,
  request: LoginRequest,
  mount: string,
  certificate: ClientCertificate | undefined,
): Promise<LoggedIn> {
  const brought = 'token' in request ? (tokenIn(request.token) ?? '') : undefined;
  const runner = connectTo(session, address, brought, certificate);
  try {
    if ('token' in request) return await broughtAlong(runner, brought ?? '');
    const below = trimSlashes(mount).replace(/^auth\//, '');
    const path = `${LOGIN_PREFIX}${below}/${request.path}`;
    const outcome = await runner
      .at({ method: 'POST', path, parameters: request.parameters })
      .catch(turnedAway);
    for (const warning of outcome.warnings ?? []) session.warn(warning);
    return madeNow(outcome.auth);
  } finally {
    runner.close();
  }
}

/** Beginnings of error messages about a login with missing parameters. */
const LACKING = /^(?:missing |no client certificate found)/;

/**
 * Converts a refused login: Vault answers a wrong password with 400, like a missing parameter.
 * @throws `denied` if the login had all its parameters; otherwise the original error
 */
function turnedAway(error: unknown): never {
  const known = asCofferError(error);
  if (known?.kind !== 'invalid' || LACKING.test(known.message)) throw error;
  throw new CofferError('denied', known.message, { cause: error });
}

function madeNow(auth: unknown): LoggedIn {
  if (!isObject(auth))
    throw unavailable('the answer has no token in it', { hint: 'is that a login method?' });
  const { client_token: token, lease_duration: seconds, policies } = auth;
  if (isObject(auth['mfa_requirement'])) {
    throw unsupported('the server asks for a second factor', {
      hint: "log in with the server's own command",
    });
  }
  if (typeof token !== 'string' || token === '') throw unavailable('the answer has no token in it');
  const lasts = typeof seconds === 'number' && seconds > 0;
  return {
    token: tokenIn(token) ?? '',
    expiresMs: lasts ? Date.now() + seconds * 1000 : undefined,
    policies: Array.isArray(policies) ? policies.map(String) : [],
    told: auth,
  };
}

/**
 * Looks up a token that the user brings.
 * @throws `denied` if the server does not know it
 */
async function broughtAlong(runner: Runner, token: string): Promise<LoggedIn> {
  if (token === '') throw invalid('an empty token is none', { field: 'token' });
  const { data } = await runner
    .at({ method: 'GET', path: 'auth/token/lookup-self', parameters: {} })
    .catch((error: unknown) => {
      const known = asCofferError(error);
      if (known?.kind !== 'denied') throw error;
      throw new CofferError('denied', 'the server does not know this token', {
        hint: 'see that it has not ended, and that it is of this server',
        cause: error,
      });
    });
  const details = isObject(data) ? data : {};
  const { expire_time: ends, policies } = details;
  return {
    token,
    expiresMs: typeof ends === 'string' ? Date.parse(ends) || undefined : undefined,
    policies: Array.isArray(policies) ? policies.map(String) : [],
    told: { client_token: token, ...details },
  };
}

function keptFrom(
  { token, expiresMs }: LoggedIn,
  asked: Asked,
  request: LoginRequest,
  options: Given['options'],
): KeptToken {
  const path = textOption(options, PATH);
  return {
    token,
    expiresMs,
    isOwn: 'path' in request,
    again: againOf(asked, path === undefined ? [] : [`--${PATH}`, path]),
  };
}

/**
 * Prints the result of a login.
 * @returns false if the reader of the output is gone
 */
async function show(session: Session, { told }: LoggedIn, options: Given['options']): Promise<boolean> {
  const field = textOption(options, FIELD);
  const isAsked = field !== undefined || session.settings.format !== undefined || options.has(NO_STORE);
  if (!isAsked) return true;
  // As in `vault login -field=token`.
  const member = field === undefined || field === 'token' ? 'client_token' : field;
  if (!Object.hasOwn(told, member)) {
    throw new CofferError('not-found', `the answer has no member ${JSON.stringify(member)}`, {
      field: FIELD,
    });
  }
  return printResult(session, told, { result: { member, as: 'text' } });
}

function tell(session: Session, address: string, { expiresMs, policies }: LoggedIn): void {
  const until = expiresMs === undefined ? 'without an end' : `until ${new Date(expiresMs).toISOString()}`;
  session.remark(`Logged in to ${address} ${until}, with the policies ${policies.join(', ') || '(none)'}.`);
  for (const name of ['COFFER_TOKEN', 'VAULT_TOKEN']) {
    if (variable(session.environment, name) !== undefined) {
      session.warn(`${name} is set, and goes before the token that was kept now`);
    }
  }
}

const REVOKE = 'revoke';
const NO_REVOKE = 'no-revoke';

/**
 * Command that revokes and removes the stored token.
 * @see docs/decisions/0189
 */
export const logout: Command = {
  arguments: [],
  options: [
    {
      ...switching(REVOKE, 'End the token, though it was not made by the login but brought along.'),
      excludes: [NO_REVOKE],
    },
    switching(NO_REVOKE, 'Forget the token, but let it live.'),
  ],
  details:
    'A token that the login has made is ended on the server, because nobody else has it. One that was brought along ("coffer login" ' +
    'by a token) is only forgotten.',
  examples: [['coffer logout', 'End and forget the token of COFFER_ADDR']],
  async run(session, { options }) {
    const address = requireServer(session);
    const file = TokenFile.required(session.environment, address);
    const kept = readable(file);
    if (kept === undefined) {
      file.forget();
      session.remark(`Not logged in to ${address}.`);
      return DONE;
    }
    const isBatch = BATCH_TOKEN.test(kept.token);
    const ends = !isBatch && (options.has(REVOKE) || (kept.isOwn && !options.has(NO_REVOKE)));
    if (ends) {
      const runner = connectTo(session, address, kept.token);
      try {
        await revoke(runner);
      } finally {
        runner.close();
      }
    }
    file.forget();
    const rest = isBatch ? ' The token is a batch token, which nobody can end: it lives until its time.' : '';
    session.remark(`Logged out of ${address}.${rest}`);
    return DONE;
  },
};

/** Batch tokens of Coffer and of Vault. */
const BATCH_TOKEN = /^(?:hv)?b\./;

/** Reads the stored token. One that cannot be read cannot be revoked, but is removed all the same. */
function readable(file: TokenFile): KeptToken | undefined {
  try {
    return file.read();
  } catch (error) {
    if (asCofferError(error)?.kind === 'corrupt') return undefined;
    throw error;
  }
}

/** Revokes the token. One that has already expired is no error. */
async function revoke(runner: Runner): Promise<void> {
  try {
    await runner.at({ method: 'POST', path: 'auth/token/revoke-self', parameters: {} });
  } catch (error) {
    const known = asCofferError(error);
    if (known === undefined) throw error;
    if (known.kind === 'denied') return;
    throw new CofferError(known.kind, known.texts.message, {
      hint: `the token lives on, and is kept: try again, or forget it with --${NO_REVOKE}`,
      cause: error,
    });
  }
}
