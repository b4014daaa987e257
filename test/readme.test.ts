import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topics } from '../src/cli/commands/help.ts';
import { builtCommand } from './built.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const scripts = readFileSync(join(root, 'docs/scripts-and-ci.md'), 'utf8');
const inFiles = readFileSync(join(root, 'docs/secrets-in-files.md'), 'utf8');
const serving = readFileSync(join(root, 'docs/serving.md'), 'utf8');
let directory = '';

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-readme-'));
  cpSync(join(root, 'README.md'), join(directory, 'README.md'));
  mkdirSync(join(directory, 'bin'));
  symlinkSync(builtCommand(), join(directory, 'bin/coffer'));
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(root, join(directory, 'node_modules/coffer'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

const testedBlocks = (page: string, language: string): string[] =>
  [...page.matchAll(/<!-- tested -->\n```(\w+)\n([\s\S]*?)```/g)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? '');

/** What a fresh shell prints that is given these commands in an own directory, and must not fail. */
function outputOf(commands: readonly string[]): string {
  const path = [join(directory, 'bin'), dirname(process.execPath), process.env['PATH']].join(':');
  return execFileSync('bash', ['-c', ['set -euo pipefail', ...commands].join('\n')], {
    cwd: directory,
    env: { PATH: path, HOME: directory },
    encoding: 'utf8',
  });
}

/** What the compiler says at its strictest, in a project that depends on the package. */
function typeErrorsIn(file: string): string {
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')];
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const { stdout } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    ['--noEmit', '--module', 'nodenext', '--target', 'es2024', ...strict, ...types, file],
    { cwd: directory, encoding: 'utf8' },
  );
  return stdout;
}

describe('the README', () => {
  it('names every variable that the command knows', () => {
    const known =
      topics
        .get('environment')?.(80)
        .match(/COFFER_[A-Z_]+/g) ?? [];
    expect(known).toContain('COFFER_SHARES_FILE');
    expect(
      known.filter((name) => !readme.includes(`\`${name}\``) && !readme.includes(`export ${name}=`)),
    ).toEqual([]);
  });

  it('shows commands that work when typed one after another in a fresh shell, and a program that runs', () => {
    const commands = testedBlocks(readme, 'sh');
    const programs = testedBlocks(readme, 'ts');
    expect(commands.length).toBeGreaterThan(5);
    expect(programs).toHaveLength(1);
    writeFileSync(join(directory, 'example.mjs'), programs.join('\n'));
    writeFileSync(join(directory, 'example.mts'), programs.join('\n'));
    expect(typeErrorsIn('example.mts')).toBe('');
    const output = outputOf([stopWhatItStarts, ...commands, 'node example.mjs']);
    expect(output).toContain('credit card 4242');
    expect(output).toContain('untouched');
    expect(output).toContain('env:prod');
    expect(output).toContain('attack at dawn');
    expect(output).toMatch(/"ciphertext":"service:v2:/);
  });
});

/** For servers that a page leaves running when something fails. */
const stopWhatItStarts = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT";

const hasGit = spawnSync('git', ['--version']).status === 0;

describe.skipIf(!hasGit)('the page on scripts and pipelines', () => {
  it('shows commands that work, and a hook that lets only envelopes of the store through', () => {
    const prepare = [
      'export COFFER_STORE=$HOME/scripts-store COFFER_MASTER_KEY=$(coffer keygen)',
      'coffer init --quiet && coffer transit keys create app',
      'mkdir repository && cd repository && git init --quiet',
      'git config user.name Ada && git config user.email ada@example.com',
    ];
    const commit = [
      'git add . && git commit --quiet --message "sealed" && echo committed',
      'git show HEAD:secrets/production.env.coffer | coffer transit envelope decrypt',
      'echo TOKEN=2 > secrets/naked.env && git add secrets',
      'git commit --quiet --message "naked" 2>&1 || echo refused',
    ];
    const output = outputOf([...prepare, ...testedBlocks(scripts, 'sh'), ...commit]);
    expect(output).toContain('db-password');
    expect(output).toContain('committed\nTOKEN=1\n');
    expect(output).toMatch(/secrets\/naked\.env is not encrypted, or not with this store\nrefused\n$/);
  });
});

describe.skipIf(!hasGit)('the page on secrets in files', () => {
  it('shows commands that work, and a hook that lets no readable value through', () => {
    const prepare = [
      'export COFFER_STORE=$HOME/files-store COFFER_MASTER_KEY=$(coffer keygen)',
      'coffer init --quiet && mkdir files && cd files',
    ];
    const commit = [
      'git config user.name Ada && git config user.email ada@example.com',
      'git commit --quiet --message "sealed" && echo committed',
      'echo TOKEN=1 >> app.env && git add app.env',
      'git commit --quiet --message "naked" 2>&1 || echo refused',
    ];
    const output = outputOf([...prepare, ...testedBlocks(inFiles, 'sh'), ...commit, 'cat nginx.conf']);
    expect(output).toMatch(/export DB_USER=shop\nDB_PASSWORD=coffer:app:v1:\S+ {3}# rotated in May\ns3cret/);
    expect(output).toMatch(/committed\napp\.env:4:TOKEN\n.*\nrefused\n/);
    expect(output).toMatch(/X-Key "[0-9a-f]{64}";\n$/);
  });
});

describe('the page on running a server', () => {
  it('shows how a server is unsealed', () => {
    const prepare = [
      'export COFFER_STORE=$HOME/served-store COFFER_MASTER_KEY=$(coffer keygen)',
      'coffer init --quiet',
    ];
    const answers = outputOf([stopWhatItStarts, ...prepare, ...testedBlocks(serving, 'sh')]).match(
      /"sealed":\w+/g,
    );
    expect(answers).toEqual(['"sealed":true', '"sealed":false', '"sealed":false']);
  });
});
