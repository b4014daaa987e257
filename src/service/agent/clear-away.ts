import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FileLock } from '../../store/backends/files/file-lock.ts';
import { makeWay } from '../socket-file.ts';
import type { AgentDirectory } from './directory.ts';

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
