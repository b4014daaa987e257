import { isExposed } from '../client/address.ts';
import { connect } from '../client/client.ts';
import { CofferError, invalid } from '../ground/errors.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { variable } from './given.ts';
import { secretText } from './secrets/secret-sources.ts';
import type { Session } from './session.ts';

const CA_VARIABLE = 'COFFER_CACERT';

/** Runs operations on a server. Says so when others on the network can read what is sent. */
export async function openRemote(session: Session, address: string): Promise<Runner> {
  if (isExposed(address)) {
    session.warn(`${address} is not encrypted: others on the network can read the token and the data`);
  }
  const token = await tokenOf(session);
  const { mount, organization } = session.settings;
  const authorities = variable(session.environment, CA_VARIABLE);
  const client = connect({
    address,
    mount,
    organization,
    ...(token === undefined ? {} : { token }),
    ...(authorities === undefined ? {} : { certificateAuthorities: secretText(authorities, CA_VARIABLE) }),
  });
  if (token !== undefined) return client;
  return {
    ...client,
    async run(...call) {
      try {
        return await client.run(...call);
      } catch (error) {
        throw withoutToken(error);
      }
    },
  };
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
  if (source.kind === 'none') return undefined;
  if (source.kind === 'text') return source.text;
  if (source.kind === 'file') return secretText(source.path, 'token-file');
  if (session.prompts.available()) return session.prompts.secret('Token');
  throw invalid('there is nobody to ask for the token', {
    field: 'token',
    hint: 'use --token-file or COFFER_TOKEN',
  });
}
