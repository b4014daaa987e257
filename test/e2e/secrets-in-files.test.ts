import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, onTerminal, unwrapped } from './terminal.ts';
import { typedAt } from './typed.ts';

let here: Place;
/** No store and no key. */
let bare: Place;

const write = (name: string, text: string): void => writeFileSync(here.file(name), text);
const read = (name: string): string => readFileSync(here.file(name), 'utf8');
const git = async (...args: string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await here.shell(`git ${args.join(' ')}`);
  expect({ args, exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return stdout;
};

beforeAll(async () => {
  here = emptyPlace({
    COFFER_MASTER_KEY: MASTER_KEY,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  });
  bare = here.with({ COFFER_MASTER_KEY: undefined, COFFER_STORE: here.file('nowhere') });
  await here.ok('init');
  await here.ok('transit keys create app');
  await here.ok('transit keys create other');
  await here.ok('mounts add team');
  await here.ok('transit keys create billing --mount team');
});
afterAll(() => removePlace(here));
beforeEach(() => {
  for (const name of readdirSync(here.directory))
    if (name !== 'store') rmSync(here.file(name), { recursive: true });
});

describe('the rules of .coffer.yaml', () => {
  const RULES = `rules:
  - files: "*.yaml"
    key: app
    only: [password, "db.*"]
    except: db.host
  - files: ["*.env", secrets.conf]
    key: other
    format: dotenv
`;

  it('say which values are encrypted with which key, from the directory of the file upwards', async () => {
    write('.coffer.yaml', RULES);
    mkdirSync(here.file('a/b'), { recursive: true });
    write('a/b/c.yaml', 'db: {host: h, user: u}\nx: {password: p, name: n}\n');
    write('a/secrets.conf', 'A=1\n');
    await here.ok('secrets encrypt a/b/c.yaml a/secrets.conf');
    expect(read('a/b/c.yaml')).toMatch(
      /^db: \{host: h, user: "coffer:app:\S+"\}\nx: \{password: "coffer:app:\S+", name: n\}\n$/,
    );
    expect(read('a/secrets.conf')).toMatch(/^A=coffer:other:/);
  });

  it('end at the top of a repository', async () => {
    write('.coffer.yaml', RULES);
    mkdirSync(here.file('inner/.git'), { recursive: true });
    write('inner/x.env', 'A=1\n');
    expect(await here.refused('secrets encrypt inner/x.env', 2)).toContain(
      'no key given to encrypt inner/x.env',
    );
  });

  it('leave a value that is set readable, if they say so, and tell it', async () => {
    write('.coffer.yaml', RULES);
    write('c.yaml', 'db:\n  host: h\n');
    expect((await here.run('secrets set c.yaml db.host new')).stderr).toBe(
      'db.host is not encrypted: .coffer.yaml leaves it readable.\n',
    );
    await here.ok('secrets set c.yaml db.user me');
    expect(read('c.yaml')).toMatch(/^db:\n {2}host: new\n {2}user: coffer:app:\S+\n$/);
  });

  it('are refused with file, line and member where they are wrong', async () => {
    write('.coffer.yaml', 'rules:\n  - files: x\n    keys: app\n');
    write('x', 'A=1');
    for (const command of ['encrypt', 'check']) {
      expect(await bare.refused(['secrets', command, 'x'], 2)).toContain(
        'coffer: .coffer.yaml:3: unknown setting rules.0.keys',
      );
    }
  });
});

describe('a rule with a misspelt key', () => {
  const encrypt = { line: 'secrets encrypt x.env', input: '' };
  const set = { line: 'secrets set x.env A', input: '2' };

  it.each([encrypt, set])('brings up the key that was meant: $line', async ({ line, input }) => {
    write('x.env', 'A=1\n');
    for (const [key, mount, said] of [
      [
        'othre',
        'transit',
        'did you mean "other"? correct the name in the rule, or check that this is the right store',
      ],
      ['unlike', 'transit', 'check that this is the right store, or run "coffer transit keys create unlike"'],
      [
        'billnig',
        'team',
        'did you mean "billing"? correct the name in the rule, or check that this is the right store',
      ],
    ]) {
      write('.coffer.yaml', `rules:\n  - files: x.env\n    key: ${key}\n    mount: ${mount}\n`);
      const { exitCode, stderr } = await here.run(line, { input });
      expect({ exitCode, stderr }).toEqual({
        exitCode: 3,
        stderr: `coffer: no key "${key}" in mount "${mount}" (${said})\n`,
      });
    }
  });
});

describe('a check for what should be encrypted and is not', () => {
  it('needs neither store nor key, and prints file, line and name', async () => {
    write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n    except: "PUBLIC_*"\n');
    mkdirSync(here.file('deep'));
    write('deep/a.env', '# c\nPUBLIC_URL=x\nEMPTY=\nTOKEN=t\n');
    write('other.txt', 'TOKEN=t\n');
    const found = await bare.run('secrets check');
    expect(found).toMatchObject({ exitCode: 1, stdout: 'deep/a.env:4:TOKEN\n' });
    expect(found.stderr).toBe('coffer: a value should be encrypted (coffer secrets encrypt deep/a.env)\n');
    const shown = await typedAt(bare, `secrets check ${bare.file('deep/a.env')}`);
    expect(unwrapped(shown.stderr)).toContain(`(coffer secrets encrypt ${bare.file('deep/a.env')})`);
    write('clean.env', 'EMPTY=\n');
    expect((await typedAt(bare, `secrets check ${bare.file('clean.env')}`)).stderr).toBe(
      'Checked 1 file: no plaintext values that should be encrypted.\n',
    );
    expect(JSON.parse((await bare.run('secrets check -o json')).stdout)).toEqual({
      findings: [{ file: 'deep/a.env', line: 4, name: 'TOKEN' }],
    });
    await here.ok('secrets encrypt deep/a.env');
    expect(await bare.run('secrets check')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(existsSync(here.file('nowhere'))).toBe(false);
  });

  it('has one line for a name with several', async () => {
    write('a.json', '{"one\\ntwo": 1}');
    expect((await bare.run('secrets check a.json')).stdout).toBe('a.json:1:one\\u000atwo\n');
  });

  it('looks in a repository at what git does not ignore', async () => {
    await git('init', '-q');
    write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n');
    write('.gitignore', 'local.env\n');
    write('local.env', 'A=1\n');
    write('new.env', 'A=1\n');
    expect((await bare.run('secrets check')).stdout).toBe('new.env:1:A\n');
  });

  it("does not follow a link out of the repository, whose names are nobody's business in a log", async () => {
    mkdirSync(bare.file('inner'));
    write('outside.txt', 'PRIVATE=1\n');
    write('inner/.coffer.yaml', 'rules:\n  - {files: "*.env", key: app}\n');
    write('inner/real.env', 'A=1\n');
    symlinkSync('../outside.txt', bare.file('inner/out.env'));
    symlinkSync('real.env', bare.file('inner/in.env'));
    expect((await bare.shell('cd inner && git init -q . && coffer secrets check')).stdout).toBe(
      'in.env:1:A\nreal.env:1:A\n',
    );
  });

  it('takes no rules from a link out of the repository, and repeats nothing of what it leads to', async () => {
    mkdirSync(here.file('inner'));
    write('outside.txt', 'PRIVATE: [\n');
    write('inner/a.env', 'A=1\n');
    symlinkSync('../outside.txt', bare.file('inner/.coffer.yaml'));
    const refused = await bare.shell('cd inner && git init -q . && coffer secrets check');
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain(
      'coffer: .coffer.yaml links to a file outside the repository (replace the link with a copy of the file)\n',
    );
    write('inner/rules.yaml', 'rules:\n  - {files: "*.env", key: app}\n');
    expect(
      (await bare.shell('cd inner && ln -sf rules.yaml .coffer.yaml && coffer secrets check')).stdout,
    ).toBe('a.env:1:A\n');
  });

  it('looks with --staged at what would be committed, wherever it is started', async () => {
    await git('init', '-q');
    mkdirSync(here.file('sub'));
    write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n');
    write('sub/a b.env', 'A=1\n');
    write('unstaged.env', 'A=1\n');
    await git('add', '.coffer.yaml', "'sub/a b.env'");
    write('sub/a b.env', 'A=\n');
    write('.coffer.yaml', 'rules:\n  - files: nothing\n    key: app\n');
    const found = await bare.shell('cd sub && coffer secrets check --staged');
    expect(found).toMatchObject({ exitCode: 1, stdout: 'sub/a b.env:1:A\n' });
    expect(found.stderr).toContain("(coffer secrets encrypt 'a b.env' && git add 'a b.env')");
    await git('add', "'sub/a b.env'");
    expect(await bare.run('secrets check --staged')).toMatchObject({ exitCode: 0, stdout: '' });
    await git('commit', '-qm', 'one');
    write('sub/a b.env', 'A=2\n');
    expect(await bare.run('secrets check --staged')).toMatchObject({ exitCode: 0, stdout: '' });
    await git('add', '-A');
    await git('rm', '-q', '--cached', 'unstaged.env');
    write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n');
    await git('add', '.coffer.yaml');
    expect((await bare.run('secrets check --staged')).stdout).toBe('sub/a b.env:1:A\n');
  });

  it('fails for a file that can not be read, and looks at the others', async () => {
    write('.coffer.yaml', 'rules:\n  - files: ["*.yaml", "*.env"]\n    key: app\n');
    write('a.yaml', 'a: [\n');
    const only = await bare.run('secrets check');
    expect(only).toMatchObject({ exitCode: 2, stdout: '' });
    expect(only.stderr).toContain('coffer: a.yaml:2: invalid YAML: ');
    write('b.env', 'B=1\n');
    expect(await bare.run('secrets check')).toMatchObject({ exitCode: 1, stdout: 'b.env:1:B\n' });
  });

  it('asks for rules where there are none, and for a repository with --staged', async () => {
    expect(await bare.refused('secrets check', 2)).toContain(
      'no .coffer.yaml in this directory or its parents',
    );
    expect(await bare.refused('secrets check --staged', 1)).toContain('not a git working tree');
  });
});

describe('a file that was decrypted, changed and encrypted again', () => {
  it('differs from the last commit in the lines that were changed', async () => {
    await git('init', '-q');
    write('a.yaml', 'a: 1\nb: [x, "y"]\nc: |\n  text\n');
    await here.ok('secrets encrypt --key app a.yaml');
    const before = read('a.yaml');
    await git('add', 'a.yaml');
    await git('commit', '-qm', 'one');
    await here.ok('secrets decrypt a.yaml');
    write('a.yaml', read('a.yaml').replace('"y"', "'y'"));
    await here.ok('secrets encrypt --key app a.yaml');
    const now = read('a.yaml').split('\n');
    expect(before.split('\n').map((line, index) => line === now[index])).toEqual([true, false, true, true]);
    await here.ok('secrets decrypt a.yaml');
    await here.ok('secrets encrypt --key other a.yaml');
    expect(read('a.yaml')).not.toContain('coffer:app:');
  });
});

describe('a value that is set in a file that is not there', () => {
  it.each([
    ['a.env', 'TOKEN', /^TOKEN=coffer:app:\S+\n$/],
    ['a.yaml', 'db.token', /^db:\n {2}token: coffer:app:\S+\n$/],
    ['a.json', 'db.token', /^\{\n? *"db": \{\s*"token": "coffer:app:\S+"\s*\}\s*\}\n$/],
  ])('makes %s, for its owner alone', async (file, name, content) => {
    await here.ok(`secrets set --key app ${file} ${name} geheim`);
    expect(read(file)).toMatch(content);
    expect(statSync(here.file(file)).mode & 0o777).toBe(0o600);
    expect(await here.ok(`secrets get ${file} ${name}`)).toBe('geheim');
  });

  it('makes none where nobody says the key, or in a directory that is not there', async () => {
    expect(await here.refused('secrets set b.env TOKEN geheim', 2)).toContain(
      'no key given to encrypt b.env',
    );
    expect(existsSync(here.file('b.env'))).toBe(false);
    expect(await here.refused('secrets set --key app nowhere/b.env TOKEN geheim', 2)).toContain('nowhere');
  });
});

describe('a file that is encrypted in a hook', () => {
  it('keeps what the last commit has, though git says with variables where it is', async () => {
    await git('init', '-q');
    mkdirSync(here.file('sub'));
    write('sub/a.env', 'A=1\nB=2\n');
    await here.ok('secrets encrypt --key app sub/a.env');
    const [first] = read('sub/a.env').split('\n');
    await git('add', 'sub');
    await git('commit', '-qm', 'one');
    await here.ok('secrets decrypt sub/a.env');
    const { exitCode } = await here.shell('GIT_DIR=.git coffer secrets encrypt --key app sub/a.env');
    expect(exitCode).toBe(0);
    expect(read('sub/a.env').split('\n')[0]).toBe(first);
  });
});

describe('a file with secrets on the disk', () => {
  it('keeps its mode, and a symbolic link to it stays one', async () => {
    write('real.env', 'A=1\n');
    chmodSync(here.file('real.env'), 0o640);
    symlinkSync('real.env', here.file('link.env'));
    await here.ok('secrets encrypt --key app link.env');
    expect(lstatSync(here.file('link.env')).isSymbolicLink()).toBe(true);
    expect(read('real.env')).toMatch(/^A=coffer:app:/);
    expect(statSync(here.file('real.env')).mode & 0o7777).toBe(0o640);
  });

  it.runIf(process.getuid?.() === 0)('keeps its owner', async () => {
    write('a.env', 'A=1\n');
    await here.shell('chown 1234:4321 a.env && chmod 600 a.env');
    await here.ok('secrets encrypt --key app a.env');
    expect(statSync(here.file('a.env'))).toMatchObject({ uid: 1234, gid: 4321 });
    expect(statSync(here.file('a.env')).mode & 0o7777).toBe(0o600);
  });

  it('is not written over by who read it before somebody else changed it', async () => {
    write('a.env', 'A=1\n');
    await here.shell('mkfifo value');
    const child = spawn(
      process.execPath,
      [binary, 'secrets', 'set', 'a.env', 'A', '--key', 'app', '--in', 'value'],
      {
        cwd: here.directory,
        env: here.environment(),
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
    });
    // Opens when the command waits for the value, and has read the file.
    const value = await open(here.file('value'), 'w');
    write('a.env', 'A=theirs\n');
    await value.writeFile('mine\n');
    await value.close();
    expect(await ended).toBe(1);
    expect(stderr).toContain('a.env was changed by another process; nothing was written');
    expect(read('a.env')).toBe('A=theirs\n');
    expect(readdirSync(here.directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('stays as it was when there is no room for the new one', async () => {
    write('a.env', `A=${'x'.repeat(20_000)}\n`);
    const before = read('a.env');
    const full = await here.shell('ulimit -f 8; trap "" XFSZ; coffer secrets encrypt --key app a.env');
    expect(full.exitCode).toBe(1);
    expect(full.stderr).toMatch(/^coffer: cannot write a.env: [^\n]+\n$/);
    expect(read('a.env')).toBe(before);
    expect(readdirSync(here.directory).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('is refused by name when it is of no known format, too large, not UTF-8, or no file', async () => {
    write('notes.txt', 'A=1\n');
    expect(await here.refused('secrets encrypt --key app notes.txt', 2)).toContain(
      'cannot tell the format of notes.txt',
    );
    await here.ok('secrets encrypt --key app --format dotenv notes.txt');
    write('large.env', `A=${'x'.repeat(5_000_000)}`);
    expect(await here.refused('secrets encrypt --key app large.env', 2)).toContain(
      'large.env is larger than 1 MiB',
    );
    writeFileSync(here.file('latin.env'), Buffer.from('A=\xe4\n', 'latin1'));
    expect(await here.refused('secrets encrypt --key app latin.env', 2)).toContain('latin.env is not UTF-8');
    await here.shell('mkfifo pipe.env');
    expect(await here.refused('secrets encrypt --key app pipe.env', 2)).toContain('not a regular file');
  });

  it('is left alone where there is no store', async () => {
    write('a.env', 'A=1\n');
    expect(await bare.refused('secrets encrypt --key app a.env', 3)).toContain('no store in');
    await here.ok('secrets encrypt --key app a.env');
    const sealed = read('a.env');
    expect(await bare.refused('secrets decrypt a.env', 3)).toContain('no store in');
    expect(await bare.run('secrets set a.env A 2')).toMatchObject({ exitCode: 3 });
    expect(read('a.env')).toBe(sealed);
  });

  it('with a merge conflict in it is refused at its line', async () => {
    const text = 'A=1\n<<<<<<< ours\nB=1\n=======\nB=2\n>>>>>>> theirs\n';
    write('a.env', text);
    expect(await here.refused('secrets encrypt --key app a.env', 2)).toBe(
      'coffer: a.env:2: unresolved merge conflict (keep one of the sides, or parts of both, and delete the lines with the markers)',
    );
    expect(read('a.env')).toBe(text);
  });
});

describe.runIf(canUseTerminals)('a value that is set on a terminal', () => {
  it('is asked for, and not shown', async () => {
    write('a.env', 'A=1\n');
    const { text, exitCode } = onTerminal(here, 'coffer secrets set a.env A --key app', {
      steps: [['Value of A', 'hush hush\r']],
    });
    expect({ exitCode, isShown: text.includes('hush') }).toEqual({ exitCode: 0, isShown: false });
    expect((await here.run('secrets get a.env A')).stdout).toBe('hush hush');
  });
});
