import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { attempt } from '../../ground/errors.ts';
import { unixSockets } from './listeners.ts';

/** First file descriptor that a service manager passes (SD_LISTEN_FDS_START). */
const FIRST = 3;
const VARIABLES = ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES'] as const;

/**
 * Takes the listening sockets that systemd (sd_listen_fds) or a similar program passed to this process, and removes the
 * variables about them from the environment.
 *
 * Sockets are identified by their names (`FileDescriptorName=`), or by the file that they listen on, `NAME.sock`; so a
 * unit may have them in any order, and omit some. Sockets with neither are identified by their order. Further sockets
 * are left alone.
 * @param known names of the sockets that this process listens on, in that order
 * @returns file descriptors by name
 */
export function passedDescriptors(
  environment: NodeJS.ProcessEnv,
  known: readonly string[],
  pid = process.pid,
): ReadonlyMap<string, number> {
  const { LISTEN_FDS: count, LISTEN_PID: meant, LISTEN_FDNAMES: names = '' } = environment;
  for (const name of VARIABLES) delete environment[name];
  if (meant !== String(pid) || count === undefined || !/^[1-9]\d?$/.test(count)) return new Map();
  const descriptors = Array.from({ length: Number(count) }, (_, index) => FIRST + index);
  const isSaid = (said: readonly (string | undefined)[]): said is readonly string[] =>
    said.length === descriptors.length &&
    new Set(said).size === said.length &&
    said.every((name) => name !== undefined && known.includes(name));
  const ways: readonly (() => readonly (string | undefined)[])[] = [
    () => names.split(':'),
    () => descriptors.map(nameOfSocket),
  ];
  let told = known.slice(0, descriptors.length);
  for (const tell of ways) {
    const said = tell();
    if (!isSaid(said)) continue;
    told = [...said];
    break;
  }
  return new Map(told.map((name, index) => [name, FIRST + index] as const));
}

/**
 * Returns the name of the file that a socket listens on, without its extension.
 * @returns the name; undefined if it cannot be found, as without `/proc`
 */
export function nameOfSocket(descriptor: number): string | undefined {
  const inode = attempt(() => /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[1]);
  const path = attempt(unixSockets)?.find((socket) => socket.inode === inode)?.path;
  return path?.startsWith('/') ? basename(path, '.sock') : undefined;
}
