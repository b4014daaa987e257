import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

const committed = (shell: string): string =>
  fileURLToPath(new URL(`../../completions/coffer.${shell}`, import.meta.url));
const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

let bare: Place;
let here: Place;

beforeAll(async () => {
  bare = emptyPlace();
  here = bare.with({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'acme' });
  await here.ok('init');
  await here.ok('transit keys create orders');
  await here.ok('transit keys create refunds');
  await here.ok('orgs create acme');
  await here.ok('tags create env:prod env:test team:billing');
  await here.ok('workspaces create billing-prod');
  const home = here.environment()['HOME'] ?? '';
  mkdirSync(home, { recursive: true });
  for (const file of [here.file('app.env'), here.file('my own.env'), join(home, 'home.env')])
    writeFileSync(file, 'DB=a\nDSN=b\nMAIL=c\n');
});
afterAll(() => removePlace(bare));

/** What bash offers for a command line with the cursor at its end. */
function bashOffers(line: string, place = here): string[] {
  const script = `
    coffer() { ${JSON.stringify(process.execPath)} ${JSON.stringify(binary)} "$@"; }
    source ${JSON.stringify(committed('bash'))}
    COMP_LINE=${JSON.stringify(line)} COMP_POINT=${line.length}
    _coffer
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    cwd: place.directory,
    env: place.environment(),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter((word) => word !== '')
    .sort();
}

describe('completion scripts', () => {
  it.each(['bash', 'zsh', 'fish'])('for %s: what is printed is what is committed', async (shell) => {
    expect((await here.run(`completion ${shell}`)).stdout).toBe(readFileSync(committed(shell), 'utf8'));
  });

  it('are there for three shells only', async () => {
    expect(await here.refused('completion tcsh', 2)).toContain('bash, zsh, fish');
  });

  it.each(['bash', 'zsh', 'fish'])('for %s: the shell accepts it', (shell) => {
    if (!isInstalled(shell)) return;
    const flag = shell === 'fish' ? '--no-execute' : '-n';
    expect(spawnSync(shell, [flag, committed(shell)], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it.each([
    ['the commands', 'coffer st', ['status', 'store']],
    ['the commands of a group', 'coffer transit keys r', ['read', 'reinstate', 'revoke', 'rotate']],
    ['the options of a command', 'coffer transit keys trim orders --mi', ['--min-available-version']],
    ['the options of every command', 'coffer transit keys trim orders --ou', ['--out', '--output']],
    ['the words of an option', 'coffer transit keys create x --type ecdsa-p3', ['ecdsa-p384']],
    ['the words of an option with a short form', 'coffer -o j', ['json']],
    ['the words of an option after "="', 'coffer transit keys create x --type=ed', ['ed25519']],
    ['the names of keys', 'coffer transit encrypt ', ['orders', 'refunds']],
    ['the names of keys that begin so', 'coffer transit keys read re', ['refunds']],
    [
      'the names of keys behind an option and its value',
      'coffer transit encrypt --context eA== o',
      ['orders'],
    ],
    ['names of tags, the part after the colon alone', 'coffer tags attach env:', ['prod', 'test']],
    ['names of workspaces for an option', 'coffer tags attach env:prod --workspace b', ['billing-prod']],
    ['further arguments of the same kind', 'coffer tags delete env:prod team', ['team:billing']],
    ['organizations', 'coffer tags list --org a', ['acme']],
    ['the names of the values of a file', 'coffer secrets get app.env D', ['DB', 'DSN']],
    [
      'the names of the values of a file in the home directory',
      'coffer secrets get ~/home.env D',
      ['DB', 'DSN'],
    ],
    ['files whose names have blanks', 'coffer exec -f m', ['my own.env']],
    ['files whose names have blanks, also behind the blank', String.raw`coffer edit my\ o`, ['my own.env']],
    ['files right behind a blank in their names', 'coffer exec -f my\\ ', ['my own.env']],
    [
      'the names of the values of a file whose name has a blank',
      String.raw`coffer secrets get my\ own.env D`,
      ['DB', 'DSN'],
    ],
    ['the commands of a group that help is asked for', 'coffer help transit en', ['encrypt', 'envelope']],
    ['the commands of a group within that group', 'coffer help transit keys ro', ['rotate']],
    ['topics and commands to help alone', 'coffer help env', ['envelope-format', 'environment']],
    ['nothing behind a command that help is asked for', 'coffer help transit encrypt ', []],
    ['programs to run', 'coffer exec -f app.env -- printen', ['printenv']],
    ['files to a program that is run', 'coffer exec -f app.env -- printenv app', ['app.env']],
    ['the versions of a key', 'coffer transit encrypt orders --key-version ', ['1']],
    ['nothing for a text', 'coffer transit encrypt orders ', []],
  ])('for bash offer %s', (_, line, expected) => {
    expect([...new Set(bashOffers(line))]).toEqual(expected);
  });

  it('for fish offer commands to help, and programs to exec behind an option with a value', () => {
    if (!isInstalled('fish')) return;
    const offers = (line: string): readonly string[] => {
      const script = `source ${committed('fish')}; complete -C ${JSON.stringify(line)}`;
      const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { encoding: 'utf8' });
      return stdout.split('\n').flatMap((row) => row.split('\t')[0] || []);
    };
    expect(offers('coffer help transit en')).toEqual(['encrypt', 'envelope']);
    expect(offers('coffer help transit encrypt ')).toEqual([]);
    expect(offers('coffer exec -f app.env -- printen')).toEqual(['printenv']);
  });

  it('run nothing that stands in a name: bash gets it quoted, and so it stays when the line is entered', async () => {
    const name = '$(>ran)';
    writeFileSync(here.file('rules.hcl'), 'path "transit/*" { capabilities = ["read"] }');
    await here.ok(`policy write ${name} rules.hcl`);
    expect(bashOffers('coffer policy read ')).toEqual([String.raw`\$\(\>ran\)`, 'default', 'root']);
    expect(existsSync(here.file('ran'))).toBe(false);
  });

  it('offer no names, quickly and silently, while the store is locked', async () => {
    expect(bashOffers('coffer transit encrypt ', bare)).toEqual([]);
    expect(await bare.run('complete key --')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    const asking = bare.with({ COFFER_MASTER_KEY_COMMAND: 'touch asked' });
    await asking.run('complete key --');
    expect((await here.shell('ls asked')).exitCode).not.toBe(0);
  });

  it.each(['~', '$HOME'])('read a file of the home directory that is typed as %s', async (home) => {
    expect(await here.ok(`complete value -- coffer secrets get ${home}/home.env D`)).toBe('DB\nDSN\nMAIL');
  });

  it('look into the store that the line names', async () => {
    const other = here.with({ COFFER_STORE: here.file('other') });
    await other.ok('init');
    await other.ok('transit keys create elsewhere');
    expect(bashOffers(`coffer transit encrypt --store ${here.file('other')} `)).toEqual(['elsewhere']);
  });
});
