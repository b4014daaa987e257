import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Needles } from './secrets.ts';

const CHUNK_BYTES = 256 * 1024;

/** Whether this system lets us read the memory of our own children: Linux, where nothing forbids it. */
export const canReadMemory: boolean = await canReadChild();

async function canReadChild(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const child = spawn(process.execPath, ['--eval', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  await once(child, 'spawn');
  try {
    closeSync(openSync(`/proc/${child.pid}/mem`, 'r'));
    return true;
  } catch {
    return false;
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

/**
 * Which needles lie anywhere in the memory that a process can write to, and how often: what a core dump would show.
 * @param pid of a child of this process, or of one of its children. It is stopped meanwhile.
 */
export function findInMemory(pid: number, needles: Needles): Record<string, number> {
  const found: Record<string, number> = {};
  process.kill(pid, 'SIGSTOP');
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const region of writableRegions(pid)) search(memory, region, needles, found);
  } finally {
    closeSync(memory);
    process.kill(pid, 'SIGCONT');
  }
  return found;
}

interface Region {
  readonly start: number;
  readonly end: number;
}

function writableRegions(pid: number): readonly Region[] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(/^([0-9a-f]+)-([0-9a-f]+) rw/gm);
  return Array.from(lines, ([, start = '', end = '']) => ({
    start: Number.parseInt(start, 16),
    end: Number.parseInt(end, 16),
  }));
}

/** Chunks overlap by the longest needle, so that none is missed between two of them. */
function search(
  memory: number,
  { start, end }: Region,
  needles: Needles,
  found: Record<string, number>,
): void {
  const overlap = Math.max(...Object.values(needles).map(({ length }) => length));
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES + overlap, end - start));
  const empty = Buffer.alloc(chunk.length);
  for (let at = start; at < end; at += CHUNK_BYTES) {
    const filled = chunk.subarray(0, readUpTo(memory, chunk.subarray(0, end - at), at));
    // Most of what is set aside was never written to.
    if (filled.equals(empty.subarray(0, filled.length))) continue;
    for (const [name, needle] of Object.entries(needles)) {
      const times = countIn(filled, needle, CHUNK_BYTES);
      if (times > 0) found[name] = (found[name] ?? 0) + times;
    }
  }
}

/** Some pages cannot be read by anybody, such as those of devices; they hold nothing of ours. */
function readUpTo(memory: number, into: Uint8Array, position: number): number {
  let filled = 0;
  while (filled < into.length) {
    try {
      const bytes = readSync(memory, into, filled, into.length - filled, position + filled);
      if (bytes === 0) return filled;
      filled += bytes;
    } catch {
      return filled;
    }
  }
  return filled;
}

function countIn(haystack: Buffer, needle: Uint8Array, before: number): number {
  let times = 0;
  for (let at = haystack.indexOf(needle); at !== -1 && at < before; at = haystack.indexOf(needle, at + 1)) {
    times++;
  }
  return times;
}
