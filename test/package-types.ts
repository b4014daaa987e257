import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * What the compiler says at its strictest, in a project that depends on the package.
 * @param file program, in a directory whose `node_modules` has the package
 */
export function typeErrorsIn(file: string, options: readonly string[] = []): string {
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', ...options];
  const { stdout } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    ['--noEmit', '--module', 'nodenext', '--target', 'es2024', ...strict, ...types, file],
    { cwd: dirname(file), encoding: 'utf8' },
  );
  return stdout;
}
