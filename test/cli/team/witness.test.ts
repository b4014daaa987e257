import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { placeIn } from '../../../src/cli/team/place.ts';
import { witnessOf } from '../../../src/cli/team/witness.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

/** A repository in which bob took away so many facts, and eve altered one. */
function repository(taken: number) {
  const top = temporaryDirectory();
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: top, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const commit = (name: string): string => {
    git('add', '-A');
    git('-c', `user.name=${name}`, '-c', 'user.email=x@example.com', 'commit', '-qm', 'x');
    return git('rev-parse', '--short', 'HEAD');
  };
  git('init', '-q');
  mkdirSync(join(top, '.coffer', 'members'), { recursive: true });
  const paths = Array.from({ length: taken }, (_, at) => `members/m.${String(at).padStart(32, '0')}`);
  const altered = `members/z.${'9'.repeat(32)}`;
  for (const path of [...paths, altered]) writeFileSync(join(top, '.coffer', path), path);
  commit('ann');
  for (const path of paths) rmSync(join(top, '.coffer', path));
  const taking = commit('bob');
  writeFileSync(join(top, '.coffer', altered), 'other');
  const altering = commit('eve');
  return { top, paths, altered, taking, altering };
}

/** What git tells, and how often it was asked. */
function witnessed(top: string) {
  const directory = temporaryDirectory();
  const calls = join(directory, 'calls');
  writeFileSync(calls, '');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeFileSync(join(directory, 'git'), `#!/bin/sh\necho x >> '${calls}'\nexec '${real}' "$@"\n`);
  chmodSync(join(directory, 'git'), 0o755);
  vi.stubEnv('PATH', `${directory}${delimiter}${process.env['PATH']}`);
  try {
    const witness = witnessOf(placeIn(top, top));
    return { witness, asked: readFileSync(calls, 'utf8').split('\n').length };
  } finally {
    vi.unstubAllEnvs();
  }
}

it('what commits took away from a keyring or altered in it is named with its commit, and git is asked as often for many files as for one', () => {
  const [one, many] = [1, 30].map((taken) => {
    const { top, paths, altered, taking, altering } = repository(taken);
    const { witness, asked } = witnessed(top);
    expect(witness.isShallow).toBe(false);
    expect(witness.losses.map(({ text }) => text).sort()).toEqual(
      [
        ...paths.map((path) => `commit ${taking} by bob removed .coffer/${path}`),
        `commit ${altering} by eve changed .coffer/${altered}`,
      ].sort(),
    );
    return asked;
  });
  expect(many).toBe(one);
});

it('a file that was moved away in the working tree alone is said to be missing there, not removed by a commit', () => {
  const { top, altered } = repository(1);
  rmSync(join(top, '.coffer', altered));
  expect(witnessOf(placeIn(top, top)).losses.map(({ text }) => text)).toContain(
    `.coffer/${altered} is in the last commit, but missing in the working tree`,
  );
});

it('a history that git does not tell is no witness that nothing was taken away from a keyring', () => {
  const { top } = repository(1);
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'git'), '#!/bin/sh\nexit 128\n');
  chmodSync(join(directory, 'git'), 0o755);
  vi.stubEnv('PATH', directory);
  try {
    expect(witnessOf(placeIn(top, top))).toEqual({ isShallow: true, losses: [] });
  } finally {
    vi.unstubAllEnvs();
  }
});
