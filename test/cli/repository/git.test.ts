import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import {
  committed,
  contentsOf,
  filesBelow,
  git,
  indexedFilesNamed,
} from '../../../src/cli/repository/git.ts';
import { CofferError } from '../../../src/ground/errors.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

afterEach(() => vi.unstubAllEnvs());

it('gives git, and what a repository has it start, none of the secrets of ours', () => {
  for (const name of ['COFFER_MASTER_KEY', 'COFFER_TOKEN', 'GIT_AUTHOR_NAME']) vi.stubEnv(name, 'given');
  const seen = git(tmpdir(), ['-c', 'alias.seen=!env', 'seen'])?.toString() ?? '';
  expect(seen).toContain('GIT_AUTHOR_NAME=given');
  expect(seen).not.toMatch(/^COFFER_(?:MASTER_KEY|TOKEN)=/m);
});

it('has git start no program that a bare repository in a clone names, whose files anyone can push', () => {
  const top = temporaryDirectory();
  const inner = join(top, 'production');
  execFileSync('git', ['init', '-q', top]);
  execFileSync('git', ['init', '-q', '--bare', inner]);
  const started = join(top, 'started');
  writeFileSync(
    join(inner, 'config'),
    [
      '[core]',
      'repositoryformatversion = 0',
      'bare = false',
      'worktree = .',
      `fsmonitor = "touch '${started}' #"`,
      '[extensions]',
      'partialclone = origin',
      '[remote "origin"]',
      'promisor = true',
      `url = ${inner}`,
      `uploadpack = "touch '${started}' #"`,
    ].join('\n'),
  );
  writeFileSync(join(inner, 'refs', 'heads', 'main'), `${'1'.repeat(40)}\n`);
  writeFileSync(join(inner, 'HEAD'), 'ref: refs/heads/main\n');
  mkdirSync(join(inner, '.coffer'));
  writeFileSync(join(inner, 'app.env'), 'A=b\n');
  expect(filesBelow(inner)).toContain('app.env');
  expect(committed(join(inner, 'app.env'))).toBeUndefined();
  expect(existsSync(started)).toBe(false);
});

it('takes files of up to 1 MiB from a commit and from the index, and names a larger one', () => {
  const top = temporaryDirectory();
  const run = (...args: readonly string[]) => execFileSync('git', args, { cwd: top });
  const most = 2 ** 20;
  for (const [name, bytes] of [
    ['least', 1],
    ['largest', most],
    ['larger', most + 1],
  ] as const)
    writeFileSync(join(top, name), Buffer.alloc(bytes, 'x'));
  run('init', '-q');
  run('add', '-A');
  run('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'x');
  expect(committed(join(top, 'largest'))).toHaveLength(most);
  expect(committed(join(top, 'larger'))).toBeUndefined();
  const told = [...contentsOf(top, stagedOf(top, ['larger', 'largest', 'least']))].map(
    ([{ path }, content]) => [path, content instanceof CofferError ? content.message : content.length],
  );
  expect(told).toEqual([
    ['larger', 'larger is larger than 1 MiB'],
    ['largest', most],
    ['least', 1],
  ]);
});

/** Files of the index, by their names. */
const stagedOf = (top: string, names: readonly string[]) =>
  names.flatMap((name) => indexedFilesNamed(top, name));
