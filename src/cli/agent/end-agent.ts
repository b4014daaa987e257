import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { elapsedMs } from '../../ground/clock.ts';
import { pause } from '../../ground/pause.ts';
import { AGENT_PROCESS } from './agent-process.ts';

/** What a process takes to end that was killed. */
const ENDS_WITHIN_MS = 5000;
const CLOSES_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 20;
/** Of a Unix socket that takes connections, in `/proc/net/unix` (SO_ACCEPTCON of the kernel). */
const LISTENS = 0x10000;

/**
 * Kills the agent that listens on a socket. Only a process of this user is killed that has that very socket open and was started as an
 * agent: a service manager, which may hold the same socket for it, is not.
 * @returns the process that was killed; undefined where it can't be told which one it is, as without `/proc`, or it has ended by itself.
 * @see docs/decisions/0235
 */
export async function endAgent(socket: string): Promise<number | undefined> {
  const inodes = attempt(() => inodesOf(socket)) ?? [];
  const pid = listenersOn(socket)?.[0];
  if (pid === undefined) return undefined;
  // It may have ended by itself by now.
  if (!attempt(() => process.kill(Number(pid), 'SIGKILL'))) return undefined;
  // It may stay in the list of processes until somebody asks how it ended, but has no files then.
  if (!(await becomes(() => !hasOpen(pid, inodes), ENDS_WITHIN_MS))) return undefined;
  // Its sockets are closed a moment later; one that a service manager holds, too, stays.
  await becomes(() => (attempt(() => inodesOf(socket)) ?? []).length === 0, CLOSES_WITHIN_MS);
  return Number(pid);
}

/**
 * The processes of this user that were started as agents and have the socket open.
 * @returns undefined where that can't be told, as without `/proc`.
 */
export function listenersOn(socket: string): readonly string[] | undefined {
  const inodes = attempt(() => inodesOf(socket));
  return inodes && attempt(() => readdirSync('/proc'))?.filter((name) => isAgentOn(name, inodes));
}

/** @returns whether it came to be in time. */
async function becomes(condition: () => boolean, withinMs: number): Promise<boolean> {
  const start = elapsedMs();
  while (!condition()) {
    if (elapsedMs() - start > withinMs) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
}

/** As `/proc/PID/fd` shows the sockets that listen at a path. */
const inodesOf = (path: string): readonly string[] =>
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
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  return (
    words.includes(AGENT_PROCESS) || words.some((word, at) => word === 'agent' && words[at + 1] === 'run')
  );
}

const hasOpen = (pid: string, inodes: readonly string[]): boolean =>
  attempt(() =>
    readdirSync(`/proc/${pid}/fd`).some((name) => {
      const file = attempt(() => readlinkSync(`/proc/${pid}/fd/${name}`));
      return file !== undefined && inodes.includes(file);
    }),
  ) === true;

/** Processes come and go while they are looked at, and not every system shows them. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
