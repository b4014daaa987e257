import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { type Child, startChild } from './started.ts';

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
  return (directory, work, ...parameters) => startChild([bundle, directory, work, ...parameters]);
}
