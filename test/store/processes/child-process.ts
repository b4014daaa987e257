import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

export interface Child {
  readonly process: ChildProcess;
  /** Every line so far. */
  readonly lines: string[];
  /** Resolves once it has written this line. */
  said(line: string): Promise<void>;
  /** Resolves once it has written so many lines. */
  saidLines(count: number): Promise<void>;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
}

/** Bundles `child.ts` once for a test file, so that a child starts fast; returns how to start one. */
export function childProcesses(): (directory: string, work: string, ...parameters: string[]) => Child {
  let bundle = '';
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coffer-child-'));
    bundle = join(folder, 'child.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('child.ts', import.meta.url))],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (directory, work, ...parameters) => start([bundle, directory, work, ...parameters]);
}

function start(parameters: readonly string[]): Child {
  const process_ = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: process_.stdout });
  reader.on('line', (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const ended = Promise.all([once(process_, 'exit'), once(reader, 'close')]).then(
    ([[code, signal]]) => (code ?? signal) as number | string,
  );
  const until = async (heard: () => boolean, what: string): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (heard()) resolve();
    };
    waiting.add(look);
    look();
    await Promise.race([promise, ended]);
    waiting.delete(look);
    if (!heard()) throw new Error(`the child ended (${await ended}) before it said ${what}`);
  };
  return {
    process: process_,
    lines,
    said: (line) => until(() => lines.includes(line), `"${line}"`),
    saidLines: (count) => until(() => lines.length >= count, `${count} lines`),
    ended,
  };
}
