/** Returns the arguments to start this program again: none for a single executable, the script for Node. */
export function programAfterNode(): readonly string[] {
  const [, file] = process.argv;
  return process.getBuiltinModule('node:sea').isSea() || file === undefined ? [] : [file];
}

/** Name of the hidden command that clears the clipboard in the background. */
export const CLIPBOARD_PROCESS = 'clipboard-process';

/** Command that starts an agent in the background. */
export const AGENT_PROCESS = 'agent-process';
/** Command that starts the agent of a keyring in the background. */
export const KEYRING_AGENT_PROCESS = 'keyring-agent-process';
