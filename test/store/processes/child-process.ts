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
  /** Resolves with the first line that is this one. */
  said(line: string): Promise<void>;
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
  const waiting: { line: string; resolve: () => void }[] = [];
  const reader = createInterface({ input: process_.stdout });
  reader.on('line', (line) => {
    lines.push(line);
    for (const waiter of waiting) if (waiter.line === line) waiter.resolve();
  });
  const ended = Promise.all([once(process_, 'exit'), once(reader, 'close')]).then(
    ([[code, signal]]) => (code ?? signal) as number | string,
  );
  const said = async (line: string): Promise<void> => {
    if (lines.includes(line)) return;
    const heard = new Promise<void>((resolve) => waiting.push({ line, resolve }));
    await Promise.race([heard, ended]);
    if (!lines.includes(line)) throw new Error(`the child ended (${await ended}) before it said "${line}"`);
  };
  return { process: process_, lines, said, ended };
}
