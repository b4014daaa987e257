import { execFileSync } from 'node:child_process';
import { chownSync, lchownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

const isRoot = process.getuid?.() === 0;
const STRANGER = 4321;
const NOTHING = 'rules:\n  - files: "*"\n    key: app\n    except: "*"\n';

/** A directory with rules of another user above the one that commands run in. */
async function belowForeignRules(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  here.write('.coffer.yaml', NOTHING);
  chownSync(here.file('.coffer.yaml'), STRANGER, STRANGER);
  here.write('work/app.env', 'A=secret\n');
  return here;
}

/** Sets a variable of this process for one test. */
function variable(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  onTestFinished(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

it.runIf(isRoot)(
  'a repository of another user is said to be that, with the command that makes git use it',
  async () => {
    const here = await DirectoryHere.withStore();
    execFileSync('git', ['init', '-q', here.path]);
    chownSync(here.path, STRANGER, STRANGER);
    variable('HOME', here.path);
    const told = `git does not use ${here.path}, which belongs to another user (if you trust that user, run "git config --global --add safe.directory '${here.path}'")`;
    for (const line of ['secrets check --staged', 'secrets git-setup'])
      expect(await here.refused(line, 1)).toContain(told);
    execFileSync('git', ['config', '--global', '--add', 'safe.directory', here.path]);
    await here.ok('secrets check --staged');
  },
);

describe.runIf(isRoot)('rules of another user in a directory above', () => {
  it('are not followed, which one line says, and values are encrypted as without them', async () => {
    const here = await belowForeignRules();
    const { exitCode, err } = await here.run('secrets encrypt --key app work/app.env');
    expect({ exitCode, err }).toEqual({
      exitCode: 0,
      err: expect.stringMatching(
        /^coffer: warning: \.coffer\.yaml belongs to another user and is ignored \(.*\)\n$/,
      ) as string,
    });
    expect(here.read('work/app.env')).toMatch(/^A=coffer:app:/);
    await here.ok('secrets set work/app.env B other');
    expect(here.read('work/app.env')).toMatch(/\nB=coffer:app:/);
    here.write('work/app.env', 'A=secret\n');
    expect((await here.run('secrets check work/app.env')).exitCode).toBe(1);
    expect(await here.refused('secrets encrypt work/app.env', 2)).toContain('no key given');
  });

  it('are not followed as a link of theirs to a file of ours', async () => {
    const here = await belowForeignRules();
    rmSync(here.file('.coffer.yaml'));
    here.write('mine.yaml', NOTHING);
    symlinkSync('mine.yaml', here.file('.coffer.yaml'));
    lchownSync(here.file('.coffer.yaml'), STRANGER, STRANGER);
    await here.ok('secrets encrypt --key app work/app.env');
    expect(here.read('work/app.env')).toMatch(/^A=coffer:app:/);
  });

  it('are followed when they are those of the user who became root, or when safe.directory names the place', async () => {
    const here = await belowForeignRules();
    const left = /A value of work\/app\.env stays readable, as \.coffer\.yaml says\.\n$/;
    variable('GIT_CONFIG_GLOBAL', here.file('gitconfig'));
    here.write('gitconfig', `[safe]\n\tdirectory = *\n\tdirectory =\n`);
    expect((await here.run('secrets encrypt --key app work/app.env')).err).toContain('is ignored');
    for (const entry of ['*', here.path, `${join(here.path, '..')}/*`]) {
      here.write('work/app.env', 'A=secret\n');
      here.write('gitconfig', `[safe]\n\tdirectory = ${entry}\n`);
      expect((await here.run('secrets encrypt --key app work/app.env')).err).toMatch(left);
    }
    // As git has it, what lies below, and not the directory itself.
    here.write('gitconfig', `[safe]\n\tdirectory = ${here.path}/*\n`);
    here.write('work/app.env', 'A=secret\n');
    expect((await here.run('secrets encrypt --key app work/app.env')).err).toContain(
      `git config --global --add safe.directory '${here.path}')`,
    );
    here.write('work/app.env', 'A=secret\n');
    here.write('gitconfig', '');
    variable('SUDO_UID', String(STRANGER));
    expect((await here.run('secrets encrypt --key app work/app.env')).err).toMatch(left);
    expect(here.read('work/app.env')).toBe('A=secret\n');
  });

  it('hang no command as a pipe', async () => {
    const here = await belowForeignRules();
    rmSync(here.file('.coffer.yaml'));
    execFileSync('mkfifo', [here.file('.coffer.yaml')]);
    chownSync(here.file('.coffer.yaml'), STRANGER, STRANGER);
    await here.ok('secrets encrypt --key app work/app.env');
    expect(here.read('work/app.env')).toMatch(/^A=coffer:app:/);
  });
});

describe('rules', () => {
  it('are a plain file, and nothing that a command would wait for', async () => {
    const here = await DirectoryHere.withStore();
    here.write('app.env', 'A=secret\n');
    execFileSync('mkfifo', [here.file('.coffer.yaml')]);
    expect(await here.refused('secrets encrypt --key app app.env', 2)).toContain(
      '.coffer.yaml is not a regular file',
    );
    rmSync(here.file('.coffer.yaml'));
    mkdirSync(here.file('.coffer.yaml'));
    expect(await here.refused('secrets check', 2)).toContain('.coffer.yaml is not a regular file');
  });

  it('have up to 1 MiB, and not a byte more', async () => {
    const here = await DirectoryHere.withStore();
    here.write('app.env', 'A=secret\n');
    const text = 'rules:\n  - files: "*"\n    key: app\n';
    here.write('.coffer.yaml', text + '#'.repeat(2 ** 20 - text.length));
    await here.ok('secrets encrypt app.env');
    here.write('app.env', 'A=secret\n');
    here.write('.coffer.yaml', text + '#'.repeat(2 ** 20 + 1 - text.length));
    expect(await here.refused('secrets encrypt app.env', 2)).toBe(
      'coffer: .coffer.yaml is larger than 1 MiB',
    );
    expect(here.read('app.env')).toBe('A=secret\n');
  });

  it('leave readable what they leave readable, which is said to whoever names a key', async () => {
    const here = await DirectoryHere.withStore();
    here.write('.coffer.yaml', 'rules:\n  - files: "*"\n    key: app\n    except: "*_USER"\n');
    here.write('app.env', 'A=secret\nB_USER=x\nC_USER=y\n');
    const { err } = await here.run('secrets encrypt --key app app.env');
    expect(err).toBe('2 values of app.env stay readable, as .coffer.yaml says.\n');
    expect((await here.run('secrets encrypt app.env')).err).toBe('');
  });
});

describe('a link out of a repository', () => {
  const LINES = [
    'secrets encrypt --key app clone/app.env',
    'secrets set --key app clone/app.env B x',
    'secrets unset clone/app.env A',
    'secrets encrypt --key app clone/below/app.env',
    'edit clone/app.env',
  ];

  it.each(LINES)('has nothing written through it: %s', async (line) => {
    const here = await DirectoryHere.withStore({ EDITOR: 'false' });
    here.write('elsewhere/app.env', 'A=secret\n');
    mkdirSync(here.file('clone/.git'), { recursive: true });
    symlinkSync('../elsewhere/app.env', here.file('clone/app.env'));
    symlinkSync('../elsewhere', here.file('clone/below'));
    expect(await here.refused(line, 2)).toMatch(
      /app\.env links to a file outside the repository, .*\/elsewhere\/app\.env/,
    );
    expect(here.read('elsewhere/app.env')).toBe('A=secret\n');
  });

  it('is one also where it leads into another repository', async () => {
    const here = await DirectoryHere.withStore();
    here.write('other/app.env', 'A=secret\n');
    mkdirSync(here.file('other/.git'));
    mkdirSync(here.file('clone/.git'), { recursive: true });
    symlinkSync('../other', here.file('clone/below'));
    expect(await here.refused('secrets encrypt --key app clone/below/app.env', 2)).toContain(
      'links to a file outside',
    );
    expect(here.read('other/app.env')).toBe('A=secret\n');
    await here.ok('secrets encrypt --key app other/app.env');
    expect(here.read('other/app.env')).toMatch(/^A=coffer:/);
  });

  it('has no template written through it', async () => {
    const here = await DirectoryHere.withStore();
    here.write('elsewhere/profile', 'mine\n');
    here.write('clone/t', 'theirs\n');
    mkdirSync(here.file('clone/.git'));
    symlinkSync('../elsewhere/profile', here.file('clone/made'));
    const inject = 'secrets inject --force --in clone/t --out';
    expect(await here.refused(`${inject} clone/made`, 2)).toContain('links to a file outside the repository');
    expect(here.read('elsewhere/profile')).toBe('mine\n');
    for (const out of ['elsewhere/profile', 'clone/plain']) {
      await here.ok(`${inject} ${out}`);
      expect(here.read(out)).toBe('theirs\n');
    }
  });

  it('is none within it, and none where there is no repository', async () => {
    const here = await DirectoryHere.withStore();
    here.write('plain/real.env', 'A=secret\n');
    symlinkSync('real.env', here.file('plain/app.env'));
    here.write('clone/real.env', 'A=secret\n');
    mkdirSync(here.file('clone/.git'));
    symlinkSync('real.env', here.file('clone/app.env'));
    await here.ok('secrets encrypt --key app plain/app.env clone/app.env');
    for (const name of ['plain', 'clone']) expect(here.read(`${name}/real.env`)).toMatch(/^A=coffer:/);
  });
});

describe('a template', () => {
  async function withTemplate(reference: string): Promise<DirectoryHere> {
    const here = await DirectoryHere.withStore();
    here.write('outside/app.env', 'A=secret\n');
    here.write('clone/near/app.env', 'A=near\n');
    mkdirSync(here.file('clone/.git'));
    mkdirSync(here.file('clone/templates'));
    symlinkSync('../../outside/app.env', here.file('clone/templates/link.env'));
    symlinkSync('../../outside', here.file('clone/templates/below'));
    const text = reference.replace('ROOT', here.path);
    writeFileSync(here.file('clone/templates/t'), `x {{ coffer:${text}#A }}\n`);
    return here;
  }

  it.each([
    'ROOT/outside/app.env',
    '../../outside/app.env',
    'link.env',
    'below/app.env',
    '../../missing.env',
  ])('reads nothing beyond its repository, unless it is allowed to: %s', async (reference) => {
    const here = await withTemplate(reference);
    const inject = 'secrets inject --in clone/templates/t';
    const refused = await here.refused(inject, 2);
    expect(refused).toMatch(/^coffer: clone\/templates\/t:1: .* is outside the repository .*--allow DIR/);
    if (reference.includes('missing')) return;
    expect(await here.ok(`${inject} --allow outside`)).toBe('x secret');
    expect(await here.refused(`${inject} --allow clone`, 2)).toContain('is outside');
  });

  it('reads nothing beyond its repository by a link with ".." behind it', async () => {
    const here = await withTemplate('ROOT/clone/templates/deep/../app.env');
    mkdirSync(here.file('outside/deep'));
    symlinkSync('../../outside/deep', here.file('clone/templates/deep'));
    const inject = 'secrets inject --in clone/templates/t';
    expect(await here.refused(inject, 2)).not.toContain('secret');
    here.write('clone/templates/app.env', 'A=near\n');
    expect(await here.ok(inject)).toBe('x near');
  });

  it('reads what its repository has, wherever it lies', async () => {
    const here = await withTemplate('../near/app.env');
    expect(await here.ok('secrets inject --in clone/templates/t')).toBe('x near');
  });

  it('reads what lies in or below its directory where there is no repository, also from standard input', async () => {
    const here = await withTemplate('x');
    rmSync(here.file('clone/.git'), { recursive: true });
    here.write('clone/t', '{{ coffer:near/app.env#A }}\n');
    here.write('clone/bad', '{{ coffer:../outside/app.env#A }}\n');
    expect(await here.ok('secrets inject --in clone/t')).toBe('near');
    expect(await here.refused('secrets inject --in clone/bad', 2)).toContain('is outside');
    const input = '{{ coffer:clone/near/app.env#A }}\n';
    expect(await here.ok('secrets inject', { input })).toBe('near');
    expect(await here.refused('secrets inject', 2, { input: '{{ coffer:/etc/x.env#A }}\n' })).toContain(
      'is outside',
    );
  });
});
