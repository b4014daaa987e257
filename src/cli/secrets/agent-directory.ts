import { AgentDirectory } from '../../service/agent/directory.ts';
import { type Environment, variable } from '../given.ts';
import type { Session } from '../session.ts';

/**
 * Returns the directory of the agent of the session's store, or of the server that the session names; undefined if
 * there can be no agent.
 */
export function agentDirectory({
  environment,
  settings: { address, storeLocation },
}: Pick<Session, 'environment' | 'settings'>): AgentDirectory | undefined {
  const places = userPlaces(environment);
  return address === undefined
    ? AgentDirectory.of(storeLocation, places)
    : AgentDirectory.ofServer(address, places);
}

/** Returns the directory of the agent of a keyring; undefined if there can be no agent. */
export const keyringAgentDirectory = (environment: Environment, id: string): AgentDirectory | undefined =>
  AgentDirectory.ofKeyring(id, userPlaces(environment));

/** Returns the directories of all agents of keyrings that there may be. */
export const keyringAgentDirectories = (environment: Environment): readonly AgentDirectory[] =>
  AgentDirectory.ofKeyrings(userPlaces(environment));

const userPlaces = (environment: Environment) => ({
  runtime: variable(environment, 'XDG_RUNTIME_DIR'),
  cache: variable(environment, 'XDG_CACHE_HOME'),
  home: variable(environment, 'HOME'),
});
