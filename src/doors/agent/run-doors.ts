import type { Offer } from '../../access/doors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import type { AgentDirectory } from '../../service/agent/directory.ts';
import type { Log } from '../../service/log.ts';
import { makeWay } from '../../service/socket-file.ts';
import { FileLock } from '../../store/backends/files/file-lock.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Ask } from './desk.ts';
import { openDoorServer } from './door-server.ts';
import { loggedBy, remoteDesk } from './remote-desk.ts';

interface RunDoorsOptions {
  /** Runner of the operations. */
  readonly runner: Runner;
  readonly directory: AgentDirectory;
  readonly doors: readonly { readonly kind: AgentDoorKind; readonly offers: readonly Offer[] }[];
  readonly ask: Ask | undefined;
  readonly log: Log;
  /** Called once it is listening. */
  readonly ready: (addresses: readonly string[]) => void;
  /** Resolves when it should exit. */
  readonly ended: Promise<void>;
}

/**
 * Runs the agent protocols with the keys of a server, until it should exit.
 * @throws `unavailable` if another agent is listening, other users can access the directory, or a socket cannot be
 * created
 */
export async function runDoors(options: RunDoorsOptions): Promise<void> {
  const { directory, doors, runner, ask, log, ready, ended } = options;
  directory.make();
  await FileLock.holdOnce(directory.lock, 0, async () => {
    const opened: (() => void)[] = [];
    try {
      for (const { kind, offers } of doors) {
        const socket = directory.doorSocket(kind.name);
        await makeWay(socket);
        const desk = remoteDesk(kind, offers, runner, { ask, ...loggedBy(log) });
        opened.push(await openDoorServer(kind, desk, { socket }));
      }
      ready(doors.map(({ kind }) => `unix:${directory.doorSocket(kind.name)}`));
      await ended;
    } finally {
      for (const close of opened) close();
    }
  });
}
