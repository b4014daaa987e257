import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WITHIN } from './agent-target.ts';
import { placeWithMemory as place, runtimeOf, scriptedEditor, writeSecret } from './edited.ts';
import { binary, type Place, type Result } from './harness.ts';

const ENV = '# about\nexport A="one"  # first\nB=two\n\nPLAIN=3\n';

/** What edits and programs have left in memory. */
const leftIn = (here: Place): readonly string[] =>
  readdirSync(runtimeOf(here), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.split('/').length === 2)
    .sort();

const edit = (here: Place, script: string, ...words: readonly string[]): Promise<Result> =>
  here.run(['edit', ...(words.length === 0 ? ['app.env'] : words)], {
    environment: scriptedEditor(here, script),
  });

const read = (here: Place, name = 'app.env'): string => readFileSync(here.file(name), 'utf8');

/** The file as an editor shows it. */
async function shown(here: Place, name = 'app.env'): Promise<string> {
  expect(await edit(here, `cp "$1" '${here.file('shown')}'`, name)).toMatchObject({ exitCode: 0 });
  return readFileSync(here.file('shown'), 'utf8');
}

describe('coffer edit', () => {
  it('makes a file that is not there, encrypts what the rules want, and shows it again as it was typed', async () => {
    const here = await place();
    for (const [name, text] of Object.entries({
      'app.env': ENV,
      'app.yaml': '# top\na:   {b: "x",  plain: 1}   # c\nlist:\n  - 5432\n  - |\n    two\n    lines\n',
      'app.json': '{"a": ["x", 1, true],\n  "plain": "y"}\n',
    })) {
      await writeSecret(here, name, text);
      expect(read(here, name)).not.toMatch(/one|two|"x"|5432/);
      expect(read(here, name)).toMatch(/PLAIN=3|plain: 1|"plain": "y"/);
      expect(await shown(here, name)).toBe(text);
    }
    expect(leftIn(here)).toEqual([]);
  });

  it('keeps every byte of what was not changed', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    const before = read(here).split('\n');
    expect(await edit(here, `sed -i 's/two/zwei/; $a NEW=fresh' "$1"`)).toMatchObject({
      exitCode: 0,
      stderr: 'Wrote app.env.\n',
    });
    const after = read(here).split('\n');
    expect(after.map((line, at) => (line === before[at] ? 'same' : line.replace(/:[^:]+$/, '')))).toEqual([
      ...['same', 'same', 'B=coffer:app:v1', 'same', 'same'],
      'NEW=coffer:app:v1',
      '',
    ]);
    expect(await shown(here)).toBe(`${ENV.replace('two', 'zwei')}NEW=fresh\n`);
  });

  it('warns of new values that no rule has encrypted, and of no others', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    const outside = 'other.env';
    rmSync(here.file('.coffer.yaml'));
    const adding = (name: string) => edit(here, `printf '%s\\n' ${name}=fresh >> "$1"`, outside);
    const warning = (names: string) =>
      `coffer: warning: no rule in .coffer.yaml is for ${outside}, so these values are not encrypted: ${names} (run "coffer secrets encrypt ${outside} --key KEY")\nWrote ${outside}.\n`;
    expect(await adding('NEW')).toMatchObject({ exitCode: 0, stderr: warning('NEW') });
    expect(await adding('LATER')).toMatchObject({ exitCode: 0, stderr: warning('LATER') });
    const changing = `sed -i 's/fresh/other/' "$1"`;
    expect((await edit(here, changing, outside)).stderr).toBe(`Wrote ${outside}.\n`);
  });

  it('says when nothing was changed, and does not touch the file', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    const before = read(here);
    expect((await edit(here, 'true')).stderr).toBe('No changes made.\n');
    expect((await edit(here, `sed -i s/two/2/ "$1"; sed -i s/2/two/ "$1"`)).stderr).toBe(
      'No changes made.\n',
    );
    expect(read(here)).toBe(before);
  });

  it('shows the plaintext in a private directory in memory, under the name of the file, to an editor without our secrets', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    const script = `{ stat -c %a "$1" "$(dirname "$1")"; stat -f -c %T "$1"; basename "$1"; env; } > '${here.file('seen')}'`;
    await edit(here, script);
    const seen = readFileSync(here.file('seen'), 'utf8');
    expect(seen.split('\n').slice(0, 4)).toEqual(['600', '700', 'tmpfs', 'app.env']);
    expect(seen).toContain('COFFER_STORE=');
    expect(seen).not.toContain('COFFER_MASTER_KEY');
  });

  it('takes the words of VISUAL before those of EDITOR, as the shell reads them', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    const environment = { EDITOR: 'false', VISUAL: `sed -i -e 's/two/a b/'` };
    await here.ok('edit app.env', { environment });
    expect(await shown(here)).toContain('B=a b\n');
  });

  it('tells Vim to leave nothing elsewhere, whatever it is called', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    writeFileSync(here.file('vim.basic'), `#!/bin/sh\nprintf '%s|' "$@" > '${here.file('seen')}'\n`, {
      mode: 0o755,
    });
    symlinkSync(here.file('vim.basic'), here.file('vi'));
    await here.ok('edit app.env', {
      environment: { EDITOR: 'vi', PATH: `${here.directory}:${here.environment()['PATH']}` },
    });
    expect(readFileSync(here.file('seen'), 'utf8')).toMatch(
      /^-n\|-i\|NONE\|-c\|silent! set noundofile nobackup nowritebackup\|\/\S+\/app\.env\|$/,
    );
  });

  it('starts no editor that the user has not chosen without a terminal, where it would wait forever', async () => {
    const here = await place();
    expect(await here.refused('edit app.env', 2, { environment: { EDITOR: undefined } })).toBe(
      'coffer: no editor is set, and standard input is not a terminal (set EDITOR, or change one value with "coffer secrets set app.env NAME")',
    );
  });

  it('refuses an editor that comes back before its window is closed', async () => {
    const here = await place();
    const refused = await here.refused('edit app.env', 2, { environment: { EDITOR: 'code' } });
    expect(refused).toContain('set it to "code --wait"');
  });

  it('follows a link to the file, and keeps the rights of that', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    spawnSync('chmod', ['640', here.file('app.env')]);
    symlinkSync('app.env', here.file('link.env'));
    expect(await edit(here, `sed -i s/two/2/ "$1"`, 'link.env')).toMatchObject({ exitCode: 0 });
    expect(
      spawnSync('stat', ['-c', '%F %a', here.file('link.env'), here.file('app.env')], { encoding: 'utf8' })
        .stdout,
    ).toBe('symbolic link 777\nregular file 640\n');
    expect(await shown(here)).toContain('B=2\n');
  });
});

/* What an edit leaves belongs to its process, and is taken up when that has ended. */

describe('a coffer edit that fails', () => {
  it('keeps the text in memory, says where, and goes on with it when it is asked to', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    const before = read(here);
    const failed = await edit(here.spawned, `echo 'no value here' >> "$1"`);
    expect(failed.exitCode).toBe(2);
    expect(failed.stderr).toMatch(
      /^coffer: app\.env:6: [^;]+; your changes are saved in (\S+) \(run "coffer edit --resume app\.env" to continue\)\n$/,
    );
    expect(read(here)).toBe(before);
    expect(await here.refused('edit app.env', 1, { environment: { EDITOR: 'true' } })).toContain('--resume');
    expect(await edit(here, `sed -i 's/no value here/N=typed/' "$1"`, '--resume', 'app.env')).toMatchObject({
      exitCode: 0,
    });
    expect(await shown(here)).toBe(`${ENV}N=typed\n`);
    expect(leftIn(here)).toEqual([]);
  });

  it('can be dropped', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    await edit(here.spawned, `echo 'no value here' >> "$1"`);
    expect(await edit(here, 'true', '--discard', 'app.env')).toMatchObject({
      exitCode: 0,
      stderr: 'No changes made.\n',
    });
    expect(leftIn(here)).toEqual([]);
  });

  it('because the editor was not found names the variable for it', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    expect(await edit(here, 'exit 127')).toMatchObject({
      exitCode: 1,
      stderr:
        'coffer: the editor exited with exit code 127; nothing was written (if it was not found, set EDITOR to the editor that you use)\n',
    });
  });

  it.each([
    ['fails', 'exit 3', 'exit code 3'],
    ['is killed', 'kill -9 $$', 'SIGKILL'],
  ])('because the editor %s changes nothing and keeps what was typed', async (_, end, how) => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    const before = read(here);
    const failed = await edit(here, end);
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toMatch(
      new RegExp(`coffer: the editor exited with ${how}; nothing was written\n$`),
    );
    expect(leftIn(here)).toEqual([]);
    const { stderr } = await edit(here, `sed -i s/two/typed/ "$1"; ${end}`);
    expect(readFileSync(/saved in (\S+)/.exec(stderr)?.[1] ?? '', 'utf8')).toContain('B=typed\n');
    expect(read(here)).toBe(before);
  });

  it('because the file can not be written keeps what was typed', async () => {
    const here = await place();
    mkdirSync(here.file('inner'));
    await writeSecret(here, 'inner/app.env', ENV);
    const failed = await edit(
      here.spawned,
      `sed -i s/two/typed/ "$1"; mv '${here.file('inner')}' '${here.file('away')}'`,
      'inner/app.env',
    );
    expect(failed.exitCode).not.toBe(0);
    expect(failed.stderr).toContain('run "coffer edit --resume inner/app.env" to continue');
    renameSync(here.file('away'), here.file('inner'));
    expect(await edit(here, 'true', '--resume', 'inner/app.env')).toMatchObject({ exitCode: 0 });
    expect(await shown(here, 'inner/app.env')).toContain('B=typed\n');
  });

  it('because a value can not be opened names it, and starts no editor', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    writeFileSync(here.file('app.env'), read(here).replace('B=', 'MOVED='));
    const refused = await here.refused('edit app.env', 4, {
      environment: scriptedEditor(here, `touch '${here.file('ran')}'`),
    });
    expect(refused).toContain('app.env:3: MOVED: ');
    expect(existsSync(here.file('ran'))).toBe(false);
    expect(leftIn(here)).toEqual([]);
  });

  it('because it was killed leaves a directory that the next one removes, and keeps a text that was typed', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    await killed(here, `touch '${here.file('ready')}'; sleep 60`);
    expect(leftIn(here)).toHaveLength(1);
    expect(await shown(here)).toBe(ENV);
    expect(leftIn(here)).toEqual([]);
    await killed(here, `sed -i s/two/typed/ "$1"; touch '${here.file('ready')}'; sleep 60`);
    expect(await here.refused('edit app.env', 1, { environment: { EDITOR: 'true' } })).toContain(
      'has an unsaved edit',
    );
    expect(await edit(here, 'true', '--resume', 'app.env')).toMatchObject({ exitCode: 0 });
    expect(await shown(here)).toContain('B=typed\n');
  });

  it('by a signal removes the plaintext', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', ENV);
    const child = await editing(here, `touch '${here.file('ready')}'; exec sleep 60`);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
    expect(leftIn(here)).toEqual([]);
  });
});

describe('two edits of one file', () => {
  it('are merged, neighbouring values, too, when they changed different ones', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', 'A=1\nB=2\nC=3\n');
    expect(
      (await edit(here, `${meanwhile(here, 's/B=2/B=theirs/')}sed -i 's/A=1/A=mine/' "$1"`)).stderr,
    ).toContain('app.env was changed while you edited it; both changes were merged.\n');
    expect(await shown(here)).toBe('A=mine\nB=theirs\nC=3\n');
  });

  it('come back to the editor, with both texts, when they changed the same value', async () => {
    const here = await place();
    await writeSecret(here, 'app.env', 'A=1\nB=2\n');
    const solve = `if grep -q '<<<<' "$1"; then cp "$1" '${here.file('conflict')}'; printf 'A=both\\nB=2\\n' > "$1"; exit; fi\n`;
    expect(
      await edit(here, `${solve}${meanwhile(here, 's/A=1/A=theirs/')}sed -i s/A=1/A=mine/ "$1"`),
    ).toMatchObject({ exitCode: 0 });
    expect(readFileSync(here.file('conflict'), 'utf8')).toBe(
      '<<<<<<< your text\nA=mine\n=======\nA=theirs\n>>>>>>> app.env\nB=2\n',
    );
    expect(await shown(here)).toBe('A=both\nB=2\n');
  });
});

/** What a script does to let somebody else edit the file, too. */
const meanwhile = (here: Place, change: string): string =>
  `COFFER_MASTER_KEY='${here.environment()['COFFER_MASTER_KEY']}' EDITOR="sed -i '${change}'" '${process.execPath}' '${binary}' edit -q app.env\n`;

/** An edit whose editor has come to its `ready`. */
async function editing(here: Place, script: string) {
  rmSync(here.file('ready'), { force: true });
  const child = spawn(process.execPath, [binary, 'edit', 'app.env'], {
    cwd: here.directory,
    env: here.environment(scriptedEditor(here, script)),
    stdio: 'ignore',
    detached: true,
  });
  onTestFinished(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  });
  await vi.waitUntil(() => existsSync(here.file('ready')), WITHIN);
  return child;
}

/** The command and its editor, killed at once. */
async function killed(here: Place, script: string): Promise<void> {
  const child = await editing(here, script);
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await once(child, 'exit');
}
