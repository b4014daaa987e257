/** Programs that people use today for what an operation does; the benchmarks install them where that is possible. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** What a row shows beside its floor: the same job done by another program. Times in milliseconds. */
export interface Peer {
  readonly name: string;
  readonly time: number;
  /** Median of ours / peer, pair by pair. */
  readonly ratio: number;
  /** What we promise, if anything. */
  readonly limit?: number;
}

/** Whether a program is there, perhaps since now. */
export function hasPeer(program: string, debianPackage = program): boolean {
  const isThere = (): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
  if (isThere()) return true;
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (mayInstall) {
    // A fresh container has no lists of packages yet.
    spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '-qq', debianPackage], { stdio: 'ignore' });
  }
  if (isThere()) return true;
  process.stderr.write(`${program} is not installed and apt-get cannot install it: no comparison with it\n`);
  return false;
}
