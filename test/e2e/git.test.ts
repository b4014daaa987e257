import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { placeWithRules, scriptedEditor, writeSecret } from './edited.ts';
import type { Place } from './harness.ts';
import { madeOnce } from './kept-directory.ts';

const BASE = 'A=1\nB=2\nPLAIN=3\n';

/** A repository that is set up, with one file in it. */
const repository = madeOnce(
  async () => {
    const here = await placeWithRules({
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
    });
    git(here, 'init -q -b main .');
    writeFileSync(here.file('.gitignore'), 'store\neditor-*\nwanted\n');
    await here.ok('secrets git-setup -q');
    await writeSecret(here, 'app.env', BASE);
    commit(here, 'base');
    return here;
  },
  ({ directory }) => directory,
);

interface GitAnswer {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function git(here: Place, line: string | readonly string[], environment = {}): GitAnswer {
  const { status, stdout, stderr } = spawnSync('git', typeof line === 'string' ? line.split(' ') : line, {
    cwd: here.directory,
    env: here.environment(environment),
    encoding: 'utf8',
  });
  return { exitCode: status, stdout, stderr };
}

/** @param options of git, such as none where the hook is to look at what is committed */
function commit(here: Place, message: string, options: readonly string[] = ['--no-verify']): void {
  // By one shell: a new process costs that of the tests, which is large, more than it costs git.
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', 'git add -A && git commit -q "$@"', 'sh', ...options, '-m', message],
    { cwd: here.directory, env: here.environment(), encoding: 'utf8' },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

/** Edits the file by a script for sed, on a branch, and commits that. */
async function change(here: Place, branch: string, script: string): Promise<void> {
  git(here, branch === 'main' ? 'checkout -q main' : `checkout -q -b ${branch} main`);
  await here.ok('edit -q app.env', { environment: scriptedEditor(here, `sed -i '${script}' "$1"`) });
  commit(here, script);
}

/** Merges two changes into one branch. */
async function merged(ours: string, theirs: string) {
  const here = await repository();
  await change(here, 'other', theirs);
  await change(here, 'main', ours);
  return { here, merge: git(here, 'merge -q -m merged other') };
}

const textOf = (here: Place): string => readFileSync(here.file('app.env'), 'utf8');
const opened = async (here: Place, name = 'app.env'): Promise<string> =>
  (await here.run(['secrets', 'inject', '--in', name])).stdout;

describe('git diff in a repository that is set up', () => {
  it('shows what was changed, decrypted', async () => {
    const here = await repository();
    await here.ok('edit -q app.env', { environment: scriptedEditor(here, `sed -i 's/B=2/B=zwei/' "$1"`) });
    const { stdout, stderr } = git(here, 'diff');
    expect(stderr).toBe('');
    expect(stdout.split('\n').filter((line) => /^[-+ ]\w/.test(line))).toEqual([
      ' A=1',
      '-B=2',
      '+B=zwei',
      ' PLAIN=3',
    ]);
  });

  it('shows and merges files whose names look like options or like commands', async () => {
    const here = await repository();
    const others = ['-x.env', 'a b.env', "q'uote.env", '%P.env'];
    const names = ['--help.env', 'new\nline.env', '$(touch pwned).env', ...(isLong ? others : [])];
    const set = async (value: string, letter: string): Promise<void> => {
      for (const name of names)
        expect(await here.run(['secrets', 'set', '--', name, letter], { input: value })).toMatchObject({
          exitCode: 0,
        });
    };
    for (const name of names) writeFileSync(here.file(name), '');
    await set('1', 'A');
    await set('1', 'B');
    commit(here, 'odd');
    git(here, 'checkout -q -b other');
    await set('theirs', 'B');
    const { exitCode, stdout } = git(here, 'diff');
    expect({ exitCode, shown: stdout.match(/^\+B=theirs$/gm)?.length }).toEqual({
      exitCode: 0,
      shown: names.length,
    });
    commit(here, 'theirs');
    git(here, 'checkout -q main');
    await set('ours', 'A');
    commit(here, 'ours');
    expect(git(here, 'merge -q -m merged other')).toMatchObject({ exitCode: 0 });
    for (const name of names)
      expect((await here.run(['secrets', 'inject', '--in', here.file(name)])).stdout).toBe(
        'A=ours\nB=theirs\n',
      );
    expect(existsSync(here.file('pwned'))).toBe(false);
  });

  it('shows the ciphertexts to whoever can not open the store, without a question or a word', async () => {
    const here = await repository();
    await change(here, 'main', 's/B=2/B=zwei/');
    for (const environment of [{ COFFER_MASTER_KEY: undefined }, { COFFER_STORE: here.file('none') }]) {
      const { exitCode, stdout, stderr } = git(
        here,
        isLong ? 'log -p --format=%h' : 'log -p -1 --format=%h',
        environment,
      );
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/\+B=coffer:app:v1:/);
      expect(stdout).not.toContain('zwei');
    }
  });

  it('shows what can not be read as a file of its name as it is', async () => {
    const here = await repository();
    writeFileSync(here.file('app.env'), '{{{\n');
    expect(git(here, 'diff')).toMatchObject({
      exitCode: 0,
      stderr: '',
      stdout: expect.stringContaining('+{{{'),
    });
  });

  it('leaves no plaintext in the repository', async () => {
    const here = await repository();
    await writeSecret(here, 'app.env', 'A=a-plaintext-that-is-looked-for\n');
    commit(here, 'more');
    git(here, 'log -p');
    const found = spawnSync('grep', ['-r', '-l', 'a-plaintext-that-is-looked-for', '.git'], {
      cwd: here.directory,
    });
    expect(found.stdout.toString()).toBe('');
    expect(git(here, 'for-each-ref refs/notes').stdout).toBe('');
  });
});

describe('git merge in a repository that is set up', () => {
  it('takes both changes of different values, on neighbouring lines, too', async () => {
    const { here, merge } = await merged('s/A=1/A=ours/', 's/B=2/B=theirs/');
    expect(merge).toMatchObject({ exitCode: 0 });
    expect(await opened(here)).toBe('A=ours\nB=theirs\nPLAIN=3\n');
  });

  it('takes both of two values that were added at one place', async () => {
    const { here, merge } = await merged('$a OURS=1', '$a THEIRS=2');
    expect(merge).toMatchObject({ exitCode: 0 });
    expect(await opened(here)).toBe(`${BASE}OURS=1\nTHEIRS=2\n`);
  });

  it('takes one value that both changed in the same way, though it was encrypted twice', async () => {
    const { here, merge } = await merged('s/A=1/A=same/', 's/A=1/A=same/');
    expect(merge).toMatchObject({ exitCode: 0 });
    expect(await opened(here)).toBe('A=same\nB=2\nPLAIN=3\n');
  });

  it('takes values that one side added and the other removed', async () => {
    const { here, merge } = await merged('/^A=/d', '$a NEW=4');
    expect(merge).toMatchObject({ exitCode: 0 });
    expect(await opened(here)).toBe('B=2\nPLAIN=3\nNEW=4\n');
  });

  it('needs no key where nothing is in question', async () => {
    const here = await repository();
    await change(here, 'other', 's/B=2/B=theirs/');
    await change(here, 'main', 's/A=1/A=ours/');
    const merge = git(here, 'merge -q -m merged other', { COFFER_MASTER_KEY: undefined });
    expect(merge).toMatchObject({ exitCode: 0 });
    expect(await opened(here)).toBe('A=ours\nB=theirs\nPLAIN=3\n');
  });

  it('leaves a conflict of one value with both ciphertexts, that a diff shows and an edit solves', async () => {
    const { here, merge } = await merged('s/A=1/A=ours/;s/B=2/B=both/', 's/A=1/A=theirs/');
    expect(merge.exitCode).toBe(1);
    const conflict = textOf(here);
    expect(conflict).toMatch(
      /^<{7} ours\nA=coffer:app:v1:\S+\n={7}\nA=coffer:app:v1:\S+\n>{7} theirs\nB=coffer:app:v1:\S+\nPLAIN=3\n$/,
    );
    expect(git(here, 'diff').stdout).toMatch(
      /\+\+<{7} ours\n \+A=ours\n\+\+={7}\n\+ A=theirs\n(?:.*\n)?\+\+>{7} theirs\n/,
    );
    expect(await here.refused('secrets get app.env A', 2)).toContain(
      'unresolved merge conflict (run "coffer edit app.env", which shows both sides decrypted, then "git add app.env")',
    );
    const seen = here.file('wanted');
    const solve = `cp "$1" '${seen}'; sed -i '/^[<=>]\\{7\\}/d;/A=ours/d' "$1"`;
    await here.ok('edit -q app.env', { environment: scriptedEditor(here, solve) });
    expect(readFileSync(seen, 'utf8')).toBe(
      '<<<<<<< ours\nA=ours\n=======\nA=theirs\n>>>>>>> theirs\nB=both\nPLAIN=3\n',
    );
    const [, theirs] = conflict.match(/A=coffer:\S+/g) ?? [];
    expect(textOf(here).split('\n')[0]).toBe(theirs);
    commit(here, 'solved', []);
    expect(await opened(here)).toBe('A=theirs\nB=both\nPLAIN=3\n');
  });

  it('merges YAML by values, too', async () => {
    const here = await repository();
    await writeSecret(here, 'app.yaml', 'db:\n  user: u\n  password: p\n');
    commit(here, 'yaml');
    const edit = async (branch: string, script: string): Promise<void> => {
      git(here, branch === 'main' ? 'checkout -q main' : `checkout -q -b ${branch}`);
      await here.ok('edit -q app.yaml', { environment: scriptedEditor(here, `sed -i '${script}' "$1"`) });
      commit(here, script);
    };
    await edit('other', 's/: u/: theirs/');
    await edit('main', 's/: p/: ours/');
    expect(git(here, 'merge -q -m merged other')).toMatchObject({ exitCode: 0 });
    expect(await opened(here, 'app.yaml')).toBe('db:\n  user: theirs\n  password: ours\n');
  });
});

describe('coffer secrets git-setup', () => {
  it('refuses a commit with a value in the clear that the rules want encrypted, and none with it encrypted', async () => {
    const here = await repository();
    writeFileSync(here.file('app.env'), 'A=clear\n');
    git(here, 'add app.env');
    const refused = git(here, 'commit -q -m clear');
    expect(refused.exitCode).toBe(1);
    expect(refused.stdout + refused.stderr).toContain('app.env:1:A');
    expect(git(here, 'log --format=%s').stdout).toBe('base\n');
    await writeSecret(here, 'app.env', 'A=other\n');
    commit(here, 'encrypted', []);
    expect(git(here, 'log --format=%s').stdout).toBe('encrypted\nbase\n');
  });

  it('does nothing twice, and says nothing then', async () => {
    const here = await repository();
    const before = [
      readFileSync(here.file('.gitattributes'), 'utf8'),
      readFileSync(here.file('.git/config'), 'utf8'),
    ];
    expect(await here.run('secrets git-setup')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect([
      readFileSync(here.file('.gitattributes'), 'utf8'),
      readFileSync(here.file('.git/config'), 'utf8'),
    ]).toEqual(before);
  });

  it('leaves a hook that is there, and says what it lacks', async () => {
    const here = await placeWithRules();
    git(here, 'init -q .');
    const hook = here.file('.git/hooks/pre-commit');
    mkdirSync(here.file('.git/hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\nmake lint\n');
    chmodSync(hook, 0o755);
    const { stderr } = await here.run('secrets git-setup');
    expect(stderr).toMatch(
      /pre-commit already exists; add this line to it: .+ secrets check --staged \|\| exit\n/,
    );
    expect(readFileSync(hook, 'utf8')).toBe('#!/bin/sh\nmake lint\n');
  });

  it('writes nothing through a link that the repository has, where a pattern could be a command', async () => {
    const here = await placeWithRules();
    git(here, 'init -q inner');
    writeFileSync(here.file('bashrc'), '# mine\n');
    symlinkSync('../bashrc', here.file('inner/.gitattributes'));
    writeFileSync(here.file('inner/.coffer.yaml'), 'rules: [{files: "$(pwned)", key: app}]\n');
    expect(await here.shell('cd inner && coffer secrets git-setup')).toMatchObject({ exitCode: 2 });
    expect(readFileSync(here.file('bashrc'), 'utf8')).toBe('# mine\n');
  });

  it('leaves the hooks that other repositories share, and writes to those of this one, in a worktree, too', async () => {
    const here = await repository();
    const outside = `${here.directory}-hooks`;
    git(here, ['config', 'core.hooksPath', outside]);
    expect((await here.run('secrets git-setup')).stderr).toMatch(
      /-hooks is outside this repository and has no hook pre-commit; create an executable file pre-commit there, with the line "#!\/bin\/sh" and this one: .+ secrets check --staged \|\| exit\n/,
    );
    expect(existsSync(outside)).toBe(false);
    git(here, 'config core.hooksPath .husky');
    expect((await here.run('secrets git-setup')).stderr).toBe('Wrote .husky/pre-commit.\n');
    git(here, 'config --unset core.hooksPath');
    git(here, 'worktree add -q store/other');
    expect(await here.shell('cd store/other && coffer secrets git-setup')).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    writeFileSync(here.file('store/other/app.env'), 'A=clear\n');
    expect((await here.shell('cd store/other && git commit -qam clear')).stderr).toContain('app.env:1:A');
  });

  it('gives attributes to the files that the rules mean, and to no other', async () => {
    const here = await placeWithRules();
    git(here, 'init -q .');
    mkdirSync(here.file('team/deep'), { recursive: true });
    writeFileSync(
      here.file('.coffer.yaml'),
      'rules:\n  - {files: ["*.env", /top.yaml, "conf/*.json", vault], key: app}\n',
    );
    writeFileSync(
      here.file('team/.coffer.yaml'),
      'rules:\n  - {files: [own.cfg, deep/x.yaml], format: dotenv, key: app}\n',
    );
    writeFileSync(here.file('.gitattributes'), '*.png binary');
    await here.ok('secrets git-setup -q');
    const driver = (path: string): string =>
      git(here, `check-attr diff -- ${path}`).stdout.replace(/.*: /, '').trim();
    expect(
      [
        'a.env',
        'x/y.env',
        'top.yaml',
        'x/top.yaml',
        'conf/a.json',
        'x/conf/a.json',
        'vault/deep/f',
        'x/vault/f',
      ].map(driver),
    ).toEqual(['coffer', 'coffer', 'coffer', 'unspecified', 'coffer', 'unspecified', 'coffer', 'coffer']);
    expect(
      ['own.cfg', 'team/own.cfg', 'team/deep/own.cfg', 'team/deep/x.yaml', 'team/x.yaml'].map(driver),
    ).toEqual(['unspecified', 'coffer-dotenv', 'coffer-dotenv', 'coffer-dotenv', 'unspecified']);
    expect(readFileSync(here.file('.gitattributes'), 'utf8')).toMatch(/^\*\.png binary\n/);
  });

  it('says what is missing where there are no rules, or no repository', async () => {
    const here = await placeWithRules();
    expect(await here.refused('secrets git-setup', 1)).toContain('run it in the repository');
    expect(existsSync(here.file('.gitattributes'))).toBe(false);
  });
});
