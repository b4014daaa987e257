import { lstatSync, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { conflict } from '../errors.ts';

/**
 * Removes the socket that a server left behind when it was killed.
 * @throws `conflict` when somebody listens on it, or the path is something else than a socket.
 */
export async function makeWay(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw conflict(`${path} is in the way`, {
      field: 'socket',
      hint: 'it is no socket: choose another path',
    });
  }
  if (await somebodyListens(path)) {
    throw conflict(`another program listens on ${path}`, { field: 'socket' });
  }
  unlinkSync(path);
}

function somebodyListens(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once('connect', () => {
    socket.destroy();
    resolve(true);
  });
  socket.once('error', () => resolve(false));
  return promise;
}
