import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFresh } from '../scripts/built.ts';
import { isAbandoned } from './abandoned.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const LOCK = join(root, 'dist/.building');
const LOOK_MS = 50;

/**
 * The path of the command as it is shipped: `bin/coffer` with the bundle of the sources under test. The first test file that asks for it after a
 * change has it built, and the library with it; a file that does not ask does not wait.
 */
export function builtCommand(): string {
  built ??= build();
  return built;
}

let built: string | undefined;

function build(): string {
  while (!isFresh(root)) {
    if (takeLock()) {
      try {
        execFileSync(process.execPath, [join(root, 'scripts/build.ts'), '--untyped'], { stdio: 'inherit' });
      } finally {
        rmSync(LOCK);
      }
    } else {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
    }
  }
  return join(root, 'bin/coffer');
}

/** Whether this process may build. What a killed one has left is taken away; two that do so at once build the same twice. */
function takeLock(): boolean {
  mkdirSync(join(root, 'dist'), { recursive: true });
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (isAbandoned(LOCK)) rmSync(LOCK, { force: true });
    return false;
  }
}
