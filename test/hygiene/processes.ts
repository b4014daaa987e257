import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Whether this system shows its processes as files. */
export const hasProcessFiles: boolean = process.platform === 'linux';

/** The processes that a process has started itself and that run now. */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
}

const parentOf = (pid: number): number => Number(stateOf(pid)?.[1]);

/** What the system says of a process behind its name: its state, its parent and so on; undefined when it is no more. */
function stateOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Whether a process has ended with all its threads, be it that nobody has asked yet how: some systems have nobody who does so for orphans. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // While other threads end, its files are open and its locks held, although the first one counts as a zombie.
    return hasProcessFiles && stateOf(pid)?.[0] === 'Z' && readdirSync(`/proc/${pid}/task`).length <= 1;
  } catch {
    return true;
  }
}

/** What `ps e` shows of a process to its own user: its command line and its environment. */
export const shownOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/cmdline`, 'latin1') + readFileSync(`/proc/${pid}/environ`, 'latin1');

/** A column of /proc/net/tcp: the state of a socket that takes connections. */
const LISTENING = '0A';

/** The TCP sockets on which a process takes connections, by their inode. */
export function listeningSocketsOf(pid: number): readonly string[] {
  const listening = new Set(['tcp', 'tcp6'].flatMap((table) => listeningIn(`/proc/${pid}/net/${table}`)));
  return readdirSync(`/proc/${pid}/fd`)
    .map((descriptor) => /^socket:\[(\d+)\]$/.exec(targetOf(`/proc/${pid}/fd/${descriptor}`))?.[1])
    .filter((inode) => inode !== undefined && listening.has(inode))
    .map(String)
    .sort();
}

const listeningIn = (table: string): readonly string[] =>
  readFileSync(table, 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap((columns) => (columns[3] === LISTENING ? [columns[9] ?? ''] : []));

/** Empty for a descriptor that was closed meanwhile. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
