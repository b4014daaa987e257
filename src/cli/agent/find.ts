import { type AgentConnection, connectToAgent } from '../../client/agent.ts';
import { expected, unsupported } from '../../ground/errors.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import { agentDirectory } from '../secrets/agent-directory.ts';
import { givesSecret } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';

/**
 * Returns the directory of the agent of the session's store, or of the server that the session names.
 * @throws `unsupported` if there can be no agent
 */
export function requireDirectory(session: Pick<Session, 'environment' | 'settings'>): AgentDirectory {
  const directory = agentDirectory(session);
  if (directory !== undefined) return directory;
  if (process.platform === 'win32') {
    throw unsupported('the agent is not supported on Windows', {
      hint: 'set the secret for each command, see "coffer help environment"',
    });
  }
  throw unsupported("no directory for the agent's socket", {
    hint: 'set XDG_RUNTIME_DIR to a directory that only you can access',
  });
}

/**
 * Connects to the agent of the session's store. If other users could have replaced its socket, warns about that and
 * sends nothing to it.
 */
export async function findAgent(
  session: Session,
  storeLocation = session.settings.storeLocation,
): Promise<AgentConnection | undefined> {
  const { environment, settings } = session;
  const directory = agentDirectory({ environment, settings: { ...settings, storeLocation } });
  if (!directory?.isInUse) return undefined;
  try {
    directory.verify();
  } catch (error) {
    const known = expected(error);
    session.warn(`${known.message} (${known.hint})`);
    return undefined;
  }
  const connection = await connectToAgent(directory.socket, (hanging) => session.warn(hanging));
  if (connection === undefined) {
    const { clearAway } = await import('../../service/socket-file.ts');
    await clearAway(directory);
  }
  return connection;
}

/**
 * Connects to the agent of the session's store, unless the environment has a secret that opens the store, which takes
 * precedence.
 */
export const agentInPlaceOfSecret = async (session: Session): Promise<AgentConnection | undefined> =>
  givesSecret(session.environment) ? undefined : findAgent(session);
