import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

const GIT = {
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', PATH: process.env['PATH'] },
  ...{ GIT_AUTHOR_NAME: 'ann', GIT_AUTHOR_EMAIL: 'ann@example.com' },
  ...{ GIT_COMMITTER_NAME: 'ann', GIT_COMMITTER_EMAIL: 'ann@example.com' },
};

/** A repository in which git could not merge a file: its content before, and on the two branches. */
async function unmerged(
  name: string,
  before: string | undefined,
  ours: string,
  theirs: string,
): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: here.path, env: GIT });
  const commit = async (content: string | undefined) => {
    if (content !== undefined) {
      here.write(name, content);
      await here.ok(`secrets encrypt ${name} -q`);
    }
    git('add', '.coffer.yaml', ...(content === undefined ? [] : [name]));
    git('commit', '-qm', 'x');
  };
  git('init', '-q', '-b', 'main');
  here.write('.coffer.yaml', 'rules: [{files: ["*.env", "*.json"], key: app}]\n');
  await commit(before);
  git('checkout', '-qb', 'other');
  await commit(theirs);
  git('checkout', '-q', 'main');
  await commit(ours);
  expect(() =>
    execFileSync('git', ['merge', '-q', 'other'], { cwd: here.path, env: GIT, stdio: 'ignore' }),
  ).toThrow();
  expect(here.read(name)).toContain('<<<<<<<');
  return here;
}

/** Edits a file by a script that has it in `$1`. */
async function edit(here: DirectoryHere, name: string, script: string) {
  here.write('editor.sh', script);
  const { exitCode, err } = await here.run(`edit ${name}`, {
    environment: { EDITOR: `sh ${here.file('editor.sh')}`, VISUAL: undefined },
  });
  return { exitCode, err };
}

describe('an edit of a file that git could not merge', () => {
  it('writes what can be merged by values, although the editor changed nothing', async () => {
    const here = await unmerged('a.env', 'A=one\nB=two\n', 'A=ours\nB=two\n', 'A=one\nB=theirs\n');
    const told = await edit(here, 'a.env', `cat "$1" > '${here.file('seen')}'`);
    expect(told.exitCode).toBe(0);
    expect(told.err).toContain('Wrote a.env.');
    expect(here.read('seen')).toBe('A=ours\nB=theirs\n');
    expect(here.read('a.env')).not.toContain('<<<<<<<');
    expect([await here.ok('secrets get a.env A'), await here.ok('secrets get a.env B')]).toEqual([
      'ours',
      'theirs',
    ]);
  });

  it.each([
    ['a.env', 'A=ours\n', 'B=theirs\n', 'printf "A=ours\\nB=theirs\\n" > "$1"'],
    ['a.json', '{"A":"ours"}\n', '{"B":"theirs"}\n', 'echo \'{"A":"ours","B":"theirs"}\' > "$1"'],
  ])('shows both sides of one that both branches have added: %s', async (name, ours, theirs, solve) => {
    const here = await unmerged(name, undefined, ours, theirs);
    const told = await edit(here, name, `cat "$1" > '${here.file('seen')}'; ${solve}`);
    expect(told).toMatchObject({ exitCode: 0 });
    for (const value of ['ours', 'theirs']) expect(here.read('seen')).toContain(value);
    expect([await here.ok(`secrets get ${name} A`), await here.ok(`secrets get ${name} B`)]).toEqual([
      'ours',
      'theirs',
    ]);
  });
});

describe('new values that no rule is for', () => {
  it.each([
    [10, ''],
    [11, ' and 1 more'],
  ])('are warned of, ten of them by name: %i', async (count, more) => {
    const here = await DirectoryHere.withStore();
    here.write('.coffer.yaml', 'rules: [{files: none, key: app}]\n');
    here.write('a.env', 'OLD=value\n');
    const names = Array.from({ length: count }, (_, at) => `SECRET_${at}`);
    const told = await edit(here, 'a.env', names.map((name) => `echo ${name}=value >> "$1"`).join('\n'));
    expect(told.exitCode).toBe(0);
    expect(told.err).toContain(
      `no rule in .coffer.yaml is for a.env, so these values are not encrypted: ${names.slice(0, 10).join(', ')}${more} (run `,
    );
  });
});
