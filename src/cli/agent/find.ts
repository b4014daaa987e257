import { type AgentConnection, connectToAgent } from '../../client/agent.ts';
import { asCofferError, unsupported } from '../../ground/errors.ts';
import { AgentDirectory } from '../../service/agent/directory.ts';
import { variable } from '../given.ts';
import { givesSecret } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';

/** Where the agent of the session's store is found, or that of the server that it names; undefined where there can't be one. */
export function agentDirectory({
  environment,
  settings: { address, storeLocation },
}: Pick<Session, 'environment' | 'settings'>): AgentDirectory | undefined {
  const places = {
    runtime: variable(environment, 'XDG_RUNTIME_DIR'),
    cache: variable(environment, 'XDG_CACHE_HOME'),
    home: variable(environment, 'HOME'),
  };
  return address === undefined
    ? AgentDirectory.of(storeLocation, places)
    : AgentDirectory.ofServer(address, places);
}

/** @throws `unsupported` where there can't be one. */
export function requireDirectory(session: Pick<Session, 'environment' | 'settings'>): AgentDirectory {
  const directory = agentDirectory(session);
  if (directory !== undefined) return directory;
  if (process.platform === 'win32') {
    throw unsupported('there is no agent on Windows', {
      hint: 'give each command what opens the store, as "coffer --help" says',
    });
  }
  throw unsupported('there is no place for an agent here', {
    hint: 'set XDG_RUNTIME_DIR to a directory that is yours alone',
  });
}

/** The agent of the session's store. Where others could have put something in its place, that is said, and nothing is sent there. */
export async function findAgent(session: Session): Promise<AgentConnection | undefined> {
  const directory = agentDirectory(session);
  if (!directory?.isInUse) return undefined;
  try {
    directory.verify();
  } catch (error) {
    const known = asCofferError(error);
    if (known === undefined) throw error;
    session.warn(`${known.message} (${known.hint})`);
    return undefined;
  }
  const connection = await connectToAgent(directory.socket);
  if (connection === undefined) {
    const { clearAway } = await import('../../service/agent/clear-away.ts');
    await clearAway(directory);
  }
  return connection;
}

/** The agent of the session's store, unless the environment has what opens the store: that is meant more. */
export const agentInPlaceOfSecret = async (session: Session): Promise<AgentConnection | undefined> =>
  givesSecret(session.environment) ? undefined : findAgent(session);
