/** Common programs for the same purpose as an operation; the benchmarks install them if possible. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Result of another program for the same task, shown next to the floor. Times in milliseconds. */
export interface Peer {
  readonly name: string;
  readonly time: number;
  /** Median of ours / peer, by pair. */
  readonly ratio: number;
  /** Promised maximum, if there is one. */
  readonly limit?: number | undefined;
}

/** Whether a program is installed, possibly by this call. */
export function hasPeer(program: string, debianPackage = program): boolean {
  const isThere = (): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
  if (isThere()) return true;
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (mayInstall) {
    // A new container has no package lists yet.
    spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '-qq', debianPackage], { stdio: 'ignore' });
  }
  if (isThere()) return true;
  process.stderr.write(`${program} is not installed and apt-get cannot install it: no comparison with it\n`);
  return false;
}
