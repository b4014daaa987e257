import { elapsedMs } from '../../ground/clock.ts';
import { pause } from '../../ground/pause.ts';
import { attempt, hasOpen, inodesOf, listenersOn } from './listeners.ts';

/** What a process takes to end that was killed. */
const ENDS_WITHIN_MS = 5000;
const CLOSES_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 20;

/**
 * Kills the agent that listens on a socket. Only a process of this user is killed that has that very socket open and was started as an
 * agent: a service manager, which may hold the same socket for it, is not.
 * @returns the process that was killed; undefined where it can't be told which one it is, as without `/proc`, or it has ended by itself.
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

/** @returns whether it came to be in time. */
async function becomes(condition: () => boolean, withinMs: number): Promise<boolean> {
  const start = elapsedMs();
  while (!condition()) {
    if (elapsedMs() - start > withinMs) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
}
