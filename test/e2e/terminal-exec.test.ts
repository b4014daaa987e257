import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { placeWithRules, writeSecret } from './edited.ts';
import type { Place } from './harness.ts';
import { canUseTerminals, NO_AGENT, onTerminal } from './terminal.ts';

async function place(): Promise<Place> {
  const here = await placeWithRules();
  await writeSecret(here, 'app.env', 'DB=geheim\n');
  return here;
}

/** Counts the signals that it gets, and ends by itself when it is told to. */
const COUNTER = `
import signal, sys, time
count = 0
def note(*_):
    global count
    count += 1
signal.signal(signal.SIGINT, note)
print("ready", flush=True)
end = time.monotonic() + 30
while time.monotonic() < end and count == 0: time.sleep(0.02)
time.sleep(0.5)
print("got", count, flush=True)
sys.exit(10 + count)
`;

describe.skipIf(!canUseTerminals)('coffer exec on a terminal', () => {
  it('says that nothing was decrypted, if no file is given and no variable is encrypted', async () => {
    const here = await place();
    const { text } = onTerminal(here, 'coffer exec -- echo hello');
    expect(text.replaceAll('\n', ' ')).toContain(
      'Nothing was decrypted, because no file was given. To use app.env: coffer exec -f app.env -- echo hello',
    );
    expect(text).toContain('hello');
    writeFileSync(here.file('.coffer.yaml'), '');
    expect(onTerminal(here, 'coffer exec -- true').text.replaceAll('\n', ' ')).toContain(
      'To use a file: coffer exec -f FILE -- true',
    );
  });

  it('gives the program the terminal', async () => {
    const { text, exitCode } = onTerminal(
      await place(),
      `coffer exec -f app.env -- sh -c 'test -t 0 && test -t 1 && read x && echo "$x $DB"'`,
      {
        steps: [['', 'typed\r']],
      },
    );
    expect(exitCode).toBe(0);
    expect(text).toContain('typed geheim\n');
  });

  it.each([
    ['the program in its place', ''],
    ['the program beside it', '--as-file DB'],
  ])('has Ctrl-C reach %s once, and end nothing else', async (_, option) => {
    const here = await place();
    writeFileSync(here.file('counter.py'), COUNTER);
    const { text, exitCode } = onTerminal(
      here,
      `trap : INT; coffer exec -f app.env ${option} -- python3 counter.py; echo "code $?"`,
      {
        steps: [['ready', '\u0003']],
      },
    );
    expect(exitCode).toBe(0);
    expect(text).toContain('got 1\ncode 11\n');
  });

  it.each([
    ['the program in its place', ''],
    ['the program beside it', '--as-file DB'],
  ])('lets %s be stopped and brought back', async (_, option) => {
    const here = await place();
    // The program waits in itself, in no child of its own: a shell that is just starting one can't be stopped before that one runs.
    const script = `set -m; trap '' INT; mkfifo go
coffer exec -f app.env ${option} -- sh -c 'echo ready; read word < go; echo "went on $DB"'
echo "stopped $?"; (echo word > go &); fg; echo "ended $?"`;
    const { text } = onTerminal(here, script, { steps: [['ready', '\u001a']] });
    expect(text).toMatch(/stopped 148\n/);
    expect(text).toMatch(/went on \S+\nended 0\n/);
  });

  it('says which variables of a file it left as they were set', async () => {
    const { text } = onTerminal(await place(), 'DB=mine coffer exec -f app.env -- true');
    expect(text).toBe('Already set in the environment and kept (use --overwrite to replace): DB\n');
  });

  it('asks for the passphrase first, and leaves the terminal as it was', async () => {
    const here = await place();
    await here.ok('slots add --passphrase', {
      environment: { COFFER_NEW_PASSPHRASE: 'correct horse battery' },
    });
    const { text, exitCode } = onTerminal(
      here.with({ COFFER_MASTER_KEY: undefined }),
      `before=$(stty -g); coffer exec -f app.env -- sh -c 'echo "$DB"; stty -g > now'; test "$before" = "$(cat now)"`,
      { steps: [['Passphrase', 'correct horse battery\r'], NO_AGENT] },
    );
    expect(text).toContain('geheim\n');
    expect(exitCode).toBe(0);
  });
});

describe.skipIf(!canUseTerminals)('coffer edit on a terminal', () => {
  it('gives the editor the terminal, and Ctrl-C to it alone', async () => {
    const here = await place();
    writeFileSync(
      here.file('editor.sh'),
      `trap 'echo caught; sed -i s/geheim/changed/ "$1"; exit 0' INT\necho editing\nwhile :; do sleep 0.05; done\n`,
    );
    const { text, exitCode } = onTerminal(here, 'trap : INT; coffer edit app.env', {
      environment: { EDITOR: 'sh editor.sh' },
      steps: [['editing', '\u0003']],
    });
    expect(exitCode).toBe(0);
    expect(text).toMatch(/caught\nWrote app\.env\.\n$/);
    expect(await here.ok('secrets get app.env DB')).toBe('changed');
  });

  it('asks whether to go back to the editor when the text is no file of its kind', async () => {
    const here = await place();
    writeFileSync(
      here.file('editor.sh'),
      `if grep -q broken "$1"; then sed -i s/broken/FIXED=1/ "$1"; else echo broken >> "$1"; fi\n`,
    );
    const { text, exitCode } = onTerminal(here, 'coffer edit app.env', {
      environment: { EDITOR: 'sh editor.sh' },
      steps: [['Return to the editor', 'y\r']],
    });
    expect(exitCode).toBe(0);
    expect(text).toContain('coffer: app.env:2: ');
    expect(readFileSync(here.file('app.env'), 'utf8')).toMatch(/^FIXED=coffer:/m);
  });

  it('offers the text that an earlier edit left', async () => {
    const here = await place();
    const left = await here.spawned.run('edit app.env', {
      environment: { EDITOR: `sh -c 'echo MORE=1 >> "$1"; exit 1' x` },
    });
    expect(left.exitCode).toBe(1);
    const { exitCode } = onTerminal(here, 'coffer edit app.env', {
      environment: { EDITOR: 'true' },
      steps: [['Resume it', 'y\r']],
    });
    expect(exitCode).toBe(0);
    expect(await here.ok('secrets get app.env MORE')).toBe('1');
  });
});

describe.skipIf(!canUseTerminals)('git on a terminal', () => {
  it('asks nothing where nobody has unlocked the store, and shows the ciphertexts', async () => {
    const here = await place();
    await here.ok('slots add --passphrase', {
      environment: { COFFER_NEW_PASSPHRASE: 'correct horse battery' },
    });
    const commit = 'git -c user.name=a -c user.email=a@example.org commit -qnm a';
    const made = await here.shell(
      `git init -q . && coffer secrets git-setup -q && git add app.env .gitattributes && ${commit}`,
    );
    expect(made).toMatchObject({ exitCode: 0 });
    await writeSecret(here, 'app.env', 'DB=other\n');
    const locked = here.with({
      COFFER_MASTER_KEY: undefined,
      COFFER_MASTER_KEY_COMMAND: 'echo asked > asked',
    });
    const { text, exitCode } = onTerminal(locked, 'git --no-pager diff --no-color');
    expect(exitCode).toBe(0);
    expect(text).toMatch(/\n-DB=coffer:app:v1:\S+\n\+DB=coffer:app:v1:\S+\n$/);
    expect(existsSync(here.file('asked'))).toBe(false);
  });
});
