import { portOver } from '../service/agent/calls.ts';
import { KEYRING_CALLS, type KeyringCalls } from '../service/agent/keyring-calls.ts';
import { Rpc, remote } from '../service/rpc.ts';
import { AT_ONCE_MS, connected, inTime } from './agent.ts';

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
  const socket = await connected(path);
  if (socket === undefined) return undefined;
  const rpc = new Rpc(portOver(socket), {}, 'the agent of the keyring exited');
  const closed = Promise.withResolvers<void>();
  socket.once('close', () => {
    rpc.close();
    closed.resolve();
  });
  const calls = remote<KeyringCalls>(rpc, KEYRING_CALLS);
  const close = (): void => void socket.destroy();
  const within = <T>(answer: Promise<T>): Promise<T> => inTime(AT_ONCE_MS, answer, close);
  return {
    open: (value) => within(calls.open(value)),
    read: (reading) => within(calls.read(reading)),
    areLastRules: (rules) => within(calls.areLastRules(rules)),
    seal: (values) => within(calls.seal(values)),
    cards: () => within(calls.cards()),
    status: () => within(calls.status()),
    async lock() {
      // The agent may exit before its answer has arrived.
      calls.lock().catch(() => undefined);
      await within(closed.promise);
    },
    close,
  };
}
