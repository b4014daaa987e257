import { readdirSync, readFileSync, statSync } from 'node:fs';
import { printGoTime } from '../../../ground/clock.ts';
import {
  type Aside,
  attempt,
  type CofferError,
  placed,
  type Text,
  unavailable,
} from '../../../ground/errors.ts';

/**
 * Byte that SQLite locks for a process that is about to write.
 * @see https://www.sqlite.org/lockingv3.html
 */
const RESERVED_BYTE = 0x40000001;
/** Unit of process start times on Linux, independent of the kernel's internal tick rate. */
const TICKS_PER_SECOND = 100;
const STATE = 0;
const START_TIME = 19;

type Holder = ReturnType<typeof processOf>;

/**
 * Creates the error for a lock at `path` that could not be acquired.
 * @param waitedMs time waited so far
 * @see docs/decisions/0121
 */
export function heldByOther(path: string, waitedMs: number): CofferError {
  const holder = attempt(() => holderOf(path));
  const by: Aside = { inside: `by ${nameOf(holder, path)}`, outside: 'by another process' };
  return unavailable(
    placed`timed out after ${Math.round(waitedMs / 1000)}s waiting for ${{ file: path }}, held ${by}`,
    {
      hint: remedyFor(holder, path),
    },
  );
}

const WAIT = 'wait until that process is done, then retry; a rekey or backup of a large store takes a while';

function nameOf(holder: Holder | undefined, path: string): string {
  if (holder === undefined) return 'another process';
  const name = holder.pid === process.pid ? 'this process' : `process ${holder.pid}`;
  const sinceMs = attempt(() => sinceWhen(path, holder));
  return sinceMs === undefined ? name : `${name} since ${printGoTime(Math.floor(sinceMs / 1000) * 1000)}`;
}

function remedyFor(holder: Holder | undefined, path: string): Text {
  if (holder === undefined)
    return placed`${WAIT}; ${{ inside: `"lsof ${path}" shows that process, unless it runs in another container or on another host`, outside: 'or check which processes run on the server' }}`;
  if (holder.pid === process.pid) return WAIT;
  const { pid } = holder;
  return holder.isStopped
    ? placed`that process is stopped${{ inside: `: "kill -CONT ${pid}" resumes it, "kill -KILL ${pid}" ends it without losing acknowledged changes`, outside: '' }}`
    : placed`${WAIT}${{ inside: `; if it hangs, "kill -KILL ${pid}" ends it without losing acknowledged changes`, outside: '' }}`;
}

/**
 * Asks the kernel for the lock's holder. Undefined if it does not say, or if the holder is not visible from this PID
 * namespace.
 */
function holderOf(path: string): Holder | undefined {
  const { dev, ino } = statSync(path);
  for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
    // 1: POSIX  ADVISORY  WRITE 4711 fd:01:123456 1073741825 1073741825
    const [, kind, , mode, id = '', file = '', start] = line.split(/\s+/);
    if (kind !== 'POSIX' || mode !== 'WRITE' || Number(start) !== RESERVED_BYTE) continue;
    if (Number(file.split(':')[2]) !== ino || !/^[1-9]\d*$/.test(id)) continue;
    // Some file systems show another device number there, so check the process itself.
    if (hasOpen(id, dev, ino)) return processOf(Number(id));
  }
  return undefined;
}

const hasOpen = (id: string, dev: number, ino: number): boolean =>
  readdirSync(`/proc/${id}/fd`).some((name) => {
    const stats = attempt(() => statSync(`/proc/${id}/fd/${name}`));
    return stats?.ino === ino && stats.dev === dev;
  });

function processOf(pid: number) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program name comes first and may contain any characters.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [, bootSeconds] = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8')) ?? [];
  return {
    pid,
    /** Whether the process is stopped, for example by Ctrl-Z or a debugger. */
    isStopped: /^[Tt]$/.test(fields[STATE] ?? ''),
    /** Start time, in milliseconds since the epoch. */
    startedMs: (Number(bootSeconds) + Number(fields[START_TIME]) / TICKS_PER_SECOND) * 1000,
  };
}

/**
 * Returns since when the lock is held. Holders touch the file; older versions of Coffer did not, and held it at most
 * since their start.
 */
const sinceWhen = (path: string, { startedMs }: Holder): number =>
  Math.max(statSync(path).mtimeMs, Number.isNaN(startedMs) ? 0 : startedMs);
