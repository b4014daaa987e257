import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { elapsedMs } from '../../ground/clock.ts';
import { attempt } from '../../ground/errors.ts';
import { pause } from '../../ground/pause.ts';
import { AGENT_PROCESS, KEYRING_AGENT_PROCESS, programAfterNode } from '../program.ts';

/** Flag of a Unix socket that accepts connections, in `/proc/net/unix` (SO_ACCEPTCON of the kernel). */
const LISTENS = 0x10000;

/**
 * Returns the processes of this user that were started as agents and have the socket open.
 * @returns process IDs; undefined if they cannot be found, as without `/proc`
 */
function listenersOn(socket: string): readonly string[] | undefined {
  const inodes = attempt(() => inodesOf(socket));
  return inodes && attempt(() => readdirSync('/proc'))?.filter((name) => isAgentOn(name, inodes));
}

/**
 * Whether an agent that waits to be unlocked has the socket open: a process of this user that runs the same program as
 * this process and was started as an agent. A waiting agent has no key to prove itself with.
 * @returns undefined if that cannot be found out, as without `/proc`
 * @see docs/decisions/0281
 */
export const waitsOn = (socket: string): boolean | undefined =>
  listenersOn(socket)?.some((pid) => attempt(() => runsThisProgram(pid)) === true);

/** Returns the inodes of the sockets that listen at a path, in the form of the links in `/proc/PID/fd`. */
const inodesOf = (path: string): readonly string[] =>
  unixSockets().flatMap(({ flags, inode, path: own }) =>
    own === path && (flags & LISTENS) !== 0 ? [`socket:[${inode}]`] : [],
  );

/** Returns the Unix sockets of this system. @throws without `/proc` */
export const unixSockets = () =>
  readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map((line) => {
      // 0000000005badaf0: 00000002 00000000 00010000 0001 01 632880 /run/user/1000/coffer/…/agent.sock
      const [, , , flags = '', , , inode, ...name] = line.split(' ').filter((part) => part !== '');
      return { flags: Number.parseInt(flags, 16), inode, path: name.join(' ') };
    });

const isAgentOn = (pid: string, inodes: readonly string[]): boolean =>
  /^[1-9]\d*$/.test(pid) && attempt(() => isOwn(pid) && isAgent(pid)) === true && hasOpen(pid, inodes);

const isOwn = (pid: string): boolean => statSync(`/proc/${pid}`).uid === process.geteuid?.();

function isAgent(pid: string): boolean {
  const words = wordsOf(pid);
  return [AGENT_PROCESS, KEYRING_AGENT_PROCESS].some((name) => words.includes(name)) || saysToRun(words);
}

/** Whether a process runs the same executable as this process, and under Node the same script. */
function runsThisProgram(pid: string): boolean {
  if (!isSameFile(`/proc/${pid}/exe`, '/proc/self/exe')) return false;
  const [, script = '', ...words] = wordsOf(pid);
  const [own] = programAfterNode();
  if (own === undefined) return saysToRun([script, ...words]);
  return isSameFile(resolve(readlinkSync(`/proc/${pid}/cwd`), script), own) && saysToRun(words);
}

const wordsOf = (pid: string): readonly string[] => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

const saysToRun = (words: readonly string[]): boolean =>
  words.some((word, at) => word === 'agent' && words[at + 1] === 'run');

/** Whether two paths are the same file. On some file systems, inodes exceed what a number holds. */
function isSameFile(path: string, other: string): boolean {
  const [one, two] = [path, other].map((name) => statSync(name, { bigint: true }));
  return one !== undefined && one.dev === two?.dev && one.ino === two.ino;
}

const hasOpen = (pid: string, inodes: readonly string[]): boolean =>
  attempt(() =>
    readdirSync(`/proc/${pid}/fd`).some((name) => {
      const file = attempt(() => readlinkSync(`/proc/${pid}/fd/${name}`));
      return file !== undefined && inodes.includes(file);
    }),
  ) === true;

/** Time within which a killed process ends, in milliseconds. */
const ENDS_WITHIN_MS = 5000;
const CLOSES_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 20;

/**
 * Kills the agent that listens on a socket. Only a process of this user that has that very socket open and was started
 * as an agent is killed; a service manager, which may hold the same socket, is not.
 * @returns process ID of the killed agent; undefined if the process cannot be found, as without `/proc`, or has ended
 * by itself
 */
export async function endAgent(socket: string): Promise<number | undefined> {
  const inodes = attempt(() => inodesOf(socket)) ?? [];
  const pid = listenersOn(socket)?.[0];
  if (pid === undefined) return undefined;
  // It may have ended by now.
  if (!attempt(() => process.kill(Number(pid), 'SIGKILL'))) return undefined;
  // It may remain as a zombie until its parent waits for it, but then has no open files.
  if (!(await becomes(() => !hasOpen(pid, inodes), ENDS_WITHIN_MS))) return undefined;
  // Its sockets are closed a moment later; one that a service manager holds as well stays open.
  await becomes(() => (attempt(() => inodesOf(socket)) ?? []).length === 0, CLOSES_WITHIN_MS);
  return Number(pid);
}

/**
 * Waits for a condition.
 * @returns whether it became true in time
 */
async function becomes(condition: () => boolean, withinMs: number): Promise<boolean> {
  const start = elapsedMs();
  while (!condition()) {
    if (elapsedMs() - start > withinMs) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
}
