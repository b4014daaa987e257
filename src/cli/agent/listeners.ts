import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { programAfterNode } from '../program.ts';
import { AGENT_PROCESS } from './agent-process.ts';

/** Of a Unix socket that takes connections, in `/proc/net/unix` (SO_ACCEPTCON of the kernel). */
const LISTENS = 0x10000;

/**
 * The processes of this user that were started as agents and have the socket open.
 * @returns undefined where that can't be told, as without `/proc`.
 */
export function listenersOn(socket: string): readonly string[] | undefined {
  const inodes = attempt(() => inodesOf(socket));
  return inodes && attempt(() => readdirSync('/proc'))?.filter((name) => isAgentOn(name, inodes));
}

/**
 * Whether an agent that waits to be unlocked has the socket open: a process of this user that runs the very program that this process is, and was
 * told to be an agent. One that is waiting has nothing to prove itself by.
 * @returns undefined where that can't be told, as without `/proc`.
 * @see docs/decisions/0281
 */
export const waitsOn = (socket: string): boolean | undefined =>
  listenersOn(socket)?.some((pid) => attempt(() => runsThisProgram(pid)) === true);

/** As `/proc/PID/fd` shows the sockets that listen at a path. */
export const inodesOf = (path: string): readonly string[] =>
  readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .flatMap((line) => {
      // 0000000005badaf0: 00000002 00000000 00010000 0001 01 632880 /run/user/1000/coffer/…/agent.sock
      const [, , , flags = '', , , inode, ...name] = line.split(' ').filter((part) => part !== '');
      return name.join(' ') === path && (Number.parseInt(flags, 16) & LISTENS) !== 0
        ? [`socket:[${inode}]`]
        : [];
    });

const isAgentOn = (pid: string, inodes: readonly string[]): boolean =>
  /^[1-9]\d*$/.test(pid) && attempt(() => isOwn(pid) && isAgent(pid)) === true && hasOpen(pid, inodes);

const isOwn = (pid: string): boolean => statSync(`/proc/${pid}`).uid === process.geteuid?.();

function isAgent(pid: string): boolean {
  const words = wordsOf(pid);
  return words.includes(AGENT_PROCESS) || saysToRun(words);
}

/** Whether the file that a process runs is the one that this process runs, and under Node the script as well. */
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

/** Inodes are larger than what a number holds on some file systems. */
function isSameFile(path: string, other: string): boolean {
  const [one, two] = [path, other].map((name) => statSync(name, { bigint: true }));
  return one !== undefined && one.dev === two?.dev && one.ino === two.ino;
}

export const hasOpen = (pid: string, inodes: readonly string[]): boolean =>
  attempt(() =>
    readdirSync(`/proc/${pid}/fd`).some((name) => {
      const file = attempt(() => readlinkSync(`/proc/${pid}/fd/${name}`));
      return file !== undefined && inodes.includes(file);
    }),
  ) === true;

/** Processes come and go while they are looked at, and not every system shows them. */
export function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
