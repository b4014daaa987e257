/**
 * What a change touches: `npm run test:changed` runs the tests that reach, by what they import, a file that differs from where this branch left main,
 * committed or not; `npm run test:changed -- HEAD` only what is not committed. Tests that spawn the command reach it through its bundle,
 * not by imports: they run when they were changed themselves, and in `npm test`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [since = branchedOff(), ...rest] = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--changed', since, '--passWithNoTests', ...rest],
  { cwd: root, stdio: 'inherit' },
);
process.exitCode = status ?? 1;

/** The commit at which this branch left main. */
function branchedOff(): string {
  return execFileSync('git', ['merge-base', 'HEAD', 'main'], { cwd: root, encoding: 'utf8' }).trim();
}
