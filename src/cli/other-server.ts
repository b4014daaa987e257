import { variable } from './given.ts';
import { agentDirectory } from './secrets/agent-directory.ts';
import type { Session } from './session.ts';

/** Variables with the address of a server for other programs, which a local store takes precedence over. */
const ADDRESSES = ['VAULT_ADDR', 'BAO_ADDR'] as const;

const warned = new WeakSet<Session>();

/**
 * Warns on a terminal, once, that the local store is used although the environment names a server for other programs.
 * Nothing is said if the user has named the store, or if the address is that of the agent of this store.
 */
export function warnOfOtherServer(session: Session): void {
  const { environment, streams } = session;
  if (!streams.err.isTerminal || session.isStoreGiven || warned.has(session)) return;
  if (variable(environment, 'COFFER_STORE') !== undefined) return;
  const own = agentDirectory(session)?.apiSocket;
  const name = ADDRESSES.find((candidate) => {
    const value = variable(environment, candidate);
    return value !== undefined && value !== `unix://${own}`;
  });
  if (name === undefined) return;
  warned.add(session);
  session.warn(
    `${name} is set, but this uses the local store (for the server, use --address "$${name}" or set COFFER_ADDR)`,
  );
}
