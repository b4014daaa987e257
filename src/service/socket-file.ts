import { lstatSync, readdirSync, type Stats, unlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { attempt, conflict, placed, unsupported } from '../ground/errors.ts';
import { FileLock } from '../store/backends/files/file-lock.ts';
import type { AgentDirectory } from './agent/directory.ts';

/** Umask for sockets: mode 0600, for the owner only. */
const SOCKET_UMASK = 0o177;

/** Runs `make` such that sockets it creates are accessible only to their owner from the start. */
export function makingPrivately<T>(make: () => T): T {
  const usual = process.umask(SOCKET_UMASK);
  try {
    return make();
  } finally {
    process.umask(usual);
  }
}

/**
 * Like `makingPrivately`, for a socket created here on behalf of a worker. Nothing else may create files, directories
 * or processes meanwhile: they would have the same umask, which would make a directory unusable.
 */
export async function letMakePrivately<T>(make: () => Promise<T>): Promise<T> {
  const usual = process.umask(SOCKET_UMASK);
  try {
    return await make();
  } finally {
    process.umask(usual);
  }
}

const AS_ADDRESS = /^unix:(?:\/\/(?=\/))?(?<path>.+)$/;
/** Abstract socket of Linux, in the forms of other programs. */
const ABSTRACT = /^(?:unix:(?:\/\/)?\/?)?@/;

/**
 * Returns the path of a socket, which may be written like an address, as other programs do: `unix:///run/x.sock`.
 * @throws `unsupported` for an abstract one: it is no file, so every local user could connect to it
 */
export function socketPath(text: string): string {
  if (ABSTRACT.test(text)) {
    throw unsupported(
      `${JSON.stringify(text)} is an abstract socket, to which every local user could connect`,
      {
        field: 'socket',
        hint: 'use the path of a file, e.g. /run/coffer/kms.sock',
      },
    );
  }
  return AS_ADDRESS.exec(text)?.groups?.['path'] ?? text;
}

/**
 * Removes the leftover socket of a killed server.
 * @throws `conflict` if a process listens on it, or the path is not a socket
 */
export async function makeWay(path: string): Promise<void> {
  const found = statusOf(path);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw conflict(placed`${{ file: path }} exists and is not a socket`, {
      field: 'socket',
      hint: 'choose another path',
    });
  }
  if (await somebodyListens(path)) {
    throw conflict(placed`another program is already listening on ${{ file: path }}`, { field: 'socket' });
  }
  unlinkSync(path);
}

/**
 * Returns the status of a path; undefined if nothing exists there. If the path itself is invalid, listening reports it.
 */
const statusOf = (path: string): Stats | undefined => attempt(() => lstatSync(path));

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

/**
 * Removes the sockets of a killed agent. If a new agent is just starting, it holds the lock, and nothing is touched.
 */
export async function clearAway({ lock, path }: AgentDirectory): Promise<void> {
  const remove = async (): Promise<void> => {
    for (const name of readdirSync(path)) if (name.endsWith('.sock')) await makeWay(join(path, name));
  };
  // The next agent does the same on start, and reports conflicts.
  await FileLock.holdOnce(lock, 0, remove).catch(() => undefined);
}
