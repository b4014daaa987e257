import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isExposed, parseAddress } from '../client/address.ts';
import { connect } from '../client/client.ts';
import { CofferError, invalid } from '../ground/errors.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { readFileWhole } from './files/in-file.ts';
import { inputText } from './files/input.ts';
import { type Environment, variable } from './given.ts';
import { secretText } from './secrets/secret-sources.ts';
import type { Session } from './session.ts';

const MAX_CA_BYTES = 1 << 20;

/** Runs operations on a server. Says so when others on the network can read what is sent. */
export async function openRemote(session: Session, address: string): Promise<Runner> {
  if (isExposed(address)) {
    session.warn(`${address} is not encrypted: others on the network can read the token and the data`);
  }
  warnOfForeignSocket(session, address);
  const token = await tokenOf(session);
  const { mount, organization } = session.settings;
  const authorities = firstSet(session.environment, ['COFFER_CACERT', 'VAULT_CACERT']);
  const namespace = variable(session.environment, 'VAULT_NAMESPACE');
  const client = connect({
    address,
    mount,
    organization,
    proxyEnv: session.environment,
    ...(token === undefined ? {} : { token }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(authorities === undefined ? {} : { certificateAuthorities: publicText(authorities) }),
  });
  if (token !== undefined) return client;
  const refused = (error: unknown): never => {
    throw withoutToken(error);
  };
  return {
    ...client,
    run: (...call) => client.run(...call).catch(refused),
    at: (asked) => client.at(asked).catch(refused),
  };
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

/** Anybody may put a socket where everybody may write, and is sent the token then. */
function warnOfForeignSocket(session: Session, address: string): void {
  const target = parseAddress(address);
  const own = process.geteuid?.();
  if (target.kind !== 'socket' || own === undefined) return;
  const uid = statSync(target.path, { throwIfNoEntry: false })?.uid;
  if (uid === undefined || uid === own || uid === 0) return;
  session.warn(`${target.path} belongs to another user (uid ${uid}), who reads the token and the data`);
}

/** A server tells those without a token no more than those with a wrong one. */
function withoutToken(error: unknown): unknown {
  if (!(error instanceof CofferError) || error.kind !== 'denied') return error;
  const { kind, message } = error;
  return new CofferError(kind, message, {
    hint: 'no token was given: use COFFER_TOKEN or --token-file',
    cause: error,
  });
}

/** What a header may carry; tokens are letters, digits and dots. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;

/** White space around it, as the end of a line of another system, is not part of a token. */
async function tokenOf(session: Session): Promise<string | undefined> {
  const token = (await givenToken(session))?.trim();
  if (token === undefined || HEADER_VALUE.test(token)) return token;
  throw invalid('that is no token', { field: 'token', hint: 'a token is plain letters, digits and dots' });
}

async function givenToken(session: Session): Promise<string | undefined> {
  const source = session.settings.token;
  if (source.kind === 'none') return familyToken(session);
  if (source.kind === 'text') return source.text;
  if (source.kind === 'file') return secretText(source.path, 'token-file');
  if (session.prompts.available()) return session.prompts.secret('Token');
  throw invalid('there is nobody to ask for the token', {
    field: 'token',
    hint: 'use --token-file or COFFER_TOKEN',
  });
}

/** What the clients of the family go by: the variable, or what `vault login` left behind. */
function familyToken({ environment }: Session): string | undefined {
  const text = variable(environment, 'VAULT_TOKEN');
  const home = variable(environment, 'HOME');
  if (text !== undefined || home === undefined) return text;
  const file = join(home, '.vault-token');
  return existsSync(file) ? secretText(file, file) : undefined;
}
