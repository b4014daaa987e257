import { lstatSync } from 'node:fs';
import { createServer } from 'node:net';
import { asCofferError, conflict } from '../../ground/errors.ts';
import { FileLock } from '../../store/backends/files/file-lock.ts';
import { listening } from '../listening.ts';
import { offer, Rpc } from '../rpc.ts';
import { makeWay } from '../socket-file.ts';
import { portOver } from './calls.ts';
import type { AgentDirectory } from './directory.ts';
import { KeyringAgent } from './keyring-agent.ts';
import { type HandedKeyring, KEYRING_CALLS, type KeyringCalls, type KeyringJudge } from './keyring-calls.ts';

/** An agent that was just told to exit still holds the lock for a moment; in milliseconds. */
const LOCK_WAIT_MS = 5000;
/** Maximum number of connections, more than one user's programs have. */
const MOST_CONNECTIONS = 512;

/** Keyring that an agent keeps open, and what judges it for commands. */
interface KeptKeyring {
  readonly handed: HandedKeyring;
  readonly judge: KeyringJudge;
}

/**
 * Runs the agent of a keyring until it has locked.
 * @param ready called once it is listening
 * @throws `conflict` if the keyring already has an agent; `unavailable` if other users can access the directory, or the
 * socket cannot be created
 */
export async function runKeyringAgent(
  directory: AgentDirectory,
  kept: KeptKeyring,
  ready: (agent: KeyringAgent) => void,
): Promise<void> {
  directory.make();
  let isMine = false;
  try {
    await FileLock.holdOnce(directory.lock, LOCK_WAIT_MS, async () => {
      isMine = true;
      await serve(directory, kept, ready);
    });
  } catch (error) {
    if (isMine || asCofferError(error)?.kind !== 'unavailable') throw error;
    throw conflict('an agent of this keyring is already running');
  }
}

async function serve(
  { socket: path }: AgentDirectory,
  { handed, judge }: KeptKeyring,
  ready: (agent: KeyringAgent) => void,
): Promise<void> {
  await makeWay(path);
  let inode: number | undefined;
  const inodeNow = (): number | undefined => lstatSync(path, { throwIfNoEntry: false })?.ino;
  const agent = new KeyringAgent({
    handed,
    judge,
    isReachable: () => inode === undefined || inodeNow() === inode,
  });
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    const rpc = new Rpc(portOver(socket), offer<KeyringCalls>(agent, KEYRING_CALLS));
    // Connections end with the process, which tells "lock" that nothing is left of it.
    socket.once('close', () => rpc.close());
  });
  server.maxConnections = MOST_CONNECTIONS;
  try {
    await listening(server, { socket: path });
    inode = inodeNow();
    ready(agent);
    await agent.locked;
  } finally {
    await agent.lock();
    server.close();
  }
}
