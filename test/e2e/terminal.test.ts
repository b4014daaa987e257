import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { base64, binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, hurried, NO_AGENT, onTerminal, unwrapped } from './terminal.ts';

const ESCAPE = '\u001b[';
/** Several times as much as a terminal or a pipe takes in before a command has to wait. */
const ITEMS = isLong ? 20_000 : 5_000;
let bare: Place;
let here: Place;

beforeAll(async () => {
  bare = emptyPlace();
  here = bare.with({ COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'acme' });
  await here.ok('init');
  await here.ok('orgs create acme');
  await here.ok('tags create env:prod a-tag-with-a-name-that-goes-on-and-on-until-it-does-not-fit');
});
afterAll(() => removePlace(bare));

describe.skipIf(!canUseTerminals)('on a terminal', () => {
  describe('passphrases', () => {
    it('are asked for twice by init and once by every other command, and are never shown', () => {
      const made = onTerminal(bare, 'coffer init --store asked', {
        steps: [
          ['New passphrase', 'correct horse\r'],
          ['Once more', 'correct horse\r'],
          ['passphrase is weak', 'y\r'],
        ],
      });
      expect(made.exitCode).toBe(0);
      expect(made.text).toContain('Unlock it with a passphrase');
      expect(made.text).not.toContain('correct');
      const used = onTerminal(bare, 'coffer transit keys create orders --store asked -o json > made', {
        steps: [['Passphrase', 'correct horse\r'], NO_AGENT],
      });
      expect(used.exitCode).toBe(0);
      expect(used.text).not.toContain('correct');
      expect(readFileSync(bare.file('made'), 'utf8')).toContain('orders');
      expect(readFileSync(bare.file('made'), 'utf8')).not.toContain('Passphrase');
    });

    it('are asked for again when the two differ, or when one does not unlock the store', () => {
      const made = onTerminal(bare, 'coffer init --store twice', {
        steps: [
          ['New passphrase', 'one\r'],
          ['Once more', 'two\r'],
          ['do not match[^$]*New passphrase', 'three\r'],
          ['Once more', 'three\r'],
          ['passphrase is weak', 'y\r'],
        ],
      });
      expect(made.exitCode).toBe(0);
      const used = onTerminal(bare, 'coffer transit keys list --store twice', {
        steps: [['Passphrase', 'wrong\r'], ['Wrong passphrase[^$]*Passphrase', 'three\r'], NO_AGENT],
      });
      expect(used.exitCode).toBe(0);
    });

    it('are asked for before recovery shares, which come only when there is none', async () => {
      const made = await bare
        .with({ COFFER_PASSPHRASE: 'x' })
        .ok('init --shares 2 --threshold 2 --store shared');
      const [first = '', second = ''] = made.split('\n');
      const known = onTerminal(bare, 'coffer transit keys list --store shared', {
        steps: [['Passphrase', 'x\r'], NO_AGENT],
      });
      expect(known.exitCode).toBe(0);
      expect(known.text).not.toMatch(/share\b/);
      const forgotten = onTerminal(bare, 'coffer transit keys list --store shared', {
        steps: [
          ['Passphrase', '\r'],
          ['Recovery share 1', `${first}\r`],
          ['Recovery share 2', `${second}\r`],
          ['Recovery share 3', '\r'],
        ],
      });
      expect(forgotten.exitCode).toBe(0);
    });

    it('that are empty are named as the reason why the store stays locked', async () => {
      await bare.with({ COFFER_PASSPHRASE: 'x' }).ok('init --store silent');
      for (const line of ['coffer unlock', 'coffer transit keys list', 'coffer slots list']) {
        const { exitCode, text } = onTerminal(bare, `${line} --store silent`, {
          steps: [['Passphrase', '\r']],
        });
        expect(exitCode).toBe(4);
        expect(unwrapped(text)).toMatch(
          /\ncoffer: nothing was entered: the store stays locked \(it can be unlocked with a passphrase\)\n$/,
        );
      }
    });

    it('that are wrong to the end are named in the last line, with nothing that was never asked for', async () => {
      await bare.with({ COFFER_PASSPHRASE: 'x' }).ok('init --shares 2 --threshold 2 --store refused');
      const place = bare.with({ COFFER_MASTER_KEY_COMMAND: 'echo ran >> runs; echo nope' });
      const { exitCode, text } = onTerminal(place, 'coffer transit keys list --store refused', {
        steps: [
          ['Passphrase', 'one\r'],
          ['Wrong passphrase[^$]*Passphrase', 'two\r'],
          ['Wrong passphrase[^$]*Passphrase', 'three\r'],
        ],
      });
      expect(exitCode).toBe(4);
      expect(unwrapped(text)).toMatch(
        /\ncoffer: the store cannot be unlocked with COFFER_MASTER_KEY_COMMAND or the passphrase \([^\n]+\)\n$/,
      );
      expect(readFileSync(bare.file('runs'), 'utf8')).toBe('ran\n');
    });

    it('are asked for when the environment has a wrong one, and that is said', () => {
      const place = bare.with({ COFFER_PASSPHRASE: 'wrong' });
      const { exitCode, text } = onTerminal(place, 'coffer transit keys list --store shared', {
        steps: [['Passphrase', 'x\r']],
      });
      expect(exitCode).toBe(0);
      expect(text).toContain('coffer: warning: the store cannot be unlocked with COFFER_PASSPHRASE\n');
    });

    describe('that are wrong', () => {
      let place: Place;
      const runs = (): string => readFileSync(place.file('runs'), 'utf8');
      beforeAll(async () => {
        const store = bare.with({ COFFER_STORE: bare.file('mistyped') });
        await store.with({ COFFER_PASSPHRASE: 'right' }).ok('init');
        place = store.with({ COFFER_MASTER_KEY_COMMAND: 'echo once >> runs; echo wrong' });
      });
      beforeEach(() => rmSync(place.file('runs'), { force: true }));

      it('are asked for three times, while the command of the environment runs once', () => {
        const { exitCode, text } = onTerminal(place, 'coffer transit keys list', {
          steps: [
            ['cannot be unlocked with COFFER_MASTER_KEY_COMMAND[^$]*Passphrase', 'one\r'],
            ['again[^$]*Passphrase', 'two\r'],
            ['again[^$]*Passphrase', 'three\r'],
          ],
        });
        expect(exitCode).toBe(4);
        expect(runs()).toBe('once\n');
        expect(unwrapped(text).trimEnd().split('\n').at(-1)).toBe(
          'coffer: the store cannot be unlocked with COFFER_MASTER_KEY_COMMAND or the passphrase (nothing else unlocks it: without the right secret, its data is lost; see "coffer help unlocking")',
        );
      });

      it('do not keep a right one from opening the store, and nothing else is tried again', () => {
        const { exitCode, text } = onTerminal(place, 'coffer transit keys list', {
          steps: [
            ['Passphrase', 'wrong\r'],
            ['again[^$]*Passphrase', 'right\r'],
          ],
        });
        expect(exitCode).toBe(0);
        expect(text.match(/warning/g)).toHaveLength(1);
        expect(runs()).toBe('once\n');
      });

      it('are asked for again by commands that work on the whole store, too', () => {
        const { exitCode, text } = onTerminal(place, 'coffer doctor', {
          steps: [
            ['Passphrase', 'wrong\r'],
            ['again[^$]*Passphrase', 'right\r'],
          ],
        });
        expect(exitCode).toBe(0);
        expect(text).toContain('no problems found');
      });
    });

    it('are asked for on the terminal while data come through a pipe', async () => {
      const place = bare.with({ COFFER_STORE: bare.file('piped') });
      await place.with({ COFFER_PASSPHRASE: 'x' }).ok('init');
      const { exitCode } = onTerminal(place, 'printf secret | coffer transit encrypt orders > sealed', {
        steps: [['Passphrase', 'x\r'], NO_AGENT],
      });
      expect(exitCode).toBe(0);
      const sealed = readFileSync(place.file('sealed'), 'utf8');
      expect(
        await place.with({ COFFER_PASSPHRASE: 'x' }).ok('transit decrypt orders', { input: sealed }),
      ).toBe('secret');
    });

    it('can be left unanswered with Ctrl-C', () => {
      const { exitCode, text } = onTerminal(bare, 'coffer transit keys list --store piped', {
        steps: [['Passphrase', '\u0003']],
      });
      expect(exitCode).toBe(130);
      expect(text).not.toContain('coffer:');
    });
  });

  describe('questions before something is destroyed', () => {
    it('say what is lost, and do nothing on no', async () => {
      await here.ok('tags create doomed');
      const no = onTerminal(here, 'coffer tags delete doomed', { steps: [['has doomed', 'n\r']] });
      expect(no.exitCode).toBe(1);
      expect(no.text).toContain('No changes made.');
      expect(await here.ok('tags list doomed')).toBe('doomed');
      const yes = onTerminal(here, 'coffer tags delete doomed', { steps: [['has doomed', 'y\r']] });
      expect(yes.exitCode).toBe(0);
      expect(await here.ok('tags list doomed')).toBe('');
    });
  });

  describe('tables', () => {
    it('have lines, bold heads and colour; with NO_COLOR or --no-color only lines', () => {
      const colourful = onTerminal(here, 'coffer tags list');
      expect(colourful.screen).toContain(`${ESCAPE}1m`);
      expect(colourful.text).toMatch(/│ Name +│ Workspaces/);
      for (const plain of [
        onTerminal(here, 'coffer tags list --no-color'),
        onTerminal(here, 'coffer tags list', { environment: { NO_COLOR: '1' } }),
      ]) {
        expect(plain.screen).not.toContain(ESCAPE);
        expect(plain.text).toContain('│');
      }
      const dumb = onTerminal(here, 'coffer tags list', { environment: { TERM: 'dumb' } });
      expect(dumb.screen).not.toContain(ESCAPE);
      expect(dumb.text).toContain('| Name');
    });

    it('fit into a narrow terminal', () => {
      for (const columns of isLong ? [40, 60, 100] : [40, 100]) {
        const lines = onTerminal(here, 'coffer tags list --no-color', { columns }).text.split('\n');
        expect(
          Math.max(...lines.filter((line) => /[│─]/.test(line)).map((line) => line.length)),
        ).toBeLessThanOrEqual(columns);
      }
    });

    it('give way to a line for each cell where there are too many columns', async () => {
      await here.ok('token create --display-name narrow');
      const { text } = onTerminal(here, 'coffer token list --no-color', { columns: 40 });
      expect(text).toMatch(/^Accessor: [0-9a-f]{40}\nName: token-narrow\nPolicies: root\nExpires: never\n/m);
      expect(text).not.toContain('│');
    });

    it('are left out in a pipe, where lines have no head and no colour', () => {
      const { text, screen } = onTerminal(here, 'coffer tags list | cat');
      expect(text.split('\n').slice(0, -1).sort()).toEqual([
        'a-tag-with-a-name-that-goes-on-and-on-until-it-does-not-fit',
        'env:prod',
      ]);
      expect(screen).not.toContain(ESCAPE);
    });

    it('show control characters instead of obeying them', () => {
      const token = onTerminal(here, "coffer token create --display-name $'a\\033[2Jb' -o table");
      expect(token.exitCode).toBe(0);
      expect(token.screen).not.toContain('\u001b[2J');
    });
  });

  describe('values', () => {
    it('say what is waited for when they are to be typed', () => {
      const { text, exitCode } = onTerminal(here, 'coffer transit encrypt typed', {
        steps: [['Reading from standard input', 'hello\r\u0004\u0004']],
      });
      expect(exitCode).toBe(0);
      expect(text).toMatch(/service:v1:/);
    });

    it('are not written raw when they are binary', async () => {
      const ciphertext = await here.ok(`transit encrypt typed ${base64('\u0000\u0001\u0002')} --base64`);
      const refused = onTerminal(here, `coffer transit decrypt typed ${ciphertext}`);
      expect(refused.exitCode).toBe(2);
      expect(refused.text).toContain('--out FILE');
      const text = onTerminal(
        here,
        `coffer transit decrypt typed ${await here.ok('transit encrypt typed hello')}`,
      );
      expect(text.text).toBe('hello\n');
    });
  });

  it('shows how far a batch is, and wipes that away', async () => {
    await here.ok('transit keys create bar');
    const line = `${JSON.stringify({ plaintext: base64('x'.repeat(500)) })}\n`;
    writeFileSync(here.file('items'), line.repeat(ITEMS));
    const batch = 'transit encrypt bar --batch items';
    const long = { environment: hurried };
    const { screen, text, exitCode } = onTerminal(here, `coffer ${batch} > sealed`, long);
    expect(exitCode).toBe(0);
    expect(text).toMatch(/\[#*-*\] +\d+ % [\d,]+ items/);
    expect(screen.endsWith('\r\u001b[K')).toBe(true);
    expect(readFileSync(here.file('sealed'), 'utf8').trim().split('\n')).toHaveLength(ITEMS);
    expect(onTerminal(here, `coffer ${batch} -q > quiet`, long).screen).toBe('');
  });

  it('shows no progress beside what the reader of a pipe may write to the terminal', () => {
    writeFileSync(here.file('large'), Buffer.alloc(isLong ? 2 ** 26 : 2 ** 24));
    for (const command of ['transit envelope encrypt bar large', 'transit encrypt bar --batch items'])
      for (const reader of [`head -c ${isLong ? 9_999_999 : 999_999}`, 'cat'])
        expect(onTerminal(here, `coffer ${command} | (sleep 1.5; ${reader} > /dev/null)`).screen).toBe('');
    rmSync(here.file('large'));
  });

  it('leaves nothing behind when Ctrl-C ends a batch that writes to a file', () => {
    const endless = `while printf '{"plaintext":"YQ=="}\\n'; do sleep 0.01; done`;
    // In the place of the shell, which sometimes reports the signal instead of ending by it as well.
    const command = `exec ${process.execPath} ${binary} transit encrypt bar --batch - --out broken`;
    const { exitCode } = onTerminal(here, `${command} < <(${endless})`, { steps: [['items', '\u0003']] });
    expect(exitCode).toBe(-constants.signals.SIGINT);
    expect(readdirSync(here.directory).filter((name) => name.includes('broken'))).toEqual([]);
  });

  it('says what was done when there is nothing to print', async () => {
    await here.ok('tags create attached');
    await here.ok('workspaces create billing');
    const { text } = onTerminal(here, 'coffer tags attach attached --workspace billing');
    expect(text).toBe('Added the tag to 1 workspace.\n');
    expect(onTerminal(here, 'coffer tags attach attached --workspace billing -q').text).toBe('');
  });

  it('wraps help to the width of the terminal', () => {
    const lines = onTerminal(here, 'coffer transit keys config --help', { columns: 60 }).text.split('\n');
    const prose = lines.filter((line) => !line.startsWith('  coffer '));
    expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});
