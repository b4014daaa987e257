import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Needles } from './secrets.ts';

const CHUNK_BYTES = 256 * 1024;

/** Whether this system lets us read the memory of our own children: Linux, where nothing forbids it. */
export const canReadMemory: boolean = await canReadChild();

async function canReadChild(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const child = spawn(process.execPath, ['--eval', "require('node:process').stdin.resume()"], {
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
  const pages = openSync(`/proc/${pid}/pagemap`, 'r');
  try {
    for (const region of writableRegions(pid)) search(memory, pages, region, needles, found);
  } finally {
    closeSync(pages);
    closeSync(memory);
    process.kill(pid, 'SIGCONT');
  }
  return found;
}

interface Region {
  readonly start: number;
  readonly end: number;
  readonly pageBytes: number;
}

function writableRegions(pid: number): readonly Region[] {
  const lines = readFileSync(`/proc/${pid}/smaps`, 'utf8').matchAll(
    /^([0-9a-f]+)-([0-9a-f]+) rw.*\n(?:[A-Z]\w+:.*\n)*?KernelPageSize: +(\d+) kB$/gm,
  );
  return Array.from(lines, ([, start = '', end = '', pageKiB]) => ({
    start: Number.parseInt(start, 16),
    end: Number.parseInt(end, 16),
    pageBytes: Number(pageKiB) * 1024,
  }));
}

/** Chunks overlap by the longest needle, so that none is missed between two of them. */
function search(
  memory: number,
  pages: number,
  region: Region,
  needles: Needles,
  found: Record<string, number>,
): void {
  const { start, end } = region;
  const overlap = Math.max(...Object.values(needles).map(({ length }) => length));
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES + overlap, end - start));
  const isInUse = pagesInUse(pages, region);
  for (let at = start; at < end; at += CHUNK_BYTES) {
    // Most of what is set aside was never written to, and would be made by being read.
    if (!isInUse(at, Math.min(at + CHUNK_BYTES, end))) continue;
    const filled = chunk.subarray(0, readUpTo(memory, chunk.subarray(0, end - at), at));
    for (const [name, needle] of Object.entries(needles)) {
      const times = countIn(filled, needle, CHUNK_BYTES);
      if (times > 0) found[name] = (found[name] ?? 0) + times;
    }
  }
}

/** Bytes of what the kernel says of a page. In the last one, two bits say that it is in memory, or was moved to the disk. */
const ENTRY_BYTES = 8;
const IN_USE = 0xc0;

/** Says whether any page from one address to another has a content of its own. */
function pagesInUse(pages: number, { start, end, pageBytes }: Region): (from: number, to: number) => boolean {
  const entries = Buffer.alloc(((end - start) / pageBytes) * ENTRY_BYTES);
  const known = readUpTo(pages, entries, (start / pageBytes) * ENTRY_BYTES);
  return (from, to) => {
    const [first, last] = [from, to].map((at) => Math.ceil((at - start) / pageBytes) * ENTRY_BYTES);
    for (let at = first ?? 0; at < (last ?? 0); at += ENTRY_BYTES)
      if (at >= known || ((entries[at + ENTRY_BYTES - 1] ?? IN_USE) & IN_USE) !== 0) return true;
    return false;
  };
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
