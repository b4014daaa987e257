import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

let here: Place;
const write = (name: string, text: string): void => writeFileSync(here.file(name), text);

beforeAll(async () => {
  here = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
  await here.ok('init -q');
  await here.ok('transit keys create -q orders');
  write('report.txt', 'in the black');
  write('other.txt', 'in the red');
});
afterAll(() => removePlace(here));

describe('files after the key to encrypt with', () => {
  it('are read as those of --in are', async () => {
    await here.ok('transit envelope encrypt orders report.txt --out one.coffer');
    expect(await here.ok('transit envelope decrypt one.coffer')).toBe('in the black');
    await here.ok('transit envelope encrypt orders report.txt other.txt --out-dir sealed');
    expect(await here.ok('transit envelope decrypt --in sealed/other.txt.coffer')).toBe('in the red');
    await here.ok('transit envelope encrypt orders other.txt --in report.txt --out-dir both');
    expect(existsSync(here.file('both/report.txt.coffer'))).toBe(true);
  });

  it('stand in the place of the key where a passphrase is named, which needs none', async () => {
    writeFileSync(here.file('pass'), 'correct horse\n', { mode: 0o600 });
    await here.ok('transit envelope encrypt report.txt other.txt --passphrase-file pass --out-dir aged');
    expect(await here.ok('transit envelope decrypt --in aged/other.txt.age --passphrase-file pass')).toBe(
      'in the red',
    );
    await here.ok('transit envelope encrypt report.txt --passphrase-file pass --out one.age');
    expect(existsSync(here.file('one.age'))).toBe(true);
    expect(await here.refused('transit envelope encrypt nofile --passphrase-file pass', 2)).toContain('NAME');
  });

  it('are not what a name means that comes first, where data is piped in', async () => {
    write('orders', 'a file named like the key');
    const { stdout } = await here.shell(
      'printf piped | coffer transit envelope encrypt orders | coffer transit envelope decrypt',
    );
    expect(stdout).toBe('piped');
  });
});

describe('an encrypted file in the place of a ciphertext', () => {
  it('is refused with the command that decrypts it', async () => {
    await here.ok('transit envelope encrypt orders report.txt --out given.enc');
    for (const words of ['transit decrypt orders', 'transit decrypt orders --in', 'transit rewrap orders'])
      expect(await here.refused(`${words} given.enc`, 2)).toContain(
        'given.enc is an encrypted file (run "coffer transit envelope decrypt --in given.enc")',
      );
    await here.ok('transit envelope decrypt --in given.enc');
    const text = await here.run('transit decrypt orders report.txt');
    expect(text).toMatchObject({ exitCode: 2, stdout: '' });
    expect(text.stderr).toMatch(
      /^coffer: warning: the ciphertext is also the name of a file, .*use --in FILE\)\ncoffer: ciphertext: .*no prefix/,
    );
  });
});

describe.runIf(canUseTerminals)('on a terminal', () => {
  it('the result of an encryption is named, with the size of the plaintext', () => {
    const beside = onTerminal(here, 'coffer transit envelope encrypt orders report.txt');
    expect(beside.text).toContain('Encrypted report.txt to report.txt.coffer (12 bytes).');
    const named = onTerminal(here, 'coffer transit envelope decrypt report.txt.coffer --out again');
    expect(named.text).toContain('Decrypted report.txt.coffer to again (12 bytes).');
    const several = onTerminal(
      here,
      'coffer transit envelope encrypt orders report.txt other.txt --out-dir all',
    );
    expect(several.text).toContain('Encrypted 2 files to all (22 bytes).');
  });

  it('a file in the place of the key is refused with the command that encrypts it, and nothing is read', () => {
    const { text, exitCode } = onTerminal(here, 'coffer transit envelope encrypt report.txt');
    expect(exitCode).toBe(2);
    expect(text.replace(/\s+/g, ' ')).toContain('run "coffer transit envelope encrypt orders report.txt"');
    expect(text).not.toContain('Reading from standard input');
  });

  it('a small file has no progress line, which could be left beside what a pipe shows', async () => {
    await here.ok('transit envelope encrypt orders report.txt --out small.coffer --force');
    const { screen, text } = onTerminal(here, 'coffer transit envelope decrypt small.coffer | cat');
    expect(text).toContain('in the black');
    expect(screen).not.toMatch(/left|KiB\/s/);
  });

  it('a no to overwriting is answered once', () => {
    write('kept', 'precious');
    const { text, exitCode } = onTerminal(
      here,
      'coffer transit envelope encrypt orders report.txt --out kept',
      {
        steps: [['Overwrite kept', 'n\r']],
      },
    );
    expect(exitCode).toBe(6);
    expect(text).toContain('kept already exists');
    expect(text).not.toContain('No changes made');
    expect(readFileSync(here.file('kept'), 'utf8')).toBe('precious');
  });
});
