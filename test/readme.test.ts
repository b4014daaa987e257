import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topics } from '../src/cli/commands/help.ts';
import { exitCodeMeanings } from '../src/cli/exit-codes.ts';
import { parseQuickly } from '../src/cli/parse/fast-path.ts';
import { inOwnSpelling } from '../src/cli/parse/habits.ts';
import { commandTree } from '../src/cli/tree.ts';
import { builtCommand } from './built.ts';
import { lightWork } from './light-work.ts';
import { typeErrorsIn } from './package-types.ts';
import { fiveMinutes } from './release/five-minutes.ts';

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

/** The blocks of a page that run: those of a part, whose name their marks have, or those without. */
const testedBlocks = (page: string, language: string, part = ''): string[] =>
  [...page.matchAll(/<!-- tested(?:: (\w+))? -->\n```(\w+)\n([\s\S]*?)```/g)]
    .filter(([, name = '', written]) => name === part && written === language)
    .map(([, , , block = '']) => block);

/** What a fresh shell prints that is given these commands in an own directory, and must not fail. */
function outputOf(commands: readonly string[]): string {
  const path = [join(directory, 'bin'), dirname(process.execPath), process.env['PATH']].join(':');
  return execFileSync('bash', ['-c', ['set -euo pipefail', ...commands].join('\n')], {
    cwd: directory,
    env: {
      PATH: path,
      HOME: directory,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      NODE_OPTIONS: lightWork.ofProcesses().join(' '),
    },
    encoding: 'utf8',
  });
}

describe('the README', () => {
  it('has 200 lines at most, so that it is read to its end', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
  });

  it('has the five minutes with which every form of a release is tried, from the first key to a server', () => {
    for (const line of ['coffer keygen', 'coffer transit encrypt', 'coffer doctor', 'coffer serve'])
      expect(fiveMinutes()).toContain(line);
  });

  it('shows commands that work when typed one after another in a fresh shell, and a program that runs', () => {
    const commands = testedBlocks(readme, 'sh');
    const programs = testedBlocks(readme, 'ts');
    expect(commands).toHaveLength(4);
    expect(programs).toHaveLength(1);
    writeFileSync(join(directory, 'example.mjs'), programs.join('\n'));
    writeFileSync(join(directory, 'example.mts'), programs.join('\n'));
    // The declarations of Node take most of the time.
    expect(typeErrorsIn(join(directory, 'example.mts'), ['--skipLibCheck'])).toBe('');
    const output = outputOf([stopWhatItStarts, ...commands, 'node example.mjs']);
    expect(output).toContain('credit card 4242');
    expect(output).toContain('\nvalid\n');
    expect(output).toContain('attack at dawn');
    expect(output).toMatch(/"ciphertext":"service:v2:/);
  });
});

describe('the page on environment variables and exit codes', () => {
  it('names every variable that the command knows, and every exit code', () => {
    const page = readFileSync(join(root, 'docs/environment.md'), 'utf8');
    const known =
      topics
        .get('environment')?.(80)
        .match(/COFFER_[A-Z_]+/g) ?? [];
    expect(known).toContain('COFFER_SHARES_FILE');
    expect(known.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    for (const [code, meaning] of exitCodeMeanings) expect(page).toContain(`| ${code} | ${meaning} |`);
  });
});

/** For servers that a page leaves running when something fails. */
const stopWhatItStarts = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT";

const hasGit = spawnSync('git', ['--version']).status === 0;

const asAda = ['git config user.name Ada', 'git config user.email ada@example.com'];

describe.skipIf(!hasGit)("the README's part on secrets in git", () => {
  it('shows commands that encrypt, edit, show and use the values of a file', () => {
    const prepare = [
      "trap 'coffer lock --quiet || true' EXIT",
      'export COFFER_PASSPHRASE="sheriff ethics unlock success inch" EDITOR="sed -i s/s3cret/newer/"',
      'mkdir alone && cd alone && git init --quiet && echo DB_PASSWORD=s3cret > .env',
      ...asAda,
    ];
    const blocks = testedBlocks(readme, 'sh', 'secrets');
    expect(blocks).toHaveLength(3);
    const [unlocked = '', ...rest] = blocks;
    const output = outputOf([...prepare, unlocked, 'unset COFFER_PASSPHRASE', ...rest]);
    expect(output).toContain('\n-DB_PASSWORD=s3cret\n+DB_PASSWORD=newer\n');
    expect(output).toMatch(/\nnewer\n/);
  });
});

const hasSshKeygen = spawnSync('ssh-keygen', ['-?']).status !== null;

describe.skipIf(!hasGit || !hasSshKeygen)("the README's part on a team", () => {
  it('shows commands that let a colleague in, who opens the values in a clone', () => {
    const home = (name: string): string => `export HOME=${join(directory, name)}`;
    const prepare = [
      home('alice'),
      `mkdir -p $HOME/.ssh ${join(directory, 'bob/.ssh')} && cd $HOME`,
      'ssh-keygen -q -t ed25519 -N "" -f $HOME/.ssh/id_ed25519',
      `ssh-keygen -q -t ed25519 -N "" -f ${join(directory, 'bob/.ssh/id_ed25519')}`,
      `mkdir project && cd project && git init --quiet && cp ${join(directory, 'bob/.ssh/id_ed25519.pub')} bob.pub`,
      ...asAda,
    ];
    const asBob = [
      "id=$(coffer team -o json | node -p 'JSON.parse(fs.readFileSync(0)).members.find((m) => m.name === `bob`).id')",
      home('bob'),
      `git clone --quiet ${join(directory, 'alice/project')} $HOME/project && cd $HOME/project`,
      'coffer team trust "$id"',
      'coffer secrets get app.env DB_PASSWORD',
    ];
    const blocks = testedBlocks(readme, 'sh', 'team');
    expect(blocks).toHaveLength(1);
    expect(outputOf([...prepare, ...blocks, ...asBob])).toMatch(/s3cret$/);
  });
});

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

const page = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');
const inOwnDirectory = (name: string): string[] => [
  `mkdir ${name} && cd ${name}`,
  `export COFFER_STORE=$PWD/store`,
];

describe('the page on unlocking a store', () => {
  it('shows how a passphrase is changed, another way to unlock is added, and a store moves', () => {
    const output = outputOf([
      ...inOwnDirectory('unlocking'),
      // A user who has ever used ssh has it.
      'mkdir -p ~/.ssh',
      ...testedBlocks(page('unlocking.md'), 'sh'),
      'COFFER_PASSPHRASE="sheriff ethics unlock success inch" coffer slots list > /dev/null || echo "changed: $?"',
      'wc -l < shares.txt',
    ]);
    expect(output).toMatch(/\traw\t.*\tpaper\n/);
    expect(output).toMatch(/changed: 4\n3\n$/);
  });
});

describe.skipIf(!hasGit)('the page for people who come from another tool', () => {
  it('shows commands that do what those of the other tools do', () => {
    const output = outputOf([
      ...inOwnDirectory('coming'),
      'export COFFER_MASTER_KEY=$(coffer keygen) && coffer init --quiet && git init --quiet',
      ...testedBlocks(page('coming-from.md'), 'sh'),
    ]);
    for (const text of [
      '4242',
      's3cret',
      'newer',
      'for your eyes only',
      'world',
      'valid',
      'env:prod',
      'team:core',
    ])
      expect(output).toContain(text);
    expect(output).toContain('kind: Secret');
  });

  it('names only commands and options that are there', async () => {
    const rows = page('coming-from.md').matchAll(/^\| .* \| (.*) \|$/gm);
    const lines = [...rows].flatMap(([, right = '']) =>
      [...right.matchAll(/`(coffer [^`]*)`/g)].map(([, line = '']) => line.replaceAll('\\|', '|')),
    );
    expect(lines.length).toBeGreaterThan(70);
    for (const line of lines) {
      const words = [...(line.split(/ [|] /)[0] ?? '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)];
      const [, ...argv] = words.map(([, single, double, bare]) => single ?? double ?? bare ?? '');
      expect(await parseQuickly(await inOwnSpelling(argv, commandTree), commandTree), line).toBeDefined();
    }
  });
});
