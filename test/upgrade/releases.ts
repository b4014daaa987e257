/** Earlier states of Coffer that people may have stores of, and how one is built. */
import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = resolve(process.env['COFFER_RELEASES_CACHE'] ?? join(tmpdir(), 'coffer-releases-cache'));

export interface EarlierRelease {
  /** All of them call themselves 0.1.0. */
  readonly commit: string;
  readonly about: string;
}

export const EARLIER_RELEASES: readonly EarlierRelease[] = [
  { commit: '794d9ce', about: 'the first whose stores have all parts of format 1' },
  {
    commit: 'f3e9535',
    about: 'before readers followed a journal, and before stores that go back were refused',
  },
  { commit: 'b45bce6', about: 'the last before logins, doors, projects and the agent' },
];

export const LAST_RELEASE = 'b45bce6';

/**
 * Builds a commit with what its lock file names, unless that was done before.
 * @returns its `bin/coffer`.
 */
export function builtRelease(commit: string): string {
  const directory = join(cache, commit);
  const binary = join(directory, 'bin/coffer');
  if (existsSync(directory)) return binary;
  const making = `${directory}.new`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', making], { input: archive });
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
  };
  const options = { cwd: making, env, stdio: ['ignore', 'ignore', 'inherit'] } satisfies ExecFileSyncOptions;
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options);
  execFileSync(process.execPath, ['scripts/build.ts'], options);
  renameSync(making, directory);
  return binary;
}
