/** Command that starts an agent in the background. */
export const AGENT_PROCESS = 'agent-process';
/** Command that starts the agent of a keyring in the background. */
export const KEYRING_AGENT_PROCESS = 'keyring-agent-process';
