/**
 * The long proof: `npm run test:all`. Everything that is tried here, with fresh choices: all tests, PostgreSQL's and the faults among them, then
 * the fuzz. A part that fails does not hide the next one; the last line has the sums of all. With `--only-longer`, what makes the same choices as `npm
 * test` is left out, and a third of the largest parts.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ONLY_LONGER } from './long.ts';
import { SEED, SEED_VARIABLE } from './seed.ts';
import { SUMS_VARIABLE, sumsIn } from './sums.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const PARTS: readonly (readonly string[])[] = [
  ['node_modules/vitest/vitest.mjs', 'run'],
  ['test/fuzz/run.ts'],
];

const directory = mkdtempSync(join(tmpdir(), 'coffer-proof-'));
const sums = join(directory, 'sums');
/** Who started this adds up as well. */
const outer = process.env[SUMS_VARIABLE];
try {
  writeFileSync(sums, '');
  const environment = {
    ...process.env,
    LONG: '1',
    [SEED_VARIABLE]: SEED,
    [SUMS_VARIABLE]: sums,
    [ONLY_LONGER]: process.argv.includes('--only-longer') ? '1' : process.env[ONLY_LONGER],
  };
  const failed = PARTS.filter((part) => {
    const { status } = spawnSync(process.execPath, part, { cwd: root, env: environment, stdio: 'inherit' });
    return status !== 0;
  });
  if (outer !== undefined) appendFileSync(outer, readFileSync(sums));
  const counted = sumsIn(sums);
  // A part may fail before it has counted anything.
  const failures = Math.max(counted.failed, failed.length);
  const [faults, cases] = [counted['injected faults'], counted['cases of fuzz']].map((count) =>
    count.toLocaleString('en'),
  );
  console.log(
    `${counted.passed} passed, ${failures} failed; ${faults} injected faults, ${cases} cases of fuzz (${SEED_VARIABLE}=${SEED})`,
  );
  process.exitCode = failures === 0 ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
