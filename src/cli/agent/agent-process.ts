/** Command that starts an agent in the background. */
export const AGENT_PROCESS = 'agent-process';
