import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StreamsSetup } from '../cli/streams.double.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { typedAt } from './typed.ts';

/* Files that users mean, and files that hold plaintext after a command. */

let here: Place;
beforeAll(async () => {
  here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
  for (const line of ['init', 'transit keys create orders', 'transit keys create app']) await here.ok(line);
});
afterAll(() => removePlace(here));

/** Runs a command in this process as if typed at a terminal, all of whose files have whole paths. */
const typed = (line: string, terminals: NonNullable<StreamsSetup['terminals']> = ['in', 'out', 'err']) =>
  typedAt(here, line, { terminals });

describe('a value that is the name of a file', () => {
  it('is encrypted as a text, with a warning that names --in on a terminal', async () => {
    const file = here.file('card.txt');
    writeFileSync(file, 'the content');
    const { stderr: err } = await typed(`transit encrypt orders ${file}`);
    expect(err.replaceAll(/\s+/g, ' ')).toContain(
      `not the file of that name (for the file, use --in ${file})`,
    );
    expect((await here.run(['transit', 'encrypt', 'orders', file])).stderr).toBe('');
    expect((await typed('transit encrypt orders hello')).stderr).not.toContain('warning');
  });
});

describe('a file in the place of a key', () => {
  it('is decrypted, shown and rewrapped, as with --in', async () => {
    writeFileSync(here.file('report'), 'for your eyes');
    await here.ok('transit envelope encrypt orders --in report --out report.coffer');
    expect(await here.ok('transit envelope decrypt report.coffer')).toBe('for your eyes');
    expect(await here.ok('transit envelope decrypt ./report.coffer')).toBe('for your eyes');
    expect(await here.ok('transit envelope header report.coffer')).toContain('orders');
    await here.ok('transit envelope rewrap report.coffer');
    writeFileSync(here.file('report.enc'), readFileSync(here.file('report.coffer')));
    expect((await typed(`transit envelope decrypt ${here.file('report.enc')}`)).stdout).toBe('for your eyes');
  });

  it('is a key, if there is no such file or data are piped in', async () => {
    const input = readFileSync(here.file('report.coffer'));
    writeFileSync(here.file('orders'), 'a file with the name of a key');
    expect((await here.run('transit envelope decrypt orders', { input })).stdout).toBe('for your eyes');
    expect((await here.run('transit envelope decrypt app', { input })).exitCode).not.toBe(0);
  });
});

describe('"secrets decrypt"', () => {
  const encrypted = async (): Promise<string> => {
    writeFileSync(here.file('.env'), 'A=one\nB=two\n');
    await here.ok('secrets encrypt .env --key app');
    return readFileSync(here.file('.env'), 'utf8');
  };

  it('prints a file with --stdout, and leaves the file as it is', async () => {
    const before = await encrypted();
    expect((await here.run('secrets decrypt .env --stdout')).stdout).toBe('A=one\nB=two\n');
    expect(await here.json('secrets decrypt .env --stdout')).toEqual({ text: 'A=one\nB=two\n' });
    expect(readFileSync(here.file('.env'), 'utf8')).toBe(before);
    expect(await here.refused('secrets decrypt .env .env --stdout', 2)).toContain('takes a single file');
  });

  it('says on a terminal what is readable now, with the command that encrypts it again', async () => {
    await encrypted();
    const { stderr: err } = await typed(`secrets decrypt ${here.file('.env')}`);
    const said = err.replaceAll(/\s+/g, ' ');
    expect(said).toContain('now contains plaintext; to encrypt it again, run "coffer secrets encrypt');
    const [, command = ''] = /"coffer ([^"]+)"/.exec(said) ?? [];
    await here.ok(command);
    expect(readFileSync(here.file('.env'), 'utf8')).toContain('A=coffer:app:v1:');
    expect((await here.run('secrets decrypt .env')).stderr).toBe('');
  });
});
