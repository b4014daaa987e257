import { readdirSync, readFileSync } from 'node:fs';

/** Whether this system shows its processes as files. */
export const hasProcessFiles: boolean = process.platform === 'linux';

/** The processes that a process has started itself and that run now. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
}

/** Undefined for a process that has ended meanwhile. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** What `ps e` shows of a process to its own user: its command line and its environment. */
export const shownOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/cmdline`, 'latin1') + readFileSync(`/proc/${pid}/environ`, 'latin1');
