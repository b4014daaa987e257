import { existsSync } from 'node:fs';
import { isIPv6, type Server } from 'node:net';
import { dirname } from 'node:path';
import { placed, unavailable } from '../ground/errors.ts';
import { makingPrivately } from './socket-file.ts';

/** Address to listen on. */
export type ListenPlace =
  | { readonly host: string; readonly port: number }
  /** Unix socket with access for its owner only. */
  | { readonly socket: string }
  /** Listening socket inherited from the parent process. */
  | { readonly descriptor: number };

/**
 * Resolves when a server is listening.
 * @throws `unavailable` naming the address that cannot be used
 */
export async function listening(server: Server, place: ListenPlace): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // Node creates the socket before `listen` returns, so other users can never connect to it.
  if ('socket' in place) makingPrivately(() => server.listen({ path: place.socket }, resolve));
  else if ('descriptor' in place) server.listen({ fd: place.descriptor }, resolve);
  else server.listen({ host: place.host, port: place.port }, resolve);
  try {
    await promise;
  } catch (error) {
    const path = 'socket' in place ? place.socket : undefined;
    throw unavailable(placed`cannot listen on ${nameOf(place)}: ${whyNot(error, path)}`, {
      field: path === undefined ? 'listen' : 'socket',
      hint: hintOf(error, place),
      cause: error,
    });
  }
  server.off('error', reject);
}

function nameOf(place: ListenPlace): string | { readonly file: string } {
  if ('socket' in place) return { file: place.socket };
  return 'host' in place ? addressOf(place.host, place.port) : `descriptor ${place.descriptor}`;
}

const addressOf = (host: string, port: number): string => `${isIPv6(host) ? `[${host}]` : host}:${port}`;

function whyNot(error: unknown, path: string | undefined): string {
  const { code } = error as NodeJS.ErrnoException;
  // For a Unix socket, Node reports EACCES for a missing directory as well.
  const homeless = path !== undefined && !existsSync(dirname(path));
  if (homeless) return NO_DIRECTORY;
  if (path !== undefined && code === 'EINVAL') return TOO_LONG;
  return WHY[code ?? ''] ?? code ?? 'unknown reason';
}

/** Suggests another port if one is in use or may not be used. */
function hintOf(error: unknown, place: ListenPlace): string | undefined {
  if (!('host' in place)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' && place.port < UNPRIVILEGED_PORT)
    return `ports below ${UNPRIVILEGED_PORT} need root; use another port: --listen ${addressOf(place.host, 8200)}`;
  if (code !== 'EADDRINUSE' || place.port === MAX_PORT) return undefined;
  return `stop the program that uses this port, or use another port: --listen ${addressOf(place.host, place.port + 1)}`;
}

const MAX_PORT = 65_535;
/** First port that every user may listen on, unless the system is configured otherwise. */
const UNPRIVILEGED_PORT = 1024;
const NO_DIRECTORY = 'no such directory';
const TOO_LONG = 'the path is too long for a socket';
const WHY: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'address not available on this machine',
  EACCES: 'permission denied',
  ENOTFOUND: 'host not found',
  ENOENT: NO_DIRECTORY,
  ENOTDIR: 'part of the path is not a directory',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: TOO_LONG,
};
