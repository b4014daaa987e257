import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Tests that spawn the command run the bundle that is shipped, so it is built from the sources under test first; what V8 compiles of it
 * is kept for the length of the run.
 */
export default function setup(): () => void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.ts', import.meta.url))], {
    stdio: 'inherit',
  });
  const cache = mkdtempSync(join(tmpdir(), 'coffer-compiled-'));
  process.env['NODE_COMPILE_CACHE'] = cache;
  return () => rmSync(cache, { recursive: true, force: true });
}
