import { chmodSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lightWork } from '../../light-work.ts';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

let giveBack = (): void => undefined;
beforeAll(() => {
  giveBack = lightWork.here();
});
afterAll(() => giveBack());

const RIGHT = 'drum-velvet-sugar-lemon';
const LIST = 'transit keys list';
const KEEP = 'Keep the store unlocked until it has been idle for 15 minutes?';

/** What a command asks and does where the user answers so. */
async function asked(here: DirectoryHere, line: string, answers: readonly (string | boolean)[]) {
  const prompts = promptsDouble(answers);
  const { exitCode, out, err } = await here.run(line, { prompts });
  return { exitCode, out, err, asked: prompts.asked };
}

async function withPassphrase(): Promise<DirectoryHere> {
  const here = DirectoryHere.make({ COFFER_MASTER_KEY: undefined });
  await here.ok('init', { environment: { COFFER_PASSPHRASE: RIGHT } });
  return here;
}

describe('a passphrase that is asked for', () => {
  it.each([
    [0, 0],
    [2, 0],
    [3, 4],
  ])('is asked for three times at most: wrong %i times, exit code %i', async (wrong, exitCode) => {
    const here = await withPassphrase();
    const again = 'Wrong passphrase, try again.\n';
    const answers = [...Array.from({ length: wrong }, () => 'wrong'), RIGHT, false];
    const told = await asked(here, LIST, answers);
    expect({ exitCode: told.exitCode, asked: told.asked }).toEqual({
      exitCode,
      asked: [
        ...Array.from({ length: Math.min(3, wrong + 1) }, () => 'Passphrase'),
        ...(exitCode === 0 ? [KEEP] : []),
      ],
    });
    const repeats = Math.min(2, wrong);
    expect([told.err.startsWith(again.repeat(repeats)), told.err.split(again).length]).toEqual([
      true,
      repeats + 1,
    ]);
  });

  it('opens the store for later commands only after a yes; a no is not asked for again', async () => {
    const here = await withPassphrase();
    expect(await asked(here, LIST, [RIGHT, false])).toEqual({
      exitCode: 0,
      out: '',
      err: '',
      asked: ['Passphrase', KEEP],
    });
    expect(await asked(here, LIST, [RIGHT])).toEqual({
      exitCode: 0,
      out: '',
      err: '',
      asked: ['Passphrase'],
    });
  });

  it('that is empty leaves the store locked, and is not asked for again', async () => {
    const here = await withPassphrase();
    const told = await asked(here, LIST, ['']);
    expect(told).toMatchObject({ exitCode: 4, out: '', asked: ['Passphrase'] });
    expect(told.err).toMatch(/^coffer: nothing was entered: the store stays locked/);
  });

  it('is asked for after that of the environment, which is named as wrong', async () => {
    const here = await withPassphrase();
    const prompts = promptsDouble([RIGHT]);
    const told = await here.run(LIST, { prompts, environment: { COFFER_PASSPHRASE: 'wrong' } });
    expect(told).toMatchObject({ exitCode: 0, out: '' });
    expect(told.err).toBe('coffer: warning: the store cannot be unlocked with COFFER_PASSPHRASE\n');
    expect(prompts.asked).toEqual(['Passphrase']);
  });

  it('to be changed is no other secret of the store, and the change says how many others there are', async () => {
    const here = await withPassphrase();
    const environment = { COFFER_PASSPHRASE: RIGHT };
    const change = (now: string, next: string) =>
      here.run('passphrase change', { environment: { COFFER_PASSPHRASE: now, COFFER_NEW_PASSPHRASE: next } });
    expect((await change(RIGHT, `${RIGHT}-one`)).err).toBe('Changed the passphrase.\n');
    expect((await here.run(LIST, { environment })).exitCode).toBe(4);
    expect((await change('wrong', 'velvet-drum-lemon-sugar')).exitCode).toBe(4);
    const add = (text: string) =>
      here.ok('slots add --passphrase', {
        environment: { COFFER_PASSPHRASE: `${RIGHT}-one`, COFFER_NEW_PASSPHRASE: text },
      });
    await add(`${RIGHT}-two`);
    expect((await change(`${RIGHT}-one`, `${RIGHT}-one`)).err).toBe(
      'Changed the passphrase.\nAnother passphrase still unlocks the store, see "coffer slots list".\n',
    );
    await add(`${RIGHT}-three`);
    expect((await change(`${RIGHT}-two`, `${RIGHT}-four`)).err).toBe(
      'Changed the passphrase.\n2 other passphrases still unlock the store, see "coffer slots list".\n',
    );
  });

  it('is typed in place of a file with a wrong one by a command of its own, with what to do if forgotten', async () => {
    const here = await withPassphrase();
    await here.ok('slots add --raw', { environment: { COFFER_PASSPHRASE: RIGHT } });
    here.write('wrong', 'wrong\n');
    chmodSync(here.file('wrong'), 0o600);
    const environment = { COFFER_PASSPHRASE_FILE: here.file('wrong') };
    expect(await here.refused(LIST, 4, { environment })).toContain(
      `(${here.file('wrong')} does not unlock the store; it can be unlocked with a master key: set COFFER_MASTER_KEY_FILE=FILE and try again; if the passphrase is forgotten, then run "coffer slots add --passphrase"; to type the passphrase, run "unset COFFER_PASSPHRASE_FILE", then "coffer unlock")`,
    );
  });

  it('for another slot comes from a file where one is named, and nobody is asked', async () => {
    const here = await withPassphrase();
    here.write('next', `${RIGHT}-two\n`);
    chmodSync(here.file('next'), 0o600);
    const prompts = promptsDouble([]);
    const environment = { COFFER_PASSPHRASE: RIGHT };
    await here.ok('slots add --passphrase --passphrase-file next', { prompts, environment });
    expect(prompts.asked).toEqual([]);
    await here.ok(LIST, { environment: { COFFER_PASSPHRASE: `${RIGHT}-two` } });
  });
});

describe('recovery shares that are asked for', () => {
  const share = (at: number) => `Recovery share ${at} (press Enter when done)`;

  it('end with an empty answer, and none is no secret', async () => {
    const here = DirectoryHere.make({ COFFER_MASTER_KEY: undefined });
    const [first = '', second = ''] = (await here.ok('init --shares 3 --threshold 2')).split('\n');
    const told = await asked(here, LIST, [first, second, '', false]);
    expect(told).toEqual({ exitCode: 0, out: '', err: '', asked: [share(1), share(2), share(3), KEEP] });
    const none = await asked(here, LIST, ['']);
    expect(none).toMatchObject({ exitCode: 4, asked: [share(1)] });
    expect(none.err).toMatch(/^coffer: nothing was entered: the store stays locked/);
    const again = await asked(here, LIST, [first, '', second, first, '']);
    expect(again).toMatchObject({ exitCode: 0, asked: [share(1), share(2), share(1), share(2), share(3)] });
    expect(again.err).toBe('Wrong recovery shares, try again.\n');
  });

  it('are not asked for after a passphrase was entered', async () => {
    const here = await withPassphrase();
    await here.ok('slots add --shares 3 --threshold 2', { environment: { COFFER_PASSPHRASE: RIGHT } });
    const told = await asked(here, LIST, ['wrong', 'wrong', 'wrong']);
    expect(told).toMatchObject({ exitCode: 4, asked: ['Passphrase', 'Passphrase', 'Passphrase'] });
    expect((await asked(here, LIST, ['', ''])).asked).toEqual(['Passphrase', share(1)]);
  });
});
