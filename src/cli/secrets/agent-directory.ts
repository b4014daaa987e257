import { AgentDirectory } from '../../service/agent/directory.ts';
import { variable } from '../given.ts';
import type { Session } from '../session.ts';

/**
 * Returns the directory of the agent of the session's store, or of the server that the session names; undefined if
 * there can be no agent.
 */
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
