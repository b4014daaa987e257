import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { promptsDouble, streamsDouble } from '../cli/streams.double.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, NO_AGENT, onTerminal, unwrapped } from './terminal.ts';
import { typedAt } from './typed.ts';

vi.mock('../../src/store/slots/key-encryption.ts', async (original) =>
  (await import('../light-argon2.ts')).withLightSlots(await original()),
);

let bare: Place;

beforeAll(() => {
  bare = emptyPlace();
});
afterAll(() => removePlace(bare));

const withPassphrase = (store: string, passphrase: string): Place =>
  bare.with({ COFFER_STORE: bare.file(store), COFFER_PASSPHRASE: passphrase });

describe('coffer passphrase change', () => {
  it('takes both passphrases from the environment or a file, and the old one opens nothing afterwards', async () => {
    const [first, second, third] = ['one', 'two', 'three'].map((word) => withPassphrase('scripted', word));
    await first?.ok('init --passphrase --label mine');
    const changed = await first?.with({ COFFER_NEW_PASSPHRASE: 'two' }).run('passphrase change');
    expect(changed).toMatchObject({ exitCode: 0, stdout: '' });
    expect(changed?.stderr).toMatch(/weak passphrase.*\nChanged the passphrase\.\n$/s);
    await first?.refused('transit keys list', 4);
    writeFileSync(bare.file('new'), 'three\n', { mode: 0o600 });
    const told = JSON.parse((await second?.ok('passphrase change --passphrase-file new -o json')) ?? '');
    expect(told).toMatchObject({ kind: 'passphrase', label: 'mine' });
    expect(await third?.json('slots list')).toMatchObject([{ id: told.id, label: 'mine' }]);
  });

  it('leaves other slots alone, and says that another passphrase still opens the store', async () => {
    const place = withPassphrase('several', 'one');
    await place.ok('init');
    await place.with({ COFFER_NEW_PASSPHRASE: 'spare' }).ok('slots add --passphrase');
    const key = await place.ok('slots add --raw');
    const { stderr } = await place.with({ COFFER_NEW_PASSPHRASE: 'two' }).run('passphrase change');
    expect(stderr).toContain('Another passphrase still unlocks the store, see "coffer slots list".\n');
    await withPassphrase('several', 'spare').ok('transit keys list');
    await bare.with({ COFFER_STORE: bare.file('several'), COFFER_MASTER_KEY: key }).ok('transit keys list');
  });

  it('does not change a passphrase that is the output of a command, by which a password manager would lock itself out', async () => {
    const place = withPassphrase('managed', 'one');
    await place.ok('init');
    const { id } = JSON.parse(await place.ok(['slots', 'add', '--command', 'echo two', '-o', 'json']));
    const before = await place.json('slots list');
    const managed = withPassphrase('managed', 'two').with({ COFFER_NEW_PASSPHRASE: 'three' });
    expect(await managed.refused('passphrase change', 1)).toContain(
      `coffer: slot ${id} gets this passphrase from a command, so it cannot be changed here`,
    );
    expect(await place.json('slots list')).toEqual(before);
  });

  it('says of a store without a passphrase that it has none', async () => {
    const place = bare.with({ COFFER_STORE: bare.file('keyed'), COFFER_MASTER_KEY: MASTER_KEY });
    await place.ok('init');
    expect(await place.with({ COFFER_NEW_PASSPHRASE: 'two' }).refused('passphrase change', 4)).toContain(
      'this store has no passphrase (add one with "coffer slots add --passphrase")',
    );
  });

  it('needs the passphrase itself, whatever else opens the store', async () => {
    const place = withPassphrase('needed', 'one');
    await place.ok('init --passphrase --raw');
    const refusal = await place
      .with({ COFFER_PASSPHRASE: 'wrong', COFFER_NEW_PASSPHRASE: 'two', COFFER_MASTER_KEY: MASTER_KEY })
      .refused('passphrase change', 4);
    expect(refusal).toContain('it can be unlocked with a master key');
    const none = { COFFER_PASSPHRASE: undefined, COFFER_MASTER_KEY: MASTER_KEY };
    const missing = await place.with(none).refused('passphrase change', 4);
    expect(missing).toContain('the current passphrase is needed, even if another secret unlocks the store');
    expect(missing).toContain('"coffer slots add --passphrase"');
    expect(missing).not.toContain('does not unlock the store');
    await place.refused('passphrase change', 4);
    await place.ok('transit keys list');
    const only = withPassphrase('only', 'one');
    await only.ok('init --passphrase');
    const forgotten = await only.with({ COFFER_PASSPHRASE: undefined }).refused('passphrase change', 4);
    expect(forgotten).toContain('the current passphrase is needed');
    expect(forgotten).not.toContain('slots add');
  });

  it('names the variable of another secret after three wrong passphrases, and asks for no shares that there are not', async () => {
    const place = withPassphrase('forgotten', 'one');
    await place.ok('init');
    await place.ok('slots add --raw --label paper');
    const streams = streamsDouble({ terminals: ['in', 'out', 'err'] });
    const prompts = promptsDouble(['two', 'three', 'four']);
    const environment = bare.with({ COFFER_STORE: bare.file('forgotten') }).environment();
    const exitCode = await runCommandLine(['slots', 'list'], streams, environment, prompts);
    expect([exitCode, prompts.asked]).toEqual([4, ['Passphrase', 'Passphrase', 'Passphrase']]);
    expect(streams.written.err.split('\n').slice(0, 2)).toEqual([
      'Wrong passphrase, try again.',
      'Wrong passphrase, try again.',
    ]);
    expect(streams.written.err.replaceAll('\n', ' ')).toContain(
      'it can be unlocked with a master key: set COFFER_MASTER_KEY_FILE=FILE and try again',
    );
  });

  it('leaves a slot that can be removed by its label, unless several have it', async () => {
    const place = withPassphrase('labelled', 'one');
    await place.ok('init');
    await place.ok('slots add --raw --label paper');
    await place.ok('slots remove paper --yes');
    expect(await place.json('slots list')).toHaveLength(1);
    await place.refused('slots remove paper --yes', 3);
    for (const label of ['twin', 'twin']) await place.ok(`slots add --raw --label ${label}`);
    expect(await place.refused('slots remove twin --yes', 1)).toMatch(
      /2 slots have the label "twin" \(use an ID: [0-9a-f]{16}, [0-9a-f]{16}\)/,
    );
  });

  it('says on status why the store stays locked, if the environment has a secret', async () => {
    await withPassphrase('kept', 'one').ok('init --passphrase');
    const wrong = await withPassphrase('kept', 'two').run('status');
    expect(wrong).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('locked') });
    expect(wrong.stderr).toBe(
      'coffer: warning: the store cannot be unlocked with COFFER_PASSPHRASE (the value of COFFER_PASSPHRASE is wrong, or belongs to another store (use --store or COFFER_STORE); nothing else unlocks it: without the right secret, its data is lost; see "coffer help unlocking")\n',
    );
    const bareStatus = bare.with({ COFFER_STORE: bare.file('kept') });
    expect((await bareStatus.run('status')).stderr).toBe('');
    expect((await withPassphrase('kept', 'one').run('status')).stderr).toBe('');
  });

  it('says of a passphrase for a store that has none that it is of no use', async () => {
    await bare.with({ COFFER_STORE: bare.file('key-only'), COFFER_MASTER_KEY: MASTER_KEY }).ok('init');
    expect(await withPassphrase('key-only', 'one').refused('transit keys list', 4)).toBe(
      'coffer: the store is locked (COFFER_PASSPHRASE does not unlock the store; it can be unlocked with a master key: see "coffer help environment")',
    );
  });

  it('tells a user who has forgotten the passphrase how to set another one with a second secret', async () => {
    const place = withPassphrase('second', 'one');
    await place.ok('init');
    await place.ok('slots add --raw');
    expect(await withPassphrase('second', 'two').refused('transit keys list', 4)).toContain(
      'it can be unlocked with a master key: set COFFER_MASTER_KEY_FILE=FILE and try again; if the passphrase is forgotten, then run "coffer slots add --passphrase"',
    );
  });

  const WEAK =
    'This passphrase is weak: it is a common password. Anyone with a copy of the store could guess it. Use it anyway?';
  const STRONG = 'sheriff ethics unlock success inch';

  /** Runs a command as if typed at a terminal, in this process. */
  const typed = (place: Place, line: string, answers: readonly (string | boolean)[]) =>
    typedAt(place, line, { answers });

  it('asks before a weak passphrase is used that was typed, and after a no for another one', async () => {
    const place = bare.with({ COFFER_STORE: bare.file('weak'), COFFER_PASSPHRASE: undefined });
    const made = await typed(place, 'init', ['hunter2', false, 'hunter2', true]);
    expect(made).toMatchObject({ exitCode: 0, asked: ['New passphrase', WEAK, 'New passphrase', WEAK] });
    expect(made.stderr).not.toContain('warning');
    const added = await typed(place, 'slots add --passphrase', ['hunter2', 'hunter2', false, STRONG]);
    expect(added).toMatchObject({
      exitCode: 0,
      asked: ['Passphrase', 'New passphrase', WEAK, 'New passphrase'],
    });
    const changed = await typed(place, 'passphrase change', ['hunter2', STRONG.repeat(2)]);
    expect(changed).toMatchObject({ exitCode: 0, asked: ['Current passphrase', 'New passphrase'] });
  });

  it('only warns of a weak passphrase with --yes', async () => {
    const place = bare.with({ COFFER_STORE: bare.file('hurried'), COFFER_PASSPHRASE: undefined });
    const made = await typed(place, 'init --yes', ['hunter2']);
    expect(made).toMatchObject({ exitCode: 0, asked: ['New passphrase'] });
    expect(made.stderr).toContain('weak passphrase: it is a common password');
  });

  describe.skipIf(!canUseTerminals)('on a terminal', () => {
    it('asks for the old passphrase and twice for the new one, and no longer for the old one', async () => {
      const place = bare.with({ COFFER_STORE: bare.file('asked') });
      await withPassphrase('asked', 'old one').ok('init');
      const { text, exitCode } = onTerminal(place, 'coffer passphrase change', {
        steps: [
          ['Current passphrase', 'old one\r'],
          ['New passphrase', 'correct horse\r'],
          ['Once more', 'correct horse\r'],
          ['passphrase is weak', 'y\r'],
        ],
      });
      expect([exitCode, text.includes('horse')]).toEqual([0, false]);
      expect(text).toContain('Changed the passphrase.\n');
      const used = onTerminal(place, 'coffer transit keys list', {
        steps: [['Passphrase', 'old one\r'], ['again[^$]*Passphrase', 'correct horse\r'], NO_AGENT],
      });
      expect(used.exitCode).toBe(0);
    });

    it('does not call the data lost after three wrong passphrases, while an agent has the store open', async () => {
      await withPassphrase('open', 'secret').ok('init');
      const place = bare.with({ COFFER_STORE: bare.file('open') });
      const { text } = onTerminal(place, 'coffer unlock && coffer slots list; coffer lock', {
        steps: [
          ['Passphrase', 'secret\r'],
          ['always needs a secret[^$]*Passphrase', 'one\r'],
          ['try again[^$]*Passphrase', 'two\r'],
          ['try again[^$]*Passphrase', 'three\r'],
        ],
      });
      expect(unwrapped(text)).toContain(
        '(no other secret unlocks the store, but the agent still has the store unlocked: before the agent locks, run "coffer secrets decrypt FILE" for each file that you need)',
      );
      expect(text).not.toContain('is lost');
    });

    it('says that a variable with a wrong one stands before the agent that has the store open', async () => {
      await withPassphrase('before', 'secret').ok('init');
      const place = bare.with({ COFFER_STORE: bare.file('before') });
      const { text } = onTerminal(
        place,
        'coffer unlock && COFFER_PASSPHRASE=one coffer transit keys list --no-prompt; coffer lock',
        { steps: [['Passphrase', 'secret\r']] },
      );
      expect(unwrapped(text)).toContain(
        'before the agent locks, run "unset COFFER_PASSPHRASE", then "coffer secrets decrypt FILE" for each file that you need)',
      );
    });

    it('says why it asks although the store is unlocked, as commands for slots do', async () => {
      const place = bare.with({ COFFER_STORE: bare.file('unlocked') });
      await withPassphrase('unlocked', 'secret').ok('init');
      const why = 'The store is unlocked, but this command always needs a secret that unlocks it.';
      const { text, exitCode } = onTerminal(
        place,
        'coffer unlock && coffer slots list && coffer passphrase change && coffer lock',
        {
          steps: [
            ['Passphrase', 'secret\r'],
            [`${why}[^$]*Passphrase`, 'secret\r'],
            ['Current passphrase', 'secret\r'],
            ['New passphrase', 'other\r'],
            ['Once more', 'other\r'],
            ['passphrase is weak', 'y\r'],
          ],
        },
      );
      expect(exitCode).toBe(0);
      expect(unwrapped(text).split(why)).toHaveLength(3);
      expect(text).toContain('The agent is locked.');
    });
  });
});
