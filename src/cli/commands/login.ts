import {
  asCofferError,
  CofferError,
  closing,
  expected,
  invalid,
  unavailable,
  unlessRefused,
} from '../../ground/errors.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { LOGIN_PREFIX } from '../../mounts/paths.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { argument, type OwnCommand, switching, taking, takingFile } from '../command.ts';
import { printResult } from '../files/output.ts';
import { PAIR } from '../files/pairs.ts';
import { type Given, textOption, variable } from '../given.ts';
import { type KeptToken, TokenFile } from '../logins/kept-token.ts';
import { broughtAlong, type LoggedIn, madeNow } from '../logins/logged-in.ts';
import {
  againOf,
  askedIn,
  type LoginRequest,
  METHOD_NAMES,
  requestOf,
  type TypedLogin,
  withNeeds,
} from '../logins/methods.ts';
import { requireServer } from '../other-server.ts';
import { FIELD, FORMAT, tokenFormatOption } from '../parse/vault-options.ts';
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
import { localTime } from '../terminal/time-texts.ts';

const METHOD = 'method';
const PATH = 'path';
const AUDIENCE = 'audience';
const CLIENT_CERT = 'client-cert';
const CLIENT_KEY = 'client-key';
const NO_STORE = 'no-store';

/** Returns the address of the server, as `requireServer`. */
const serverOf = (session: Session): string =>
  requireServer(
    session,
    'no server address: you are using the local store, which needs no login',
    'to log in to a server, use --address or set COFFER_ADDR',
  );

export const login: OwnCommand = {
  arguments: [
    { metavar: 'METHOD', help: 'Login method. Default: token.', required: false, choices: METHOD_NAMES },
    argument(
      PAIR,
      'Parameters of the login, e.g. role=release. KEY=@FILE reads the value from a file, KEY=- from standard input.',
      { required: false, many: true },
    ),
  ],
  options: [
    taking(METHOD, 'METHOD', 'The same as the argument METHOD.', { choices: METHOD_NAMES }),
    taking(PATH, 'P', 'Path below auth/ at which the login method is enabled.', {
      fallback: 'the name of the method',
    }),
    taking(AUDIENCE, 'URL', 'With the method jwt in GitHub Actions: audience of the ID token.', {
      fallback: 'the server address',
    }),
    takingFile(
      CLIENT_CERT,
      'Log in with the client certificate in FILE, PEM. For later commands, set $COFFER_CLIENT_CERT.',
    ),
    takingFile(
      CLIENT_KEY,
      'File with the private key of the client certificate, PEM. For later commands, set $COFFER_CLIENT_KEY.',
    ),
    switching(NO_STORE, 'Print the token instead of storing it.'),
    taking(FIELD, 'NAME', 'Print only this field of the login, e.g. token.'),
    tokenFormatOption,
  ],
  details:
    'Stores the token in a file that only you can read, one per address. Later commands for that address use it, ' +
    'unless --token, --token-file, COFFER_TOKEN or VAULT_TOKEN is set. Secrets are read from a prompt, a file or ' +
    'standard input, never from arguments, which other users can see. In GitHub Actions and GitLab CI, the ' +
    'method jwt uses the ID token of the job.',
  examples: [
    ['coffer login userpass username=ada', 'Log in with a password; prompts for it'],
    ['coffer login - < token-file', 'Log in with the token in a file'],
    ['coffer login jwt role=release', 'Log in from GitHub Actions or GitLab CI'],
    [
      'coffer login approle role_id=deploy secret_id=@secret-id',
      'Log in as a program, with the secret ID in the file secret-id',
    ],
    [
      'token=$(coffer login jwt role=release --no-store)',
      'Get a token for another program without storing it',
    ],
  ],
  // A token to log in with is a parameter, and not that of the option or a variable.
  labelOf: (field) => (field === 'token' ? field : undefined),
  async run(session, { arguments: words, options }) {
    const address = serverOf(session);
    const typed = askedIn(words, textOption(options, METHOD));
    const file = options.has(NO_STORE) ? undefined : TokenFile.required(session.environment, address);
    const certificate = certificateOf(session, options);
    const connect: Connect = (token) => connectTo(session, address, token, certificate);
    warnOfReaders(session, address);
    const asked = await withNeeds(session, typed);
    const request = await requested(session, asked, address, options);
    const found = await loggedIn(session, connect, request, textOption(options, PATH) ?? asked.method);
    if (session.environment['GITHUB_ACTIONS'] === 'true') {
      // The runner reads both streams, and only this one contains no results.
      session.streams.err.write(maskingLines('github', session.environment)([found.token]));
    }
    let isKept = false;
    try {
      await file?.write(keptFrom(found, asked, request, options));
      isKept = file !== undefined;
      if (!(await show(session, found, options)) && !isKept)
        throw unavailable('standard output was closed before the result was written');
    } catch (error) {
      // The user did not get the token, and no other user should.
      if (!isKept && 'path' in request) await endUnseen(session, connect(found.token));
      throw error;
    }
    if (file !== undefined) tell(session, address, found);
  },
};

/** Connects to the server of a login, with a token or none. */
type Connect = (token: string | undefined) => ReturnType<typeof connectTo>;

async function endUnseen(session: Session, runner: ReturnType<Connect>): Promise<void> {
  try {
    await revoke(runner);
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    session.warn(
      'the token of this login could neither be stored nor revoked: it stays valid until it expires',
    );
  } finally {
    runner.close();
  }
}

async function requested(
  session: Session,
  asked: TypedLogin,
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
  throw invalid('client certificate and key must be set together', {
    field: `--${certificate === undefined ? CLIENT_KEY : CLIENT_CERT}`,
    hint: `use --${CLIENT_CERT} and --${CLIENT_KEY}`,
  });
}

/** Logs in. Sends no token except the one to be stored; that of an earlier login plays no part. */
async function loggedIn(
  session: Session,
  connect: Connect,
  request: LoginRequest,
  mount: string,
): Promise<LoggedIn> {
  const brought = 'token' in request ? (tokenIn(request.token) ?? '') : undefined;
  return closing(connect(brought), async (runner) => {
    if ('token' in request) return await broughtAlong(runner, brought ?? '');
    const below = trimSlashes(mount).replace(/^auth\//, '');
    const path = `${LOGIN_PREFIX}${below}/${request.path}`;
    const outcome = await runner
      .at({ method: 'POST', path, parameters: request.parameters })
      .catch(turnedAway);
    for (const warning of outcome.warnings ?? []) session.warn(warning);
    return madeNow(outcome);
  });
}

/** Message about a role or secret ID that a server does not accept, for whatever reason. */
const OF_SECRET_ID = /^invalid role or secret ID/;
const SECRET_ID_HINT =
  'the secret ID may have expired, or been used as often as its role allows: an administrator creates another one with ' +
  '"coffer auth approle secret-id ROLE"';

/** Beginnings of error messages about a login with missing parameters. */
const LACKING = /^(?:missing |no client certificate found)/;

/**
 * Converts a refused login: Vault answers a wrong password with 400, like a missing parameter.
 * @throws `denied` if the login had all its parameters; otherwise the original error
 */
function turnedAway(error: unknown): never {
  const known = asCofferError(error);
  if (known?.kind !== 'invalid' || LACKING.test(known.message)) throw error;
  const hint = OF_SECRET_ID.test(known.message) ? SECRET_ID_HINT : undefined;
  throw new CofferError('denied', known.message, { hint, cause: error });
}

function keptFrom(
  { token, expiresMs }: LoggedIn,
  asked: TypedLogin,
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
async function show(
  session: Session,
  { told, outcome }: LoggedIn,
  options: Given['options'],
): Promise<boolean> {
  if (options.has(FORMAT)) {
    const { vaultForm } = await import('../files/vault-form.ts');
    const form = vaultForm(session, outcome, options);
    return printResult(form?.session ?? session, form?.result, form?.shape ?? {});
  }
  const field = textOption(options, FIELD);
  const isAsked = field !== undefined || session.settings.format !== undefined || options.has(NO_STORE);
  if (!isAsked) return true;
  // As in `vault login -field=token`.
  const member = field === undefined || field === 'token' ? 'client_token' : field;
  if (!Object.hasOwn(told, member)) {
    throw new CofferError('not-found', `the response has no field ${JSON.stringify(member)}`, {
      field: FIELD,
      hint: `it has ${Object.keys(told).join(', ')}`,
    });
  }
  const shape = { result: { member, as: 'text' } } as const;
  if (field === undefined) return printResult(session, told, shape);
  const { alone } = await import('../files/vault-form.ts');
  const one = alone(session, told, shape);
  return printResult(one.session, one.result, one.shape ?? {});
}

function tell(session: Session, address: string, { expiresMs, policies }: LoggedIn): void {
  const until = expiresMs === undefined ? 'without expiry' : `until ${localTime(new Date(expiresMs))}`;
  session.remark(`Logged in to ${address} ${until}. Policies: ${policies.join(', ') || 'none'}.`);
  for (const name of ['COFFER_TOKEN', 'VAULT_TOKEN']) {
    if (variable(session.environment, name) !== undefined) {
      session.warn(`${name} is set and takes precedence over the stored token`);
    }
  }
}

const REVOKE = 'revoke';
const NO_REVOKE = 'no-revoke';

/**
 * Command that revokes and removes the stored token.
 * @see docs/decisions/0189
 */
export const logout: OwnCommand = {
  options: [
    switching(REVOKE, 'Revoke the token on the server even if you entered it yourself.', {
      excludes: [NO_REVOKE],
    }),
    switching(NO_REVOKE, 'Delete the token on this machine without revoking it on the server.'),
  ],
  details:
    'If you logged in with a password, certificate or similar, the token is also revoked on the server. If you ' +
    'entered the token itself ("coffer login" without another method), it is only deleted on this machine, and ' +
    'stays valid.',
  examples: [['coffer logout', 'Log out from the server in $COFFER_ADDR']],
  async run(session, { options }) {
    const address = serverOf(session);
    const file = TokenFile.required(session.environment, address);
    const kept = readable(file);
    if (kept === undefined) {
      file.forget();
      session.remark(`Not logged in to ${address}.`);
      return;
    }
    const isBatch = BATCH_TOKEN.test(kept.token);
    const ends = !isBatch && (options.has(REVOKE) || (kept.isOwn && !options.has(NO_REVOKE)));
    if (ends) await closing(connectTo(session, address, kept.token), revoke);
    file.forget();
    const rest = isBatch
      ? ' The token is a batch token: it cannot be revoked and stays valid until it expires.'
      : '';
    session.remark(`Logged out of ${address}.${rest}`);
  },
};

/** Batch tokens of Coffer and of Vault. */
const BATCH_TOKEN = /^(?:hv)?b\./;

/** Reads the stored token. One that cannot be read cannot be revoked, but is still removed. */
const readable = (file: TokenFile): KeptToken | undefined =>
  unlessRefused(() => file.read(), undefined, 'corrupt');

/** Revokes the token. It is not an error if it has already expired. */
async function revoke(runner: Runner): Promise<void> {
  try {
    await runner.at({ method: 'POST', path: 'auth/token/revoke-self', parameters: {} });
  } catch (error) {
    const known = expected(error);
    if (known.kind === 'denied') return;
    throw new CofferError(known.kind, known.texts.message, {
      hint: `the token is still valid and stored: retry, or delete it with --${NO_REVOKE}`,
      cause: error,
    });
  }
}
