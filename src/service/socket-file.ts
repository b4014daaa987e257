import { lstatSync, type Stats, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { conflict, placed } from '../ground/errors.ts';

/** A socket is made with every right that this leaves: 0600, for its owner alone. */
const SOCKET_UMASK = 0o177;

/** Sockets made by `make` are for their owner alone from their first moment on. */
export function makingPrivately<T>(make: () => T): T {
  const usual = process.umask(SOCKET_UMASK);
  try {
    return make();
  } finally {
    process.umask(usual);
  }
}

/**
 * As `makingPrivately`, for a socket that is made here on behalf of a worker. Nothing else may make files, directories or
 * processes meanwhile: they would be as private, and a directory of no use.
 */
export async function letMakePrivately<T>(make: () => Promise<T>): Promise<T> {
  const usual = process.umask(SOCKET_UMASK);
  try {
    return await make();
  } finally {
    process.umask(usual);
  }
}

/**
 * Removes the socket that a server left behind when it was killed.
 * @throws `conflict` when somebody listens on it, or the path is something else than a socket.
 */
export async function makeWay(path: string): Promise<void> {
  const found = statusOf(path);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw conflict(placed`${{ file: path }} is in the way`, {
      field: 'socket',
      hint: 'it is no socket: choose another path',
    });
  }
  if (await somebodyListens(path)) {
    throw conflict(placed`another program listens on ${{ file: path }}`, { field: 'socket' });
  }
  unlinkSync(path);
}

/** Undefined when nothing is there; where the path itself is wrong, listening tells why. */
function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

export function somebodyListens(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.once('connect', () => {
    socket.destroy();
    resolve(true);
  });
  socket.once('error', () => resolve(false));
  return promise;
}
