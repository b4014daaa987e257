import { elapsedMs } from '../../ground/clock.ts';
import { pause } from '../../ground/pause.ts';
import { attempt, hasOpen, inodesOf, listenersOn } from './listeners.ts';

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
