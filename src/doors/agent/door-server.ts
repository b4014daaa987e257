import { createServer, type Socket } from 'node:net';
import { type ListenPlace, listening } from '../../service/listening.ts';
import type { AgentDoorKind } from './agent-door.ts';
import type { Desk } from './desk.ts';

/** Maximum number of connections, more than one user's programs have. */
const MOST_CONNECTIONS = 512;

/**
 * Opens the socket of one agent protocol. The implementation is loaded on the first connection.
 * @returns how to refuse new clients, and close all connections
 * @throws `unavailable` if it cannot be created
 */
export async function openDoorServer(
  kind: AgentDoorKind,
  desk: Desk,
  place: ListenPlace,
): Promise<() => void> {
  let opened: Promise<(connection: Socket) => void> | undefined;
  const connections = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    connections.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => connections.delete(socket));
    if (!kind.endsItself) socket.once('end', () => socket.end());
    opened ??= kind.load().then((open) => open(desk));
    opened.then(
      (take) => {
        take(socket);
        socket.resume();
      },
      (error: unknown) => {
        desk.defect(error);
        socket.destroy();
      },
    );
  });
  server.maxConnections = MOST_CONNECTIONS;
  await listening(server, place);
  return () => {
    server.close();
    for (const socket of connections) socket.destroy();
  };
}
