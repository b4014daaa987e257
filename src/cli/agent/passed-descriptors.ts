import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** The first descriptor that a service manager passes on. */
const FIRST = 3;
const VARIABLES = ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES'] as const;

/**
 * The listening sockets that systemd (sd_listen_fds) or a program like it made for this process, and no other; the variables that say
 * so are taken out of the environment.
 *
 * Which is which they tell by their names (`FileDescriptorName=`), or by the files that they listen on, `NAME.sock`: so a unit may have
 * them in any order, and leave some out. Where neither says it, their order does. More than are known are left alone.
 * @param known names of what this process listens for, in that order.
 * @returns descriptors by these names.
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
 * How the file is called that a socket listens on, without its ending.
 * @returns undefined where that can't be told, as without `/proc`.
 */
export function nameOfSocket(descriptor: number): string | undefined {
  try {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[1];
    // 0000000005badaf0: 00000002 00000000 00010000 0001 01 632880 /run/user/1000/coffer/…/agent.sock
    const line = readFileSync('/proc/net/unix', 'utf8')
      .split('\n')
      .find((one) => one.split(/ +/)[6] === inode);
    const [, path] = /^(?:\S+ +){7}(\/.*)$/.exec(line ?? '') ?? [];
    return path === undefined ? undefined : basename(path, '.sock');
  } catch {
    return undefined;
  }
}
