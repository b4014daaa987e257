import { describe, expect, it } from 'vitest';
import { looksDamaged, parseValue } from '../../../src/secret-files/value.ts';
import { DirectoryHere } from '../directory-here.ts';

const SHARE =
  '(a new store or key cannot decrypt the value; if you encrypted the value, select your store with --store or COFFER_STORE, or ' +
  'restore its backup with "coffer store restore FILE"; if not, ask the author for access: "coffer help sharing")';

/** A file as it comes from somebody else, and a place of one's own. */
async function clone(): Promise<DirectoryHere> {
  const theirs = await DirectoryHere.withStore();
  theirs.write('.env', 'TOKEN=one\nPASSWORD=two\n');
  await theirs.ok('secrets encrypt .env --key app');
  const ours = DirectoryHere.make({ COFFER_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') });
  ours.write('.env', theirs.read('.env'));
  return ours;
}

describe('values that somebody else has encrypted', () => {
  const uses = ['exec -f .env -- true', 'secrets decrypt .env', 'secrets get .env TOKEN'];

  it.each(uses)('are not opened by making a store, which "%s" says where there is none', async (line) => {
    const here = await clone();
    expect(await here.refused(line, 3)).toBe(
      `coffer: .env:1: encrypted with key "app", but there is no store in ${here.file('.store')} ${SHARE}`,
    );
  });

  it.each(uses)('are not opened by making a key, which "%s" says where there is none', async (line) => {
    const here = await clone();
    await here.ok('init');
    expect(await here.refused(line, 3)).toMatch(
      /^coffer: \.env:1: TOKEN: no key "app" in mount "transit" \(a new store or key cannot decrypt the value; /,
    );
  });

  it('are said to be of another store, once, when none of them opens', async () => {
    const here = await clone();
    await here.ok('init');
    await here.ok('transit keys create app');
    const refusal = `coffer: .env:1: none of the 2 values can be decrypted: they were encrypted with another store, or are damaged ${SHARE}`;
    expect(await here.refused('secrets decrypt .env', 4)).toBe(refusal);
    expect(await here.refused('exec -f .env -- true', 4)).toBe(refusal);
    expect(await here.refused('secrets get .env TOKEN', 4)).toBe(refusal);
  });

  it.each([
    ['all', (line: string) => line.slice(0, -5), 'they appear'],
    ['all at the same column', (line: string) => line.slice(0, 30), 'they appear'],
    ['the first', (line: string, at: number) => (at === 0 ? line.slice(0, -5) : line), '1 of them appears'],
  ])('are not said to be of another store where the end of %s is missing', async (_, cut, which) => {
    const here = await clone();
    await here.ok('init');
    await here.ok('transit keys create app');
    here.write('.env', here.read('.env').trimEnd().split('\n').map(cut).join('\n'));
    const refusal = `coffer: .env:1: none of the 2 values can be decrypted: ${which} to be truncated (restore the file from git or a backup)`;
    for (const line of [...uses, 'secrets rewrap .env']) expect(await here.refused(line, 4)).toBe(refusal);
  });

  it('are told one by one where others open', async () => {
    const here = await clone();
    await here.ok('init');
    await here.ok('transit keys create app');
    here.write('own.env', 'OURS=three\n');
    await here.ok('secrets encrypt own.env --key app');
    here.write('.env', `${here.read('.env')}${here.read('own.env')}`);
    const said = await here.refused('secrets decrypt .env', 4);
    expect(said.match(/cannot decrypt/g)).toHaveLength(2);
    expect(said).not.toContain('none of the');
    expect(said).toContain(
      'of another store; if you encrypted the value, select your store with --store or COFFER_STORE, or restore its backup with "coffer store restore FILE"; if not, ask the author for access: "coffer help sharing")',
    );
  });
});

describe('an encrypted value that is cut or altered', () => {
  const whole = `coffer:ops/app.1:v12:${Buffer.alloc(30, 7).toString('base64')}`;

  it('is recognized wherever it ends after its key', () => {
    for (let length = whole.indexOf(':v') + 1; length <= whole.length; length++) {
      const rest = whole.slice(0, length);
      expect(parseValue(rest) !== undefined || looksDamaged(rest), rest).toBe(true);
    }
    for (const text of [
      '',
      'coffer:',
      'coffer:app',
      'coffer: a drink',
      'coffer:app:latest',
      'x coffer:app:v1:',
    ])
      expect(looksDamaged(text), text).toBe(false);
  });

  it.each([
    ['cut in its head', (value: string) => value.slice(0, 'coffer:app:v'.length)],
    ['altered', (value: string) => value.replace(/(v1:.{4})./, '$1-')],
  ])('is used as it is, with a warning, if it is %s', async (_, spoil) => {
    const here = await DirectoryHere.withStore();
    here.write('.env', 'A=one\n');
    await here.ok('secrets encrypt .env --key app');
    const spoilt = here.read('.env').replace(/coffer:.*/, spoil);
    here.write('.env', spoilt);
    const warning = 'coffer: warning: .env:1: A looks like a damaged encrypted value, and is not decrypted\n';
    for (const line of ['secrets decrypt .env --stdout', 'secrets get .env A']) {
      const value = line.includes('get') ? spoilt.slice(2).trimEnd() : spoilt;
      expect(await here.run(line), line).toMatchObject({ exitCode: 0, out: value, err: warning });
      expect((await here.run(`${line} --quiet`)).err).toBe('');
    }
    expect((await here.run('secrets decrypt .env')).err).toBe(warning);
    // The program would replace this process.
    const { exitCode, err } = await here.run('exec -f .env -- no-such-program');
    expect([exitCode, err]).toEqual([127, `${warning}coffer: no-such-program: command not found\n`]);
  });
});
