import { KEYRING_CALLS, type KeyringCalls } from '../service/agent/keyring-calls.ts';
import { AT_ONCE_MS, callsOn } from './agent.ts';

/** Connection to the agent of a keyring. All methods throw `unavailable` if it exits or does not respond. */
export interface KeyringConnection extends KeyringCalls {
  /** Resolves when the agent has exited. */
  lock(): Promise<void>;
  close(): void;
}

/**
 * Connects to the agent of a keyring.
 * @returns undefined if nothing listens there, or the connection is refused
 */
export async function connectToKeyringAgent(path: string): Promise<KeyringConnection | undefined> {
  const connection = await callsOn(path, KEYRING_CALLS, 'the agent of the keyring exited');
  if (connection === undefined) return undefined;
  const { within, closed, close } = connection;
  const calls: KeyringCalls = connection.calls(AT_ONCE_MS);
  return {
    ...calls,
    async lock() {
      // The agent may exit before its answer has arrived.
      calls.lock().catch(() => undefined);
      await within(AT_ONCE_MS, closed);
    },
    close,
  };
}
