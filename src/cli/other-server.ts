import { asCofferError, type ErrorKind, invalid } from '../ground/errors.ts';
import { variable } from './given.ts';
import { agentDirectory } from './secrets/agent-directory.ts';
import type { Session } from './session.ts';

/** Variables with the address of a server for other programs, which a local store takes precedence over. */
const ADDRESSES = ['VAULT_ADDR', 'BAO_ADDR'] as const;

const warned = new WeakSet<Session>();

/** Returns the variable with the address of a server that is not used; undefined if it is that of the own agent. */
function unusedAddress(session: Session): string | undefined {
  const { environment, settings } = session;
  if (settings.address !== undefined) return undefined;
  const own = agentDirectory(session)?.apiSocket;
  return ADDRESSES.find((candidate) => {
    const value = variable(environment, candidate);
    return value !== undefined && value !== `unix://${own}`;
  });
}

/**
 * Warns once that the local store is used although the environment names a server for other programs. Nothing is said if
 * the user has named the store.
 */
function warnOnce(session: Session): void {
  if (session.isStoreGiven || warned.has(session)) return;
  if (variable(session.environment, 'COFFER_STORE') !== undefined) return;
  const name = unusedAddress(session);
  if (name === undefined) return;
  warned.add(session);
  session.warn(
    `${name} is set, but the command uses the local store, which takes precedence (for the server, use --address "$${name}" or set COFFER_ADDR)`,
  );
}

/** Warns on a terminal of the address of a server that is not used. */
export function warnOfOtherServer(session: Session): void {
  if (session.streams.err.isTerminal) warnOnce(session);
}

/**
 * Warns of it in scripts as well, after a command has changed the local store: the change was probably meant for the
 * server.
 */
export function warnOfChangeHere(session: Session): void {
  if (session.settings.address === undefined) warnOnce(session);
}

/** Errors that the objects of another place, or none of its secrets, would explain. */
const OF_WRONG_PLACE: ReadonlySet<ErrorKind | undefined> = new Set(['not-found', 'sealed', 'denied']);

/** Warns of it before an error as well, where the local store was used: scripts that only read hear nothing. */
export function warnOfOtherServerFor(error: unknown, session: Session): void {
  if (session.hasRunner && OF_WRONG_PLACE.has(asCofferError(error)?.kind)) warnOnce(session);
}

/**
 * Returns the address of the server, for a command that only works with one.
 * @param usual hint if the environment has no address for other programs
 * @throws `invalid` with the message if no server is named
 */
export function requireServer(
  session: Session,
  message: string,
  usual = 'use --address or set COFFER_ADDR',
): string {
  const { address } = session.settings;
  if (address !== undefined) return address;
  const name = unusedAddress(session);
  throw invalid(message, {
    hint:
      name === undefined
        ? usual
        : `${name} is not used, as a local store takes precedence: use --address "$${name}" or set COFFER_ADDR`,
  });
}
