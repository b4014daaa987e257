import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasProcessFiles } from '../hygiene/processes.ts';
import { isLong } from '../long.ts';
import { isGone, WITHIN } from './agent-target.ts';
import { placeWithMemory, runtimeOf, writeSecret } from './edited.ts';
import { binary, type Place } from './harness.ts';
import { madeOnce } from './kept-directory.ts';

const SECRET = 'geheim "1" $HOME';

const withSecret = madeOnce(
  async () => {
    const here = await placeWithMemory();
    await writeSecret(here, 'app.env', `export DB='${SECRET}'\nPLAIN=readable\nEMPTY=\nLINES="a\\nb"\n`);
    return here;
  },
  ({ directory }) => directory,
);

/** Where programs run beside the tests, for what they are given; in the long proof, in the place of the command. */
async function place(): Promise<Place> {
  const here = await withSecret();
  const runtime = runtimeOf(here);
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  onTestFinished(() => rmSync(runtime, { recursive: true, force: true }));
  return isLong ? here.spawned : here;
}

/** Where programs always take the place of the command, or it waits for them. */
const spawned = async (): Promise<Place> => (await place()).spawned;

/** A value of a file as it stands there, encrypted. */
const tokenOf = (here: Place, file: string, name: string): string =>
  new RegExp(`${name}=(coffer:\\S+)`).exec(readFileSync(here.file(file), 'utf8'))?.[1] ?? '';

/** What the program got of some variables, with lines around each. */
const got = (names: string): readonly string[] => [
  'sh',
  '-c',
  names
    .split(' ')
    .map((name) => `printf '[%s]' "$${name}"`)
    .join(';'),
];

describe('coffer exec', () => {
  it('gives a program the values of a file as they are meant, the readable ones, too', async () => {
    const here = await place();
    expect(await here.ok(['exec', '-f', 'app.env', '--', ...got('DB PLAIN EMPTY LINES')])).toBe(
      `[${SECRET}][readable][][a\nb]`,
    );
  });

  it.skipIf(process.platform === 'win32')('leaves the tests alive when a pipe of theirs breaks', async () => {
    await (await place()).run('exec -q true');
    process.kill(process.pid, 'SIGPIPE');
    expect(process.listenerCount('SIGPIPE')).toBeLessThan(2);
  });

  it('decrypts what its own environment has encrypted, without a file', async () => {
    const here = await place();
    const environment = { DB: tokenOf(here, 'app.env', 'DB'), OTHER: 'as it was' };
    expect(await here.ok(['exec', ...got('DB OTHER')], { environment })).toBe(`[${SECRET}][as it was]`);
  });

  it('names variables of YAML and JSON by their keys', async () => {
    const here = await place();
    await writeSecret(here, 'app.yaml', 'db:\n  pass-word: x\n  port: 5432\nlist: [a, b]\nnothing: null\n');
    await writeSecret(here, 'app.json', '{"api": {"key": "k\\n"}, "on": true}\n');
    const names = got('DB_PASS_WORD DB_PORT LIST_1 API_KEY ON NOTHING');
    expect(await here.ok(['exec', '-f', 'app.yaml', '-f', 'app.json', ...names])).toBe(
      '[x][5432][b][k\n][true][]',
    );
  });

  it('lets a later file win over an earlier one, and what is set already over both unless it is told otherwise', async () => {
    const here = await place();
    await writeSecret(here, 'later.env', 'DB=later\nMINE=file\n');
    const line = (...more: readonly string[]) => [
      'exec',
      '-f',
      'app.env',
      '-f',
      'later.env',
      ...more,
      ...got('DB MINE'),
    ];
    const environment = { MINE: 'set' };
    expect(await here.ok(line(), { environment })).toBe('[later][set]');
    expect(await here.ok(line('--overwrite'), { environment })).toBe('[later][file]');
  });

  it('takes only the variables that are asked for', async () => {
    const here = await place();
    expect(await here.ok(['exec', '-f', 'app.env', '--only', 'LINES', ...got('DB PLAIN LINES')])).toBe(
      '[][][a\nb]',
    );
    expect(await here.refused('exec -f app.env --only NOPE true', 3)).toContain(
      'NOPE is neither a value in the files',
    );
  });

  it('gives the program every word behind its name, whatever it looks like', async () => {
    const here = await place();
    const words = ['-f', '--only', '--', '-x', '--help', 'a b'];
    expect(await here.ok(['exec', '-q', 'printf', '%s|', ...words])).toBe(
      words.map((word) => `${word}|`).join(''),
    );
    expect(await here.ok(['exec', '--', 'printf', '%s|', ...words])).toBe(
      words.map((word) => `${word}|`).join(''),
    );
  });

  it('keeps the secrets of Coffer itself from the program', async () => {
    const here = await place();
    const environment = { COFFER_PASSPHRASE: 'p', COFFER_TOKEN: 't', COFFER_ORG: 'acme' };
    const names = 'COFFER_MASTER_KEY COFFER_PASSPHRASE COFFER_TOKEN COFFER_ORG';
    expect(await here.ok(['exec', ...got(names)], { environment })).toBe('[][][][acme]');
  });

  it('takes its place: same process, exit code, signals and streams', async () => {
    const here = await spawned();
    const child = spawn(
      process.execPath,
      [binary, 'exec', '-f', 'app.env', '--', 'sh', '-c', 'echo $$; cat; kill -TERM $$'],
      {
        cwd: here.directory,
        env: here.environment(),
      },
    );
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.stdin.end('typed');
    const [code, signal] = await once(child, 'close');
    expect(said).toBe(`${child.pid}\ntyped`);
    expect([code, signal]).toEqual([null, 'SIGTERM']);
    expect((await here.run(['exec', 'sh', '-c', 'exit 42'])).exitCode).toBe(42);
  });

  it('leaves no signal ignored or blocked that was not', async () => {
    const here = await spawned();
    const dispositions = ['exec', 'grep', '-E', '^Sig(Ign|Blk):', '/proc/self/status'];
    expect(await here.ok(dispositions)).toBe('SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000');
    expect((await here.shell('coffer exec yes | head -1')).stdout).toBe('y\n');
  });

  it('answers as shells do for a program that is not there or may not be run', async () => {
    const here = await spawned();
    expect(await here.refused('exec nope', 127)).toBe('coffer: nope: command not found');
    writeFileSync(here.file('plain'), '');
    expect(await here.refused('exec ./plain', 126)).toBe('coffer: ./plain: permission denied');
  });

  it('runs what execve takes only from a shell, and says why nothing can run the rest', async () => {
    const here = await spawned();
    const executable = (name: string, text: string | Buffer): string => {
      writeFileSync(here.file(name), text);
      chmodSync(here.file(name), 0o755);
      return `./${name}`;
    };
    expect(await here.ok(['exec', executable('bare', 'echo "bare $1"; exit 0'), 'x'])).toBe('bare x');
    expect(await here.ok(['exec', executable('script', '#!/bin/sh\necho "script $1"'), 'x'])).toBe(
      'script x',
    );
    expect(await here.refused(['exec', '-q', executable('lost', '#!/no/such\n')], 127)).toContain(
      'interpreter or loader',
    );
    if (hasProcessFiles) {
      const environment = here.environment()['COFFER_MASTER_KEY'];
      const shown = await here.ok(['exec', executable('waiting', 'tr "\\0" "\\n" < /proc/$PPID/environ')]);
      expect(shown).toContain('COFFER_STORE=');
      expect(shown).not.toContain(environment);
    }
    const loaderless = readFileSync(process.execPath).subarray(0, 8192);
    const at = loaderless.indexOf('/ld-');
    if (at > 0) loaderless.write('/xx-', at);
    const { stderr } = await here.run(['exec', executable('elf', loaderless)]);
    expect(stderr).toMatch(/^Nothing was decrypted, because no file was given\. [^\n]+\ncoffer: [^\n]+\n$/);
  });

  it('says of its own option after the program that options come first, and passes it on unchanged', async () => {
    const here = await place();
    expect(await here.run(['exec', 'echo', 'A', '-f', 'app.env'])).toMatchObject({
      exitCode: 0,
      stdout: 'A -f app.env\n',
      stderr:
        'Nothing was decrypted. Options of Coffer come before the command: coffer exec -f app.env -- echo A\n',
    });
  });

  it('starts nothing when one value can not be opened, and says which', async () => {
    const here = await place();
    const text = readFileSync(here.file('app.env'), 'utf8');
    writeFileSync(here.file('moved.env'), text.replace('DB=', 'PASSWORD='));
    const refused = await here.refused(['exec', '-f', 'moved.env', 'touch', 'started'], 4);
    expect(refused).toContain('moved.env:1: PASSWORD: ');
    expect(existsSync(here.file('started'))).toBe(false);
  });

  it('refuses a value that no variable can hold, without a word of the others', async () => {
    const here = await place();
    await here.ok('secrets set app.env NUL', { input: 'a\0b' });
    const environment = { A_FIRST: 'other-secret' };
    const { exitCode, stderr } = await here.run('exec -f app.env true', { environment });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        'coffer: app.env: NUL contains a NUL byte, which environment variables cannot hold (use --as-file NUL to pass it as a file)\n',
    });
    expect(
      (await here.spawned.run(['exec', '-f', 'app.env', '--as-file', 'NUL', '--', 'sh', '-c', 'cat "$NUL"']))
        .stdout,
    ).toBe('a\0b');
  });

  it('says what is too large for a variable', async () => {
    const here = await spawned();
    await here.ok('secrets set app.env BIG', { input: 'x'.repeat(1 << 18) });
    expect(await here.refused('exec -f app.env true', 126)).toMatch(
      /^coffer: cannot start \S+: arguments and environment are too large \(use --as-file BIG to pass its 262144 bytes as a file\)$/,
    );
    const line = 'exec -f app.env --as-file BIG -- sh -c';
    expect(await here.ok([...line.split(' '), 'wc -c < "$BIG"'])).toBe('262144');
  });

  it.runIf(process.platform === 'linux')(
    'fails as a shell does if the system refuses the start',
    async () => {
      const here = await spawned();
      // Each text of the environment has at most 128 KiB, with its name and a zero.
      for (const [bytes, exitCode] of [
        [(1 << 17) - 3, 0],
        [(1 << 17) - 2, 126],
      ] as const) {
        writeFileSync(here.file('large.env'), `A=${'x'.repeat(bytes)}\n`);
        const run = await here.run('exec -f large.env true');
        expect([bytes, run.exitCode]).toEqual([bytes, exitCode]);
      }
      const path = here.file('program');
      copyFileSync('/bin/true', path);
      const descriptor = openSync(path, 'a');
      expect(await here.refused('exec -q ./program', 126)).toContain('it is open for writing');
      closeSync(descriptor);
      expect((await here.run('exec -q ./program')).exitCode).toBe(0);
      for (const bytes of [300, 100, 20]) {
        truncateSync(path, bytes);
        expect(await here.refused('exec -q ./program', 126), String(bytes)).toContain('not an executable');
      }
    },
  );

  it('refuses two values that would become one variable', async () => {
    const here = await place();
    await writeSecret(here, 'two.yaml', 'db:\n  key: a\ndb-key: b\n');
    expect(await here.refused('exec -f two.yaml true', 2)).toContain(
      'db.key and db-key both map to the variable DB_KEY',
    );
  });

  it('hides values in the log of GitHub, line by line, and nowhere else', async () => {
    const here = await place();
    const line = ['exec', '-f', 'app.env', '--mask', 'github', 'true'];
    const { stdout, stderr } = await here.run(line, { environment: { GITHUB_ACTIONS: 'true' } });
    // Standard output may be the input of something else: > file, $(…).
    expect(stdout).toBe('');
    expect(stderr.split('\n').slice(0, -1)).toEqual([
      `::add-mask::${SECRET}`,
      '::add-mask::a%0Ab',
      '::add-mask::a',
      '::add-mask::b',
    ]);
    expect(await here.refused(line, 2)).toContain('not running in GitHub Actions');
    expect(await here.refused('exec --mask gitlab true', 2)).toContain('masked before the job starts');
  });
});

describe('coffer exec --as-file', () => {
  it('gives the path of a file in memory that only its owner can read, and that is gone afterwards', async () => {
    const here = await spawned();
    const script = 'printf "%s " "$LINES"; cat "$LINES"; stat -c " %a" -- "$LINES"; stat -f -c %T "$LINES"';
    const said = await here.ok([
      'exec',
      '-f',
      'app.env',
      '--as-file',
      'LINES',
      '--as-file',
      'LINES',
      'sh',
      '-c',
      script,
    ]);
    const [path = ''] = said.split(' ');
    expect(said.slice(path.length)).toBe(' a\nb 600\ntmpfs');
    // Not in the directory of the test, which may be in memory as well.
    expect(path.startsWith(`${runtimeOf(here)}/`)).toBe(true);
    expect(existsSync(path)).toBe(false);
  });

  it('passes on how the program ended', async () => {
    const here = await spawned();
    const line = (script: string) => ['exec', '-f', 'app.env', '--as-file', 'DB', '--', 'sh', '-c', script];
    expect((await here.run(line('exit 9'))).exitCode).toBe(9);
    expect(
      (
        await here.shell(
          `coffer ${line('kill -KILL $$')
            .map((word) => `'${word}'`)
            .join(' ')}`,
        )
      ).exitCode,
    ).toBe(128 + 9);
  });

  it('passes signals on to the program, ends as it does, and removes the file', async () => {
    const here = await spawned();
    const script = 'trap "exit 5" USR1; echo "$DB"; while :; do sleep 0.05; done';
    const [child, path] = await started(here, script);
    expect(existsSync(path)).toBe(true);
    child.kill('SIGUSR1');
    expect(await once(child, 'exit')).toEqual([5, null]);
    expect(existsSync(path)).toBe(false);
    const [other, second] = await started(here, 'echo "$DB"; while :; do sleep 0.05; done');
    other.kill('SIGTERM');
    expect(await once(other, 'exit')).toEqual([null, 'SIGTERM']);
    expect(existsSync(second)).toBe(false);
  });

  it.skipIf(!hasProcessFiles)('leaves after kill -9 only what the next one clears away', async () => {
    const here = await spawned();
    const [child, path] = await started(here, 'echo "$DB"; echo $$ > pid; while :; do sleep 0.05; done');
    child.kill('SIGKILL');
    await once(child, 'exit');
    // It may still be on its way to the line that writes this.
    const pid = await vi.waitUntil(() => {
      const text = existsSync(here.file('pid')) ? readFileSync(here.file('pid'), 'utf8') : '';
      return text.endsWith('\n') && Number(text);
    }, WITHIN);
    process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => isGone(pid), WITHIN);
    expect(existsSync(path)).toBe(true);
    await here.ok('exec -f app.env --as-file DB true');
    expect(existsSync(path)).toBe(false);
  });

  it('keeps the secrets of Coffer from showing in the process that waits', async () => {
    const here = await spawned();
    const [child] = await started(here, 'echo "$DB"; while :; do sleep 0.05; done');
    const shown = readFileSync(`/proc/${child.pid}/environ`, 'latin1');
    expect(shown).toContain('COFFER_STORE=');
    expect(shown).not.toContain(here.environment()['COFFER_MASTER_KEY']);
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it('refuses a name that no variable has', async () => {
    expect(await (await spawned()).refused('exec -f app.env --as-file NOPE true', 3)).toContain(
      'no variable NOPE',
    );
  });
});

/** A program that has printed the path of its file. */
async function started(here: Place, script: string) {
  const child = spawn(
    process.execPath,
    [binary, 'exec', '-f', 'app.env', '--as-file', 'DB', '--', 'sh', '-c', script],
    {
      cwd: here.directory,
      env: here.environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return [child, chunk.toString().trim()] as const;
}
