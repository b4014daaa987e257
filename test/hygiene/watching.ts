import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { binary, type Place } from '../e2e/harness.ts';
import type { Needles } from './secrets.ts';

const preload = new URL('watched-process.ts', import.meta.url).href;

/** A process of the command that can be looked into. */
export interface Watched {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The names of the needles that a snapshot of its heap holds: what JavaScript can still reach there. */
  heapHolds(needles: Needles): Promise<readonly string[]>;
}

export interface WatchOptions {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Whether a snapshot of the heap is kept at the end of a command: it takes longer than the command. */
  readonly keepsHeap?: boolean;
}

/** Runs the command to its end and keeps the process as it was then. */
export async function watchToEnd(
  place: Place,
  line: string,
  options: WatchOptions = {},
): Promise<Watched & { readonly stdout: string }> {
  const { watched, signals } = start(place, line, options);
  const [stdout] = await Promise.all([firstOutput(watched.child), once(signals, 'data')]);
  return { ...watched, stdout, heapHolds: async (needles) => heldIn(place, needles) };
}

/** Starts a server and waits for its first line, an address. */
export async function watchServer(
  place: Place,
  line: string,
  options: WatchOptions = {},
): Promise<Watched & { readonly address: string }> {
  const { watched, signals } = start(place, line, options);
  const address = (await firstOutput(watched.child)).trim();
  return {
    ...watched,
    address,
    async heapHolds(needles) {
      const shown = once(signals, 'data');
      watched.child.kill('SIGUSR2');
      await shown;
      return heldIn(place, needles);
    },
  };
}

function start(place: Place, line: string, { input = '', environment = {}, keepsHeap = true }: WatchOptions) {
  const child = spawn(process.execPath, ['--import', preload, binary, ...line.split(' ')], {
    cwd: place.directory,
    env: place.environment({ HEAP_SNAPSHOT: keepsHeap ? place.file('heap') : undefined, ...environment }),
    stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  child.stdin?.end(input);
  const watched = { child, pid: child.pid ?? 0 };
  return { watched, signals: child.stdio[3] as Readable };
}

async function firstOutput({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) return '';
  const [chunk] = (await once(stdout, 'data')) as [Buffer];
  return chunk.toString();
}

function heldIn(place: Place, needles: Needles): readonly string[] {
  const snapshot = readFileSync(place.file('heap'));
  rmSync(place.file('heap'));
  return Object.keys(needles).filter((name) => snapshot.includes(Buffer.from(needles[name] ?? [])));
}
