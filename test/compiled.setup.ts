import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What V8 compiles of the command that tests spawn is kept for the length of the run. */
export default function setup(): (() => void) | undefined {
  // Another project of this run has done it.
  if (process.env['NODE_COMPILE_CACHE'] !== undefined) return undefined;
  const cache = mkdtempSync(join(tmpdir(), 'coffer-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = cache;
  return () => rmSync(cache, { recursive: true, force: true });
}
