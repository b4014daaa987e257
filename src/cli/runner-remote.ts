import { isUtf8 } from 'node:buffer';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect, isExposed, parseAddress } from '../client/http-transport.ts';
import { asCofferError, CofferError, expected, invalid, withOtherHint } from '../ground/errors.ts';
import { CERTIFICATE_HINT } from '../ground/pem.ts';
import { checkedPair } from '../ground/tls-pair.ts';
import { type Runner, STORE_SECRET } from '../operations/declaration/operation.ts';
import { readFileWhole } from './files/in-file.ts';
import { inputText } from './files/input.ts';
import { type Environment, variable } from './given.ts';
import { type KeptToken, TokenFile } from './logins/kept-token.ts';
import { secretText } from './secrets/secret-sources.ts';
import type { Session } from './session.ts';

const MAX_CA_BYTES = 1 << 20;

/** Files of a client certificate and its key, for servers that request one. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Runs operations on a server. Warns if others on the network can read the connection. */
export async function openRemote(session: Session, address: string): Promise<Runner> {
  warnOfReaders(session, address);
  return runnerWith(session, address, await tokenFor(session, address));
}

/** Token, and its source. */
export interface FoundToken {
  readonly token: string | undefined;
  /** Token that "coffer login" stored. */
  readonly kept?: KeptToken | undefined;
  /** Variable or file of Vault that it comes from, which the user may not think of. */
  readonly from?: string | undefined;
  /** Whether the source may have another token later. */
  readonly mayChange: boolean;
}

/**
 * Returns the token for a server: the given one, that of "coffer login", or that of `vault login`.
 * @throws `invalid` if it is malformed
 */
export async function tokenFor(session: Session, address: string): Promise<FoundToken> {
  const given = tokenIn(await givenToken(session));
  const { kind } = session.settings.token;
  if (given !== undefined)
    return { token: given, from: kind === 'none' ? 'VAULT_TOKEN' : undefined, mayChange: kind === 'file' };
  const kept = TokenFile.of(session.environment, address)?.read();
  if (kept !== undefined) return { token: kept.token, kept, mayChange: true };
  return { token: tokenIn(familyTokenFile(session)), from: '~/.vault-token', mayChange: true };
}

/** Returns a client whose errors tell what to do about the token. */
export function runnerWith(session: Session, address: string, { token, kept, from }: FoundToken): Runner {
  const client = connectTo(session, address, token);
  const refused = async (error: unknown): Promise<never> => {
    const known = expected(error, 'denied');
    if (known.field === STORE_SECRET) throw ofAgent(session, known);
    if (kept === undefined && token !== undefined && from === undefined) throw known;
    if (kept !== undefined) throw await ofKeptToken(known, kept, client);
    // Servers answer a missing token in the same way as a wrong one.
    throw token === undefined || from === undefined
      ? withOtherHint(known, NO_TOKEN)
      : ofTokenFrom(from, known);
  };
  return {
    ...client,
    run: (...call) => client.run(...call).catch(refused),
    at: (asked) => client.at(asked).catch(refused),
  };
}

/** Returns the error of an agent that requires the secret of its store, which an address has no place for. */
function ofAgent({ addressVariable }: Session, { kind, message, cause }: CofferError): CofferError {
  const step = addressVariable === undefined ? 'omit --address' : `run "unset ${addressVariable}"`;
  const hint = `this address is that of an agent, which takes no secret: ${step}, and name the store with --store or COFFER_STORE`;
  return new CofferError(kind, message, { hint, cause });
}

/**
 * Returns a client with the settings of the environment and the given token.
 * @param own client certificate instead of that of the environment
 */
export function connectTo(
  session: Session,
  address: string,
  token: string | undefined,
  own: ClientCertificate | undefined = certificateIn(session.environment),
): Runner {
  const { mount, organization } = session.settings;
  const authorities = authoritiesOf(session.environment);
  const namespace = variable(session.environment, 'VAULT_NAMESPACE');
  return connect({
    address,
    mount,
    organization,
    proxyEnv: session.environment,
    token,
    namespace,
    certificateAuthorities: authorities,
    clientCertificate: own === undefined ? undefined : contentOf(own, address),
  });
}

/** Warns if others can read the connection. */
export function warnOfReaders(session: Session, address: string): void {
  if (isExposed(address)) {
    session.warn(
      `the connection to ${address} is not encrypted: the token and data can be read on the network`,
    );
  }
  warnOfForeignSocket(session, address);
}

/** Returns the CA certificates (PEM) that the environment adds to those of the platform. */
export function authoritiesOf(environment: Environment): string | undefined {
  const named = firstSet(environment, ['COFFER_CACERT', 'VAULT_CACERT']);
  if (named === undefined) return undefined;
  const bytes = readFileWhole(named.value, named.name, MAX_CA_BYTES);
  const text = isUtf8(bytes) ? bytes.toString() : '';
  if (CERTIFICATE.test(text)) return text;
  throw invalid(`no certificate in ${named.value}`, { field: named.name, hint: CERTIFICATE_HINT });
}

/** First line of a certificate in PEM, in all forms that OpenSSL reads. */
const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/;

/**
 * Returns the client certificate of the environment.
 * @throws `invalid` if only the certificate or only the key is set
 */
export function certificateIn(environment: Environment): ClientCertificate | undefined {
  const certificate = firstSet(environment, ['COFFER_CLIENT_CERT', 'VAULT_CLIENT_CERT']);
  const key = firstSet(environment, ['COFFER_CLIENT_KEY', 'VAULT_CLIENT_KEY']);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate !== undefined && key !== undefined) {
    return { certificate: certificate.value, key: key.value };
  }
  throw invalid('client certificate and key must be set together', {
    field: certificate?.name ?? key?.name,
    hint: 'set COFFER_CLIENT_CERT and COFFER_CLIENT_KEY',
  });
}

/**
 * Reads a client certificate and its key.
 * @throws `invalid` if the connection could not use them
 */
function contentOf(files: ClientCertificate, address: string): ClientCertificate {
  const certificate = publicText({ name: 'client certificate', value: files.certificate });
  const key = secretText(files.key, 'client key');
  const server = parseAddress(address);
  if (server.kind === 'tcp' && server.secure)
    checkedPair({ file: files.certificate, pem: certificate }, { file: files.key, pem: key });
  return { certificate, key };
}

function firstSet(
  environment: Environment,
  names: readonly string[],
): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = variable(environment, name);
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

const publicText = ({ name, value }: { readonly name: string; readonly value: string }): string =>
  inputText(readFileWhole(value, name, MAX_CA_BYTES), name);

/** Warns about a socket of another user: any user may create one in a shared directory, and would be sent the token. */
function warnOfForeignSocket(session: Session, address: string): void {
  const target = parseAddress(address);
  const own = process.geteuid?.();
  if (target.kind !== 'socket' || own === undefined) return;
  const uid = statSync(target.path, { throwIfNoEntry: false })?.uid;
  if (uid === undefined || uid === own || uid === 0) return;
  session.warn(`${target.path} belongs to another user (uid ${uid}): that user can read the token and data`);
}

const NO_TOKEN =
  'no token given: use "coffer login", COFFER_TOKEN or --token-file; the owner of the store creates the first token on the server with "coffer token create --store STORE"';

/** Message about a token that a request names, such as that of "token lookup TOKEN"; the one that asks was accepted. */
const NAMED_TOKEN = /^bad token$/;

/** Adds to the error of a refused token where it comes from. */
function ofTokenFrom(from: string, error: CofferError): CofferError {
  if (NAMED_TOKEN.test(error.message)) return error;
  const source = `the token is from ${from}`;
  const more = error.hint?.replace(/^the token is/, 'it is').replace(/^the token's/, 'its');
  return withOtherHint(error, more === undefined ? source : `${source}; ${more}`);
}

/** Characters allowed in a header value; tokens are letters, digits and a few signs. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;

/**
 * Returns the error for a stored token. Servers do not tell whether a token lacks a permission or is no longer valid,
 * so that is looked up.
 * @returns error to throw
 */
async function ofKeptToken(error: CofferError, kept: KeptToken, client: Runner): Promise<CofferError> {
  // It may have been renewed since the login.
  if (await isGood(client)) return error;
  const isOver = kept.expiresMs !== undefined && kept.expiresMs <= Date.now();
  const how = isOver ? `expired at ${new Date(kept.expiresMs ?? 0).toISOString()}` : 'is no longer valid';
  return withOtherHint(error, `the stored token ${how}: run "${kept.again}"`);
}

const isGood = (client: Runner): Promise<boolean> =>
  client.at({ method: 'GET', path: 'auth/token/lookup-self', parameters: {} }).then(
    () => true,
    (error: unknown) => asCofferError(error)?.kind !== 'denied',
  );

/**
 * Trims whitespace, such as a newline, which is not part of the token.
 * @throws `invalid` if it is malformed
 */
export function tokenIn(text: string | undefined): string | undefined {
  const token = text?.trim();
  if (token === undefined || HEADER_VALUE.test(token)) return token;
  throw invalid('not a valid token', {
    field: 'token',
    hint: 'tokens consist of ASCII letters, digits, ".", "_" and "-"',
  });
}

/** Returns the token of the command line or of a variable. */
export async function givenToken(session: Session): Promise<string | undefined> {
  const source = session.settings.token;
  if (source.kind === 'none') return variable(session.environment, 'VAULT_TOKEN');
  if (source.kind === 'text') return source.text;
  if (source.kind === 'file') return secretText(source.path, 'token-file');
  if (session.prompts.available()) return session.prompts.secret('Token');
  throw invalid('cannot prompt for the token', { field: 'token', hint: 'use --token-file or COFFER_TOKEN' });
}

/** Returns the token that `vault login` stored, for any server. */
function familyTokenFile({ environment }: Session): string | undefined {
  const home = variable(environment, 'HOME');
  if (home === undefined) return undefined;
  const file = join(home, '.vault-token');
  return existsSync(file) ? secretText(file, file) : undefined;
}
