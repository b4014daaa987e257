import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Needles } from './secrets.ts';

const CHUNK_BYTES = 256 * 1024;
/** Distance of the addresses at which memory is looked at: wherever a needle lies, it has a word at one of them. */
const STRIDE_BYTES = 8;
const WORD_BYTES = 4;

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
  const sought = soughtOf(needles);
  process.kill(pid, 'SIGSTOP');
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const pages = openSync(`/proc/${pid}/pagemap`, 'r');
  try {
    for (const region of writableRegions(pid)) search({ memory, pages }, region, sought, found);
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

/** A word of a needle, and where in the needle it is. */
interface Mark {
  readonly name: string;
  readonly needle: Buffer;
  readonly offset: number;
}

/** What is looked for, all of it in one pass: to look for each needle by itself would take as many times as long. */
interface Sought {
  readonly marks: ReadonlyMap<number, readonly Mark[]>;
  /** Not zero at the digests of these words, so that nearly all words of a memory are passed over without a look at the map. */
  readonly digests: Uint8Array;
  /** Length of the longest needle. */
  readonly longest: number;
}

const digestOf = (word: number): number => (word ^ (word >>> 16)) & 0xffff;

function soughtOf(needles: Needles): Sought {
  const marks = new Map<number, Mark[]>();
  const digests = new Uint8Array(0x10000);
  for (const [name, bytes] of Object.entries(needles)) {
    const needle = Buffer.from(bytes);
    if (needle.length < STRIDE_BYTES + WORD_BYTES) throw new Error(`${name} is too short to look for`);
    for (let offset = 0; offset < STRIDE_BYTES; offset++) {
      const word = wordsOf(Uint8Array.from(needle.subarray(offset, offset + WORD_BYTES)))[0] ?? 0;
      marks.set(word, [...(marks.get(word) ?? []), { name, needle, offset }]);
      digests[digestOf(word)] = 1;
    }
  }
  return { marks, digests, longest: Math.max(...Object.values(needles).map(({ length }) => length)) };
}

const wordsOf = ({ buffer, byteOffset, length }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, Math.floor(length / WORD_BYTES));

interface Files {
  readonly memory: number;
  readonly pages: number;
}

/** Chunks overlap by the longest needle, so that none is missed between two of them. */
function search(
  { memory, pages }: Files,
  region: Region,
  sought: Sought,
  found: Record<string, number>,
): void {
  const { start, end } = region;
  const chunk = Buffer.alloc(Math.min(CHUNK_BYTES + sought.longest, end - start));
  const isInUse = pagesInUse(pages, region);
  for (let at = start; at < end; at += CHUNK_BYTES) {
    // Most of what is set aside was never written to, and would be made by being read.
    if (!isInUse(at, Math.min(at + CHUNK_BYTES, end))) continue;
    count(chunk.subarray(0, readUpTo(memory, chunk.subarray(0, end - at), at)), sought, found);
  }
}

/** Adds how often each needle begins in a chunk. */
function count(chunk: Buffer, { marks, digests }: Sought, found: Record<string, number>): void {
  const words = wordsOf(chunk);
  for (let index = 0; index < words.length; index += STRIDE_BYTES / WORD_BYTES) {
    const word = words[index] ?? 0;
    if (digests[digestOf(word)] === 0) continue;
    for (const { name, needle, offset } of marks.get(word) ?? []) {
      const at = index * WORD_BYTES - offset;
      if (at < 0 || at >= CHUNK_BYTES) continue;
      if (needle.equals(chunk.subarray(at, at + needle.length))) found[name] = (found[name] ?? 0) + 1;
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
